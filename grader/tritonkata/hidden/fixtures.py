"""The fixtures that a hidden test may take, and what it takes that there is not."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from tritonkata.engine.client import GraderError

FIXTURES = ("candidate", "oracle", "rng")
_OF_PYTEST = "request"  # which pytest gives without a definition


def require_fixtures(item: pytest.Item) -> None:
    """See that everything a test takes is there, by itself or by way of another fixture.

    Raises:
        GraderError: the test, or a fixture of its file, takes one that nobody defines.
    """
    if not isinstance(item, pytest.Function):
        return
    defined = item._fixtureinfo.name2fixturedefs
    for name in item.fixturenames:
        if name not in (*FIXTURES, _OF_PYTEST, *defined):
            takers = [taker for taker, found in defined.items() if name in found[-1].argnames]
            raise GraderError(f"{item.nodeid}: {no_fixture(name, takers)}")


def no_fixture(name: str | None, takers: Iterable[str] = ()) -> str:
    """What to tell of a name that is no fixture. `takers` are fixtures that take it."""
    through = "".join(f", which the fixture {taker!r} takes" for taker in list(takers)[:1])
    return f"there is no fixture {name!r}{through}; it may take {', '.join(FIXTURES)}, and what its own file defines"
