"""Which rounds count, and what they add up to."""

from __future__ import annotations

import pytest

from tritonkata.launcher.timing import Round, summary


@pytest.mark.parametrize(
    ("before", "after", "agrees"),
    [
        (100, 100, True),
        (100, 102, True),
        (102, 100, True),
        (100, 103, False),
        (10, 10.9, True),
        (10, 11.5, False),
        (103, 100, False),
    ],
)
def test_two_copies_agree_within_two_percent(before: float, after: float, agrees: bool) -> None:
    assert Round(before, 50, after).agrees is agrees


def test_the_fraction_is_taken_round_by_round() -> None:
    """A clock that drifts slows the copy and the kernel alike."""
    kept = [Round(100, 125, 100), Round(200, 250, 200), Round(300, 375, 300)]
    speed = summary(kept, [], 1 << 20, ())
    assert speed.fraction_of_copy == pytest.approx(0.8)
    assert (speed.kernel_us, speed.copy_us, speed.rounds, speed.repeated) == (250, 200, 3, 0)
    assert speed.copy_bytes == 1 << 20
    assert speed.notes == ()


def test_rounds_thrown_away_are_counted_and_not_used() -> None:
    speed = summary([Round(100, 100, 100)], [Round(100, 1000, 130)], 0, ())
    assert speed.fraction_of_copy == 1.0
    assert (speed.rounds, speed.repeated) == (1, 1)


def test_an_unsteady_gpu_is_said_and_all_rounds_are_used() -> None:
    thrown = [Round(100, 200, 150) for _ in range(9)]
    speed = summary([], thrown, 0, ("a note",))
    assert speed.fraction_of_copy == pytest.approx(125 / 200)
    assert speed.rounds == 9
    assert speed.notes[0] == "a note"
    assert "9 of 9 rounds" in speed.notes[1]
