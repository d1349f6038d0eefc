"""What this process does at the moment, for whoever finds that it has ended."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

_current: list[str] = []


def _nobody(what: str) -> None:
    """Where nobody asks."""


_tell: Callable[[str], None] = _nobody


def tell(to: Callable[[str], None]) -> None:
    """From now on tell this function what is done, and an empty text where that is nothing of note."""
    global _tell  # noqa: PLW0603 - it is of this process, as what it tells is
    _tell = to


@contextmanager
def doing(what: str) -> Iterator[None]:
    """Note that this is being done, inside whatever else is; several threads may."""
    _current.append(what)
    _tell(what)
    try:
        yield
    finally:
        _current.remove(what)
        _tell(_current[-1] if _current else "")
