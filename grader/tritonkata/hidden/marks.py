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
    try:
        return msgspec.convert({"title": str(given["name"]).replace("_", " "), **given}, CheckMark)
    except msgspec.ValidationError as error:
        raise GraderError(f"{wrong} {error}; correct that argument") from error
