"""One launcher for several graders, its end, and the canary after it. Needs one NVIDIA GPU."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import numpy as np
import pytest

from tritonkata.check import grade
from tritonkata.courses import load_course
from tritonkata.engine.engines import GpuEngine
from tritonkata.engine.hosting import OwnHost
from tritonkata.engine.launching import Launcher
from tritonkata.engine.sharing import GpuSetAside, SharedHost, end_launchers
from tritonkata.engine.station import Station, open_station
from tritonkata.engine.workers import Assignment
from tritonkata.model.course import Kata, Limits
from tritonkata.model.observation import Level
from tritonkata.model.plan import LaunchPlan
from tritonkata.model.report import Report, repeatable

pytestmark = pytest.mark.gpu

ROOT = Path(__file__).resolve().parents[2]

FAR = "    tl.store(y_ptr + (row + (1 << 40)) * n_cols + cols, 2 * x, mask=mask)\n"
ENDLESS = "    n = 0\n    while tl.load(x_ptr, volatile=True) > -1e30:\n        n += 1\n    x_ptr += n\n"
MASK = "    mask = cols < n_cols\n"
COUNT = """
from tritonkata.launcher import driver
from tritonkata.launcher.traffic.source import Counters
print(Counters(driver.open_device(0), 0).cupti is not None)
"""


@pytest.fixture(scope="module")
def kata() -> Kata:
    return load_course(Path(__file__).resolve().parents[1] / "course").kata("doubled")


@pytest.fixture
def host(tmp_path: Path) -> Iterator[SharedHost]:
    yield SharedHost(tmp_path, 0, os.getpid())
    end_launchers(tmp_path)


@pytest.fixture
def station(host: SharedHost) -> Iterator[Station]:
    with open_station(host=host) as opened:
        yield opened


def graded(kata: Kata, source: str, station: Station, folder: Path) -> Report:
    path = folder / "doubled.py"
    path.write_text(source)
    return grade(kata, path, engine="gpu", seed=3, station=station)


@pytest.mark.parametrize("sandbox", ["sandbox", "no sandbox"])
def test_several_submissions_share_one_launcher(
    sandbox: str, kata: Kata, station: Station, host: SharedHost, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a sandbox, what a submission left is looked for among this process's children, as the launcher is."""
    if sandbox == "no sandbox":
        monkeypatch.setenv("PATH", str(tmp_path))
    source = kata.solution.read_text()
    first = graded(kata, source, station, tmp_path)
    launcher = (tmp_path / "gpu0.pid").read_text()
    second = graded(kata, source, station, tmp_path)
    assert first.verdict == "pass", first
    assert any("no sandbox" in note for note in first.notes) == (sandbox == "no sandbox")
    assert repeatable(first) == repeatable(second)
    assert (tmp_path / "gpu0.pid").read_text() == launcher
    assert host.busy_seconds > 0


@pytest.mark.parametrize("change", [(MASK, MASK + ENDLESS), (MASK, MASK + "    x_ptr += row * 0 + (1 << 44)\n")])
def test_a_fault_costs_its_own_submission_alone(
    kata: Kata, station: Station, tmp_path: Path, change: tuple[str, str]
) -> None:
    source = kata.solution.read_text()
    before = graded(kata, source, station, tmp_path)
    launcher = (tmp_path / "gpu0.pid").read_text()
    broken = graded(kata, source.replace(*change), station, tmp_path)
    assert broken.verdict == "fail"
    assert not [check for check in broken.checks if check.verdict == "grader_error"]
    after = graded(kata, source, station, tmp_path)
    assert (tmp_path / "gpu0.pid").read_text() != launcher
    assert not (tmp_path / "gpu0.suspect").exists()
    assert repeatable(before) == repeatable(after)


def test_a_launcher_that_was_killed_is_replaced_and_the_case_repeated(
    kata: Kata, station: Station, host: SharedHost, tmp_path: Path
) -> None:
    source = kata.solution.read_text()
    before = graded(kata, source, station, tmp_path)
    os.kill(int((tmp_path / "gpu0.pid").read_text()), signal.SIGKILL)
    assert repeatable(graded(kata, source, station, tmp_path)) == repeatable(before)
    with pytest.raises(AssertionError, match="in the middle"), host.turn():
        raise AssertionError("in the middle")
    assert repeatable(graded(kata, source, station, tmp_path)) == repeatable(before)


def test_a_gpu_that_does_not_get_well_is_set_aside(host: SharedHost, tmp_path: Path) -> None:
    """More memory was free before the fault than the card has: the canary cannot be content."""
    with host.turn() as turn:
        impossible = msgspec.structs.replace(turn.ready, free_bytes=4 * turn.ready.device.total_memory)
    (tmp_path / "gpu0.suspect").write_bytes(msgspec.msgpack.encode(impossible))
    for _ in range(2):
        with pytest.raises(GpuSetAside, match="MiB of memory are free"), host.turn():
            pass


def test_a_launcher_of_its_own_is_examined_after_a_fault(kata: Kata) -> None:
    host = OwnHost()
    try:
        with host.turn() as turn:
            number = turn.ready.free_bytes
        host.replace()
        with host.turn() as turn:
            assert turn.ready.free_bytes > 0.9 * number
    finally:
        host.end()


def test_a_submission_finds_nothing_of_the_one_before(kata: Kata, station: Station, tmp_path: Path) -> None:
    """What is read beyond a buffer of a later submission holds no values of an earlier one."""
    secret = np.full((64, 4096), 12345.0, np.float32)
    entry = kata.file.entry_points[0]
    engine = GpuEngine(Assignment.to_kata(kata, "doubled.py", kata.solution.read_bytes()), station)
    assert (engine.run(entry, (secret,)).outputs[0] == 24690.0).all()
    engine.close()
    reader = kata.solution.read_text().replace(
        "2 * x", "tl.load(x_ptr + 4096 * 64 * 4 + row * n_cols + cols, mask=mask)"
    )
    engine = GpuEngine(Assignment.to_kata(kata, "doubled.py", reader.encode()), station)
    observation = engine.run(entry, (np.ones((64, 4096), np.float32),))
    engine.close()
    for output in observation.outputs:
        assert not np.isin(output, [12345.0, 24690.0]).any()


def test_counts_among_other_requests_are_right_and_others_can_count_after_them(kata: Kata, station: Station) -> None:
    """The launcher keeps the counters from one to the next, and lets them go before it takes times."""
    engine = GpuEngine(Assignment.to_kata(kata, "doubled.py", kata.solution.read_bytes()), station)
    entry, x = kata.file.entry_points[0], np.ones((37, 1000), np.float32)

    def counted() -> None:
        traffic = engine.traffic(entry, (x,)).traffic
        assert traffic is not None
        assert (traffic.source, traffic.requested) == ("cupti", Level(x.nbytes, x.nbytes))

    try:
        for _ in range(3):
            counted()
            assert (engine.run(entry, (x,)).outputs[0] == 2).all()
        (timed,) = engine.time(entry, ((x,),), 2 * x.nbytes)
        assert timed.speed is not None
        counted()
        other = subprocess.run([sys.executable, "-c", COUNT], capture_output=True, text=True, check=True, timeout=60)
        assert other.stdout == "True\n"
        counted()
    finally:
        engine.close()


@pytest.mark.parametrize("slug", ["safe_softmax", "log_softmax"])
def test_one_launcher_counts_kernel_after_kernel(slug: str, station: Station, host: SharedHost, tmp_path: Path) -> None:
    """Each has modules of its own, which come and go between counts as they do in a class."""
    kata = load_course(ROOT).kata(slug)
    entry = kata.file.entry_points[0]
    engine = GpuEngine(Assignment.to_kata(kata, "solution.py", kata.solution.read_bytes()), station)
    shapes = [((37, 1000), "float32"), ((5, 1024), "float32"), ((37, 1000), "float16"), ((2, 6000), "float32")]
    cases = [(np.ones(shape, dtype),) for shape, dtype in shapes]
    try:
        plans = [engine.compile(entry, arguments) for arguments in cases]
    finally:
        engine.close()
    launcher, numbers = Launcher(Limits(), host), set()
    for place in range(40):
        plan, arguments = plans[place % len(plans)], cases[place % len(plans)]
        assert isinstance(plan, LaunchPlan)
        answer = launcher.count(plan, arguments)
        assert answer.traffic is not None, answer
        assert answer.traffic.source == "cupti"
        assert answer.traffic.requested.stored == arguments[0].nbytes
        numbers.add((tmp_path / "gpu0.pid").read_text())
        other = plans[(place * 7 + 1) % len(plans)]
        assert isinstance(other, LaunchPlan)
        assert launcher.replay(other, cases[(place * 7 + 1) % len(plans)]).fault is None
    assert (len(numbers), launcher.notes()) == (1, ())
