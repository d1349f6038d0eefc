"""Honest submissions get the reports that they would get alone, whatever was graded before them on the same station."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import permutations
from pathlib import Path
from typing import Any

import msgspec
import pytest
from catalogue import ATTACKS, Attack, EngineName
from traces import left_behind, snapshot

from tritonkata.check import grade
from tritonkata.engine.sharing import SharedHost, end_launchers
from tritonkata.engine.station import Station, open_station
from tritonkata.model.course import Kata
from tritonkata.model.report import Report, repeatable

SEED = 20_250_101
ENGINES = ["interpreter", pytest.param("gpu", marks=pytest.mark.gpu)]
DOUBLED = [attack for attack in ATTACKS if attack.kata == "doubled"]
FIRST_OF_GROUP = {attack.group: attack for attack in reversed(DOUBLED) if attack.fast}
"""The first fast attack of each group."""


def differences(first: Any, second: Any, where: str = "") -> list[str]:
    """The places where two reports are not the same, each with what stands there in either."""
    if isinstance(first, Report) and isinstance(second, Report):
        first, second = msgspec.to_builtins(first), msgspec.to_builtins(second)
    if isinstance(first, dict) and isinstance(second, dict):
        pairs = [(key, first.get(key), second.get(key)) for key in {**first, **second}]
    elif isinstance(first, (list, tuple)) and isinstance(second, (list, tuple)) and len(first) == len(second):
        pairs = [(place, *pair) for place, pair in enumerate(zip(first, second, strict=True))]
    else:
        return [] if first == second else [f"{where}: {first!r} and {second!r}"[:400]]
    return [text for key, *pair in pairs for text in differences(*pair, f"{where}.{key}")]


class Bench:
    """One station, and the reports of the honest submissions A and B as they are alone."""

    def __init__(self, kata: Kata, engine: EngineName, station: Station) -> None:
        self._kata, self._engine, self._station = kata, engine, station
        wrong = Path(__file__).resolve().parents[1] / "course/katas/doubled/wrong/tripled/times_three.py"
        self.honest = {"A": kata.solution, "B": wrong}
        self.alone = {name: self.graded(path) for name, path in self.honest.items()}
        assert [self.alone["A"].verdict, self.alone["B"].verdict] == ["pass", "fail"]

    def graded(self, path: Path) -> Report:
        """What of a report lasts."""
        return repeatable(grade(self._kata, path, engine=self._engine, seed=SEED, station=self._station))

    def in_turn(self, *words: str | Attack) -> None:
        """Grade these one after another; A and B must get what they got alone."""
        for word in words:
            if isinstance(word, Attack):
                self.graded(word.path)
            else:
                found = differences(self.alone[word], self.graded(self.honest[word]))
                assert not found, "\n".join([f"{word} is not what it was alone:", *found])


@pytest.fixture(scope="module", params=ENGINES)
def bench(request: pytest.FixtureRequest, sandbox: None, kata_of: Any, tmp_path_factory: Any) -> Iterator[Bench]:
    folder = tmp_path_factory.mktemp("host")
    host = SharedHost(folder, 0, os.getpid()) if request.param == "gpu" else None
    with open_station(host=host) as station:
        yield Bench(kata_of("doubled"), request.param, station)
    end_launchers(folder)


@pytest.mark.parametrize("attack", list(FIRST_OF_GROUP.values()), ids=lambda attack: attack.id)
def test_an_attack_changes_nothing_for_who_comes_after_it(bench: Bench, attack: Attack) -> None:
    bench.in_turn("A", attack, "B")


@pytest.mark.slow
@pytest.mark.parametrize("order", list(permutations("AHB")), ids="".join)
def test_the_order_makes_no_difference(bench: Bench, order: tuple[str, ...]) -> None:
    for attack in FIRST_OF_GROUP.values():
        bench.in_turn(*(attack if word == "H" else word for word in order))


@pytest.mark.slow
@pytest.mark.parametrize("group", sorted({attack.group for attack in DOUBLED}))
def test_no_attack_of_a_group_changes_anything(bench: Bench, group: str) -> None:
    """A, attack, B, attack, A, ...: each attack stands between two honest submissions."""
    attacks = [attack for attack in DOUBLED if attack.group == group]
    before = snapshot()
    bench.in_turn("A")
    for number, attack in enumerate(attacks):
        bench.in_turn(attack, "AB"[number % 2])
    # The station keeps workers waiting, which are others by now.
    assert [what for what in left_behind(before) if not what.startswith("still running")] == []
