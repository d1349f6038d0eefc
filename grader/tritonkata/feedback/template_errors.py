"""What to tell an author whose template does not render: file, line, and the names that a template knows."""

from __future__ import annotations

import dataclasses
import re
import traceback
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import jinja2

_MISSING = re.compile(r"'(?:None|tritonkata\.[\w.]*?(\w+) object)' has no attribute '(\w+)'")


def told(error: Exception, name: str, suffix: str, context: Mapping[str, Any]) -> str:
    """`feedback/tripled.md.j2, line 7 does not render: ...`, for the template that was asked for by `name`."""
    path, line = _place(error, suffix)
    file = f"feedback/{path.name if path else name.rpartition('/')[2]}"
    return f"{file}{f', line {line}' if line else ''} does not render: {_words(error, path, line, context)}"


def _place(error: Exception, suffix: str) -> tuple[Path | None, int | None]:
    """The template and the line that failed; it may be one that another includes."""
    if isinstance(error, jinja2.TemplateSyntaxError):
        return (Path(error.filename) if error.filename else None), error.lineno
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename.endswith(suffix)]
    return (Path(frames[-1].filename), frames[-1].lineno) if frames else (None, None)


def _words(error: Exception, path: Path | None, line: int | None, context: Mapping[str, Any]) -> str:
    missing = _MISSING.search(str(error))
    if missing is None:
        return str(error)
    kind, field = missing.groups()
    if kind is None:
        name = _written_before(field, path, line)
        asked = f"ask `{{% if {name} %}}` first" if name else "ask for it with `{% if %}` first"
        return f"{name or 'something'} is None here, and has no {field!r}; {asked}"
    for name, value in _named(context):
        if type(value).__name__ == kind:
            return f"{name} has no {field!r}; it has {', '.join(_fields(value))}"
    return f"a {kind} has no {field!r}"


def _written_before(field: str, path: Path | None, line: int | None) -> str:
    """The expression whose field is asked for, as the template writes it: `case` of `case.shapes`."""
    if path is None or line is None or not path.is_file():
        return ""
    text = "".join(path.read_text(encoding="utf-8").splitlines()[line - 1 : line])
    found = re.search(rf"([A-Za-z_][\w.]*)\.{field}\b", text)
    return found[1] if found else ""


def _named(context: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Everything that has fields, by the name that a template gives it."""
    yield from context.items()
    for name, value in context.items():
        yield from ((f"{name}.{field}", getattr(value, field)) for field in _fields(value))
        if isinstance(value, tuple | list):
            yield from ((f"an element of {name}", element) for element in value)


def _fields(value: object) -> tuple[str, ...]:
    if dataclasses.is_dataclass(value):
        return tuple(field.name for field in dataclasses.fields(value))
    return tuple(getattr(value, "__struct_fields__", ()))
