"""A result as one HTML file that asks for nothing else: picture, tables, sentences, in light and dark."""

from __future__ import annotations

from pathlib import Path

import jinja2
from markupsafe import Markup

from tritonkata.labs import bars, lines, words
from tritonkata.labs.model import CeilingResult, LabResult
from tritonkata.labs.tables import tables_of

_TEMPLATES = Path(__file__).parent / "templates"


def to_svg(result: LabResult | CeilingResult) -> str:
    """The picture alone."""
    return lines.draw(result) if isinstance(result, CeilingResult) else bars.draw(result)


def to_html(result: LabResult | CeilingResult) -> str:
    """The page."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        undefined=jinja2.StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("page.html.j2").render(
        title=words.title(result),
        where=words.where(result),
        introduction=words.introduction(result),
        findings=words.findings(result),
        remarks=words.remarks(result),
        tables=tables_of(result),
        # The picture escapes its own text.
        picture=Markup(to_svg(result)),
    )
