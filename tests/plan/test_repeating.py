"""What varies by itself is told from what memory decides: the tests know which it is, and see the runs alone."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import pytest

pytest.importorskip("cuda.bindings", reason="the launcher needs cuda-bindings")

from tritonkata.launcher import repeating
from tritonkata.launcher.repeating import Words, repeats

POISONS = (0xFF, 0xA5)


def words(*values: int) -> Words:
    return [np.array(values, np.uint32)]


def found_and_repeated(outcome: Callable[[int, int], Words]) -> bool:
    """The answer for outcomes that depend on the number of the launch and on the poison."""
    launches = iter(range(1000))

    def run(poison: int) -> Words:
        return outcome(next(launches), poison)

    return repeats(run, {poison: run(poison) for poison in POISONS}, ["float32"])


def test_what_memory_decides_repeats() -> None:
    assert found_and_repeated(lambda _, poison: words(poison, 7))


@pytest.mark.parametrize("period", range(2, 13))
def test_what_takes_turns_does_not(period: int) -> None:
    """Every pattern of two outcomes with a period is refused, unless both poisons gave the same one at first."""
    for pattern in range(1 << period):
        outcomes = [words(pattern >> place & 1) for place in range(period)]
        if outcomes[0][0] != outcomes[1][0]:
            assert not found_and_repeated(lambda launch, _, of=outcomes: of[launch % len(of)])  # type: ignore[misc]


def test_what_is_random_does_not() -> None:
    choose = random.Random(5)
    for _ in range(2000):
        assert not found_and_repeated(lambda *_: words(choose.randrange(2)))


def test_one_value_that_is_no_number_is_as_good_as_another() -> None:
    nans = iter(range(0x7FC00000, 0x7FFFFFFF))
    assert found_and_repeated(lambda _, poison: words(poison, next(nans)))


def test_what_is_slow_is_run_again_once(monkeypatch: pytest.MonkeyPatch) -> None:
    runs: list[int] = []
    monkeypatch.setattr(repeating, "LONGEST_SECONDS", -1.0)

    def run(poison: int) -> Words:
        runs.append(poison)
        return words(poison)

    assert repeats(run, {poison: words(poison) for poison in POISONS}, ["float32"])
    assert sorted(runs) == sorted(POISONS)
