"""The sweep over row lengths."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tritonkata.labs import ceiling
from tritonkata.labs.ceiling import decided_from, lengths, run_ceiling
from tritonkata.labs.memory import TooLarge
from tritonkata.labs.model import CeilingResult, LabRow, Options, SweepPoint
from tritonkata.model.observation import Level, Resources, Speed


def quiet(_: str) -> None:
    """No progress."""


def point(cols: int, most_us: float, least_us: float, *, spilled: int = 0) -> SweepPoint:
    """Three passes against one, as far as the decision needs it."""
    rows = (
        LabRow("a", "safe, 3 passes", predicted=Level(300, 100), speed=Speed(most_us, 1.0, 1.0, 1, 1)),
        LabRow(
            "b",
            "online, 1 pass",
            predicted=Level(100, 100),
            speed=Speed(least_us, 1.0, 1.0, 1, 1),
            resources=(Resources("k", "sm_90", 1, 0, 1, spilled),),
        ),
    )
    return SweepPoint(cols, cols * 4, rows)


@pytest.mark.parametrize(
    ("longest", "expected"),
    [(1, (1,)), (64, (64,)), (65, (64, 65)), (300, (64, 128, 256, 300)), (512, (64, 128, 256, 512))],
)
def test_lengths_are_powers_of_two_and_the_longest(longest: int, expected: tuple[int, ...]) -> None:
    assert lengths(longest) == expected


@pytest.mark.parametrize(
    ("points", "expected"),
    [
        ([point(64, 10, 10), point(128, 17, 10), point(256, 18, 10), point(512, 20, 10)], 256),
        ([point(64, 20, 10), point(128, 10, 10), point(256, 20, 10)], 256),
        ([point(64, 20, 10), point(128, 20, 10)], 64),
        ([point(64, 10, 10), point(128, 17.4, 10)], None),
        ([point(64, 10, 10), point(128, 20, 10), point(256, 10, 10, spilled=8)], 128),
        ([point(64, 20, 10, spilled=8)], None),
        ([], None),
    ],
)
def test_passes_decide_from_where_they_cost_three_quarters_at_every_longer_row(
    points: list[SweepPoint], expected: int | None
) -> None:
    assert decided_from(points) == expected


def test_the_interpreter_sweeps_with_exact_bytes() -> None:
    options = Options(1000, 300, "float16", 0, 5)
    said: list[str] = []
    result = run_ceiling(options, "interpreter", said.append)
    assert [one.cols for one in result.points] == [64, 128, 256, 300]
    assert result.ran_rows == 2
    for one in result.points:
        assert one.unit_bytes == 1000 * one.cols * 2
        assert all(row.as_predicted for row in one.rows)
        assert [row.predicted and row.predicted.total // one.unit_bytes for row in one.rows] == [4, 3, 2]
        assert all(row.checked is not None and row.checked.passed for row in one.rows)
    assert result.decided_from is None
    assert result.outgrows_l2 == 62_914_560 // 2000 + 1
    assert any("300 columns" in step for step in said)


def test_a_gpu_sweeps_all_rows(pretended_gpu: Any) -> None:
    result = ceiling._run(Options(3, 200, "float32", 0, 5), pretended_gpu, quiet)
    assert result.ran_rows == 3
    assert [one.cols for one in result.points] == [64, 128, 200]
    # Its times are bytes, so the passes decide from the first length on.
    assert result.decided_from == 64
    assert result.bandwidth.source == "the copy measured here"
    assert result.outgrows_l2 is None
    assert result.notes == ("a note", "it was hot")


def test_the_longest_rows_are_refused_before_the_shorter_ones_are_measured(
    pretended_gpu: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ceiling, "available_bytes", lambda: 4 << 30)
    with pytest.raises(TooLarge):
        ceiling._run(Options(8192, 65_536, "float32", 0, 5), pretended_gpu, pytest.fail)


def test_a_sweep_survives_json(sweep: CeilingResult) -> None:
    assert msgspec.json.decode(msgspec.json.encode(sweep), type=CeilingResult) == sweep
