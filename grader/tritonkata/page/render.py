"""The report of a class as one HTML file: no request, no script but its own."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import jinja2
from markupsafe import Markup

from tritonkata.model.course import Kata
from tritonkata.page.contents import page_of
from tritonkata.page.model import Gathered, Left

_TEMPLATES = Path(__file__).parent / "templates"


def to_html(gathered: Gathered, kata: Kata, left_out: Iterable[Left], *, is_anonymous: bool = False) -> str:
    """The page as text.

    Args:
        gathered: the class; at least one submission.
        kata: its kata.
        left_out: what was not graded.
        is_anonymous: whether people are numbers; then no file is named.
    """
    # Neither holds a `<`, which a parser of HTML could take for their end.
    style, script = ((_TEMPLATES / name).read_text(encoding="utf-8") for name in ("report.css", "report.js"))
    return (
        _environment()
        .get_template("report.html.j2")
        .render(
            page=page_of(gathered, kata, tuple(left_out), is_anonymous=is_anonymous),
            policy=policy(style, script),
            style=Markup(style),
            script=Markup(script),
        )
    )


def policy(style: str, script: str) -> str:
    """A Content-Security-Policy that allows this style and this script, and nothing else from anywhere."""
    allowed = f"style-src '{_digest(style)}'; script-src '{_digest(script)}'"
    return f"default-src 'none'; {allowed}; base-uri 'none'; form-action 'none'"


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode('utf-8')).digest()).decode('ascii')}"


@cache
def _environment() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        undefined=jinja2.StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
