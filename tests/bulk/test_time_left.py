"""The remaining time is told in the unit that says most."""

from __future__ import annotations

import pytest

from tritonkata.cli.grading_progress import time_left


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0 seconds left"),
        (1.2, "1 second left"),
        (18.4, "18 seconds left"),
        (119, "119 seconds left"),
        (125, "2 minutes left"),
        (4000, "67 minutes left"),
        (7300, "2 hours left"),
    ],
)
def test_the_unit_fits(seconds: float, words: str) -> None:
    assert time_left(seconds) == words
