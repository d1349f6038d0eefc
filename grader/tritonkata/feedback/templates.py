"""Rendering of feedback templates: the jinja2 environment, its filters and the lookup order.

Values of a report are data to a template, never template text. Every
expression's result is cleaned and escaped for Markdown on its way out, so that
an author cannot forget it; a filter that makes Markdown itself returns `Markdown`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import jinja2
from jinja2.sandbox import ImmutableSandboxedEnvironment

from tritonkata.feedback import numbers
from tritonkata.feedback.clean import escape_markdown, one_line
from tritonkata.feedback.template_errors import told
from tritonkata.model.report import Mismatch

TEMPLATES = Path(__file__).parent / "templates"
SUFFIX = ".md.j2"

_IDENTIFIER = re.compile(r"[a-z0-9_]+")
# Private-use characters mark where data begins and ends; `clean` escapes them in the data itself.
_OPEN, _CLOSE = "\ue000", "\ue001"
_DATA = re.compile(f"{_OPEN}([^{_OPEN}{_CLOSE}]*){_CLOSE}")
_ALLOCATION = re.compile(r"(\w{1,40})\[(\d{1,9})\](?: \(line (\d{1,9})\))?", re.ASCII)
_UNESCAPED_TICK = re.compile(r"(?<!\\)`")


class Markdown(str):
    """Text that is Markdown already and must not be escaped again."""

    __slots__ = ()


class TemplateProblem(Exception):
    """A template of a kata that does not render. The message names the file and the reason."""


def template_names(diagnosis: str | None, verdict: str) -> list[str]:
    """Names to try, in order: the kata's own before the package's, the diagnosis before the verdict."""
    names = []
    for identifier, folder in ((diagnosis, "diagnosis/"), (verdict, "")):
        if identifier and _IDENTIFIER.fullmatch(identifier):
            names += [f"kata/{identifier}{SUFFIX}", f"{folder}{identifier}{SUFFIX}"]
    return names


def render(names: list[str], context: Mapping[str, Any], own: Path | None = None) -> str:
    """Markdown of the first template in `names` that exists; `kata/...` lies in the folder `own`.

    Raises:
        TemplateProblem: the template has a syntax error, or uses what the context lacks.
    """
    environment = _environment(own)
    try:
        template = environment.select_template(names)
        text = template.render(context)
    except (jinja2.TemplateError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise TemplateProblem(f"the feedback template {told(error, names[0], SUFFIX, context)}") from error
    return _settle(text).strip()


def mistake_summary(mistakes: Path, diagnosis: str | None) -> str:
    """The first docstring line of the wrong model called `diagnosis`, or nothing."""
    try:
        changed = mistakes.stat().st_mtime_ns
    except OSError:
        return ""
    return _summaries(mistakes, changed).get(diagnosis or "", "")


@lru_cache(maxsize=32)
def _summaries(mistakes: Path, changed: int) -> dict[str, str]:  # noqa: ARG001 - a file that changed is read again
    """The first docstring line of every wrong model, by name."""
    try:
        tree = ast.parse(mistakes.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return {}
    return {
        node.name: (ast.get_docstring(node) or "").partition("\n")[0].strip()
        for node in tree.body
        if isinstance(node, ast.FunctionDef)
    }


@cache
def _environment(own: Path | None) -> jinja2.Environment:
    loaders: list[jinja2.BaseLoader] = [jinja2.FileSystemLoader(TEMPLATES)]
    if own is not None:
        loaders.insert(0, jinja2.PrefixLoader({"kata": jinja2.FileSystemLoader(own)}))
    environment = ImmutableSandboxedEnvironment(
        loader=jinja2.ChoiceLoader(loaders),
        undefined=jinja2.StrictUndefined,
        finalize=_finalize,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,
    )
    environment.filters.update(_FILTERS)
    return environment


def _finalize(value: object) -> str:
    """What an expression prints: Markdown as it is, everything else as marked, cleaned data."""
    if isinstance(value, jinja2.Undefined):
        return str(value)  # raises, and names what is missing
    if isinstance(value, Markdown):
        return value
    text = numbers.number(value) if isinstance(value, float) else str(value)
    # Spaces at the ends join it to the text around it: `{{ ", row " ~ row if row }}`.
    before, after = " " * text[:1].isspace(), " " * text[-1:].isspace()
    return f"{before}{_OPEN}{one_line(text)}{_CLOSE}{after}"


def _settle(text: str) -> str:
    """Escape the marked data: for running text, or for a code span where a template wrote one round it."""
    parts = _DATA.split(text)
    ticks = 0
    for place, part in enumerate(parts):
        if place % 2 == 0:
            # A code span ends with its paragraph at the latest.
            paragraph = part.rpartition("\n\n")
            ticks = len(_UNESCAPED_TICK.findall(paragraph[2])) + (0 if paragraph[1] else ticks)
        else:
            parts[place] = part.replace("`", "'") if ticks % 2 else escape_markdown(part)
    return "".join(parts)


def _code(value: object) -> Markdown:
    text = one_line(str(value), limit=200).replace("`", "'")
    # A backslash right before the closing mark reads as an escape in some renderers.
    return Markdown(f"`{text} `" if text.endswith("\\") else f"`{text}`" if text else "")


def _advice(text: str) -> Markdown:
    """Advice with its code spans, where each is closed and has something in it; everything else stays text.

    The file may have a say in an advice; in a code span of one line it can be no other markup.
    """
    parts = one_line(text).split("`")
    if len(parts) % 2 == 0 or not all(part.strip() for part in parts[1::2]):
        return Markdown(_finalize(text))
    return Markdown("".join(_code(part) if place % 2 else part and _finalize(part) for place, part in enumerate(parts)))


def _tensor(name: str) -> Markdown:
    """A parameter by its name, an allocation by what made it: `empty[0] (line 23)` is no name of the learner's."""
    made = _ALLOCATION.fullmatch(name)
    if made is None:
        return Markdown("the result") if name == "result" else _code(name)
    operation, number, line = made.groups()
    if operation == "result":
        return Markdown(f"result {int(number)} of the call")
    where = f"in line {int(line)}" if line else f"in call {int(number) + 1} of it" if int(number) else ""
    word = operation if operation.startswith("new_") else f"torch.{operation}"
    return Markdown(f"the tensor that {_code(word)} made {where}".rstrip())


def _number_table(mismatch: Mismatch | None) -> Markdown:
    rows = numbers.pairs(mismatch)
    lines = [f"| {column} | {escape_markdown(right)} | {escape_markdown(got)} |" for column, right, got in rows]
    return Markdown("\n".join(["| column | right | got |", "|---:|---:|---:|", *lines]) if rows else "")


_FILTERS: dict[str, Callable[..., Any]] = {
    "number": numbers.number,
    "columns": numbers.columns,
    "plural": numbers.plural,
    "shape": numbers.shape,
    "size": numbers.size,
    "described": numbers.described,
    "code": _code,
    "advice": _advice,
    "pair_table": _number_table,
    "pairs": numbers.pairs,
    "tensor": _tensor,
    "times": numbers.times,
    "lines": numbers.lines,
    "how_often": numbers.how_often,
}
