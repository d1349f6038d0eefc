"""Every attack gets a verdict of its own and leaves nothing behind; every near-miss passes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from catalogue import ATTACKS, HERE, Attack, EngineName, first_of
from traces import left_behind, renderings, snapshot, unsafe

from tritonkata.boundary.messages import DeviceFigures
from tritonkata.boundary.sandbox import SandboxUnavailable
from tritonkata.boundary.validate import validate
from tritonkata.check import grade
from tritonkata.engine import workers
from tritonkata.engine.arrays import spec_of
from tritonkata.engine.engines import open_engine
from tritonkata.engine.workers import Assignment
from tritonkata.hidden.candidate import Call
from tritonkata.hidden.plugin import Session
from tritonkata.model.plan import InvalidPlan, LaunchPlan
from tritonkata.model.report import Report

SEED = 20_250_101
GROUPS = {"result_channel", "forged_plan", "tampering", "semantics", "availability", "feedback"}
ENGINES = ["interpreter", pytest.param("gpu", marks=pytest.mark.gpu)]
FAST_CONTROLS = {"prints_a_lot", "asserts_its_input"}
WITHOUT_A_SANDBOX = {
    f"availability/{name}" for name in ("daemon", "daemon_with_the_pipe", "many_files", "deep_folders", "endless_call")
}
"""Attacks that write where they are told to, and keep within the limits that a process has without a sandbox."""
HIDDEN_VALUES = "hidden values"
"""In the row of attacks that tell inputs. Reports on those are for readers who must not see any."""
VALUES_TOLD = 12
"""So many values of a hidden input do the attacks tell that carry them out."""


def _parameters() -> list[Any]:
    return [pytest.param(attack, id=attack.id, marks=() if attack.fast else pytest.mark.slow) for attack in ATTACKS]


def _controls() -> list[Any]:
    wanted = dict.fromkeys((attack.control, attack.kata) for attack in ATTACKS)
    return [
        pytest.param(path, slug, id=path.stem, marks=() if path.stem in FAST_CONTROLS else pytest.mark.slow)
        for path, slug in wanted
    ]


@pytest.mark.usefixtures("sandbox")
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("attack", _parameters())
def test_an_attack_gets_a_verdict_of_its_own(
    attack: Attack, engine: EngineName, kata_of: Any, station_for: Any, secret: str
) -> None:
    kata = kata_of(attack.kata)
    station = station_for(kata)
    sessions: list[Session] = []
    before = snapshot()
    discreet = HIDDEN_VALUES in attack.row
    report = grade(
        kata, attack.path, engine=engine, seed=SEED, watch=sessions.append, discreet=discreet, station=station
    )
    assert left_behind(before) == []
    shown = renderings(report, kata, attack.path.read_text())
    assert unsafe(shown, (secret, *(_hidden_values(sessions) if discreet else ()))) == []
    assert report.verdict != "grader_error", report.fault
    if attack.undefended == engine:
        return
    expected = attack.expected[engine]
    assert report.verdict in (("fail", "error") if expected.verdict == "any" else (expected.verdict,)), _told(report)
    assert first_of(report)[0] in expected.first, _told(report)
    assert report.score < report.max_score or report.max_score == 0
    assert report.medal in ("none", "bronze")


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("path", "slug"), _controls())
def test_a_near_miss_passes(
    path: Path, slug: str, engine: EngineName, kata_of: Any, station_for: Any, secret: str
) -> None:
    kata = kata_of(slug)
    station = station_for(kata)
    before = snapshot()
    report = grade(kata, path, engine=engine, seed=SEED, station=station)
    assert left_behind(before) == []
    assert unsafe(renderings(report, kata, path.read_text()), (secret,)) == []
    assert report.verdict == "pass", _told(report)


@pytest.mark.slow
@pytest.mark.usefixtures("sandbox")
@pytest.mark.parametrize("attack", [one for one in ATTACKS if one.refused], ids=lambda one: one.name)
def test_a_forged_plan_reaches_no_launcher(attack: Attack, kata_of: Any) -> None:
    kata = kata_of(attack.kata)
    x = np.ones((3, 37), np.float32)
    engine = open_engine("interpreter", Assignment.to_kata(kata, "attack.py", attack.path.read_bytes()))
    try:
        engine.load()
        plan = engine.compile(kata.file.entry_points[0], (x,))
    finally:
        engine.close()
    assert isinstance(plan, LaunchPlan), plan
    with pytest.raises(InvalidPlan):
        validate(plan, (spec_of(x),), DeviceFigures())


@pytest.mark.slow
@pytest.mark.parametrize("attack", [one for one in ATTACKS if one.id in WITHOUT_A_SANDBOX], ids=lambda one: one.name)
def test_nothing_is_left_without_a_sandbox(
    attack: Attack, kata_of: Any, secret: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "find_bubblewrap", _none_here)
    kata = kata_of(attack.kata)
    before = snapshot()
    report = grade(kata, attack.path, engine="interpreter", seed=SEED)
    assert any("no sandbox" in note for note in report.notes)
    assert left_behind(before) == []
    assert unsafe(renderings(report, kata, attack.path.read_text()), (secret,)) == []
    assert report.verdict in ("fail", "error"), _told(report)


@pytest.mark.slow
@pytest.mark.usefixtures("sandbox")
def test_announced_results_take_no_memory(kata_of: Any) -> None:
    attack = next(attack for attack in ATTACKS if attack.name == "announced_blobs")
    kata = kata_of(attack.kata)
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    before = _peak_bytes()
    grade(kata, attack.path, engine="interpreter", seed=SEED)
    assert _peak_bytes() - before < 1 << 30


def test_the_table_and_the_folders_agree() -> None:
    folders = {path.parent for path in (HERE / "attacks").glob("*/*/attack.py")}
    assert {attack.path.parent for attack in ATTACKS} == folders
    assert {attack.group for attack in ATTACKS} == GROUPS
    used = {attack.control for attack in ATTACKS}
    assert used == {*(HERE / "controls").glob("*.py"), *(HERE / "attacks").glob("*/*/control.py")}


def test_every_entry_says_what_it_must() -> None:
    assert [attack.id for attack in ATTACKS if not attack.title.endswith(".") or not attack.row] == []
    assert [attack.id for attack in ATTACKS if bool(attack.undefended) != bool(attack.reason)] == []
    for attack in ATTACKS:
        for expected in attack.expected.values():
            assert expected.verdict in ("fail", "error", "any"), attack.id
            assert expected.first - {"pass", "grader_error"} == expected.first != frozenset(), attack.id


def _none_here() -> str:
    raise SandboxUnavailable("hidden by the test")


def _told(report: Report) -> str:
    checks = [(check.name, check.verdict, check.message[:200]) for check in report.checks]
    return f"{report.verdict}: {report.fault}, {checks}, not run: {report.unavailable}"


def _hidden_values(sessions: list[Session]) -> tuple[str, ...]:
    """The first values of every hidden input, as an attack would write them. A report shows six of a wrong row."""
    calls = [call for session in sessions for call in session.calls if call.observation.fault is not None]
    return tuple(text for call in calls for text in _written(call))


def _written(call: Call) -> list[str]:
    values = [float(value) for value in call.arguments[0].reshape(-1)[:VALUES_TOLD]]
    return [f"{value:.7e}" for value in values if value]


def _peak_bytes() -> int:
    found = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    assert found is not None
    return int(found[1]) << 10
