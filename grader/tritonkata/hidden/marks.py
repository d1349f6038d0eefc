"""The marker of hidden tests: `@pytest.mark.check`."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Annotated, Literal

import msgspec
import pytest

from tritonkata.engine.client import GraderError

MARKER = "check(name, title, points, depends, engines): one hidden check"


@dataclass(frozen=True)
class CheckMark:
    """The arguments of `@pytest.mark.check`."""

    name: str
    title: str
    points: Annotated[float, msgspec.Meta(ge=0)] = 1.0
    depends: tuple[str, ...] = ()
    engines: tuple[Literal["gpu", "interpreter"], ...] = ("gpu", "interpreter")


def check_mark(item: pytest.Item) -> CheckMark:
    """The check that a test belongs to.

    Raises:
        GraderError: the test has no marker, or one with a wrong argument.
    """
    marker = item.get_closest_marker("check")
    if marker is None:
        raise GraderError(f"{item.nodeid} has no @pytest.mark.check marker; give it a name, a title and points")
    given = {**dict(zip(("name",), marker.args, strict=False)), **marker.kwargs}
    wrong = f"{item.nodeid}: @pytest.mark.check:"
    unknown = [*sorted(set(given) - {field.name for field in dataclasses.fields(CheckMark)}), *marker.args[1:]]
    if unknown:
        raise GraderError(f"{wrong} {unknown[0]}: is no argument; it takes a name, title, points, depends and engines")
    if "name" not in given:
        raise GraderError(f"{wrong} name: is missing; it comes first")
    for argument, value in given.items():
        if problem := _not_of_its_kind(argument, value):
            raise GraderError(f"{wrong} {argument}: {problem}")
    try:
        return msgspec.convert({"title": str(given["name"]).replace("_", " "), **given}, CheckMark)
    except msgspec.ValidationError as error:
        raise GraderError(f"{wrong} {error}; correct that argument") from error


def _not_of_its_kind(argument: str, value: object) -> str:
    """What an argument is, and what to write; empty where it is what it should be."""
    if argument in ("name", "title"):
        return "" if isinstance(value, str) else f'is {value!r}; write a text, {argument}="..."'
    if argument == "points":
        is_number = isinstance(value, int | float) and not isinstance(value, bool) and value >= 0
        return "" if is_number else f"is {value!r}; write a number of 0 or more, points=1"
    allowed = ("gpu", "interpreter") if argument == "engines" else None
    if isinstance(value, str):
        return f'is a text; write a tuple, {argument}=("{value}",)'
    if not isinstance(value, tuple | list):
        return f"is {value!r}; write a tuple of texts"
    unknown = [one for one in value if not isinstance(one, str) or (allowed and one not in allowed)]
    what = " and ".join(f'"{one}"' for one in allowed) if allowed else "names of checks"
    return f"has {unknown[0]!r}; it takes {what}" if unknown else ""
