"""Thousands of submissions in one run, half of them hostile at random: does anything build up, or cross over?

Honest submissions must get, every time, the report that they got alone (but for times); every attack must get what
its table says. Looked at before and after: processes, files, descriptors, memory, the GPU's free memory; and the rate
of each quarter. Ends with code 1 if anything is not as it must be.

    python benchmarks/soak.py [--submissions N] [--jobs N] [--engine interpreter|gpu] [--seed S] [--name NAME]
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from itertools import pairwise
from multiprocessing import resource_tracker
from pathlib import Path
from random import Random
from typing import Any

from common import environment, save
from hostile_common import HOSTILE, ROOT, catalogue, copy_courses, graded
from tritonkata.crew.crew import Crew, open_crew
from tritonkata.crew.job import Job
from tritonkata.engine.machine import gpus_for
from tritonkata.model.report import Report, repeatable

HONEST = [
    ROOT / "tests/course/reference/doubled/solution.py",
    *sorted((ROOT / "tests/course/katas/doubled/wrong").glob("*/*.py")),
    ROOT / "tests/course/skeletons/doubled.py",
]
_AHEAD = 3
"""Submissions that wait for each process."""


def main() -> None:
    """Run, look, keep the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--submissions", type=int, default=2000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--engine", choices=["interpreter", "gpu"], default="interpreter")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--shorter", type=float, default=1.0, help="divide the time limits of submissions by this")
    parser.add_argument("--name", default="soak")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        # A folder of its own, so that what others do in the common one is not taken for something left behind.
        tempfile.tempdir = os.environ["TMPDIR"] = tempfile.mkdtemp(dir=folder)
        resource_tracker.ensure_running()
        copy_courses(Path(folder), shorter=options.shorter)
        result = soak(options, Path(folder))
    print({name: result[name] for name in ("submissions", "verdicts", "rates_a_minute", "problems", "seconds")})
    print(save(options.name, result))
    raise SystemExit(1 if result["problems"] else 0)


def soak(options: argparse.Namespace, root: Path) -> dict[str, Any]:
    """One run; what it found."""
    sys.path.insert(0, str(HOSTILE))
    from traces import left_behind, snapshot

    draw = Random(options.seed)
    attacks = {attack.path: attack for attack in catalogue().ATTACKS if attack.kata == "doubled"}
    wanted = [
        draw.choice(list(attacks)) if draw.random() < 0.5 else draw.choice(HONEST) for _ in range(options.submissions)
    ]
    gpus = gpus_for(options.engine)
    before, memory = snapshot(), free_memory()
    began = time.monotonic()
    watch = Watch(attacks, options.engine)
    with open_crew(options.jobs, gpus=gpus) as crew:
        alone = {path: crew.submit(graded, path, "doubled", root, options.engine) for path in HONEST}
        watch.alone = {path: repeatable(job.result()) for path, job in alone.items()}
        for _ in alone:
            crew.completed()
        began = time.monotonic()
        feed(crew, wanted, root, options, watch)
        busy = dict(crew.busy_seconds)
    problems = watch.problems + [f"after the run: {what}" for what in left_behind(before)]
    after = free_memory()
    if memory is not None and after is not None and after < memory - (64 << 20):
        problems.append(f"{memory - after} bytes of device memory did not come back")
    return {
        "environment": environment(),
        "engine": options.engine,
        "jobs": options.jobs,
        "seed": options.seed,
        "submissions": watch.done,
        "hostile": watch.hostile,
        "verdicts": dict(watch.verdicts),
        "rates_a_minute": rates(watch.times, began),
        "peak_memory_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10,
        "gpu_busy_seconds": busy,
        "problems": problems[:50],
        "seconds": round(time.monotonic() - began, 1),
    }


class Watch:
    """Takes reports as they come, and notes what is not as it must be."""

    def __init__(self, attacks: dict[Path, Any], engine: str) -> None:
        self.alone: dict[Path, Report] = {}
        self.problems: list[str] = []
        self.verdicts: Counter[str] = Counter()
        self.times: list[float] = []
        self.hostile = 0
        self._attacks = attacks
        self._engine = engine
        self._first_of = catalogue().first_of

    @property
    def done(self) -> int:
        """Submissions with a report."""
        return len(self.times)

    def take(self, path: Path, job: Job[Any]) -> None:
        """One submission has its report."""
        self.times.append(time.monotonic())
        try:
            report = job.result()
        except Exception as error:
            self.problems.append(f"{path.relative_to(ROOT)}: no report: {type(error).__name__}: {error}")
            return
        self.verdicts[report.verdict] += 1
        attack = self._attacks.get(path)
        self.hostile += attack is not None
        if attack is not None and not attack.is_met_by(report, self._engine):
            self.problems.append(f"{attack.id}: {report.verdict}, {self._first_of(report)}")
        if attack is None and repeatable(report) != self.alone[path]:
            self.problems.append(f"{path.relative_to(ROOT)}: another report than alone: {self._first_of(report)}")


def feed(crew: Crew, wanted: list[Path], root: Path, options: argparse.Namespace, watch: Watch) -> None:
    """Hand out the submissions, a few ahead, and take the reports."""
    waiting = iter(wanted)
    given: dict[Job[Any], Path] = {}
    while True:
        while len(given) < _AHEAD * options.jobs and (path := next(waiting, None)) is not None:
            given[crew.submit(graded, path, "doubled", root, options.engine)] = path
        if not given:
            return
        job = crew.completed()
        watch.take(given.pop(job), job)


def rates(times: list[float], began: float) -> list[float]:
    """Submissions a minute in each quarter of them."""
    quarter = max(1, len(times) // 4)
    ends = [began, *(times[min(n * quarter, len(times)) - 1] for n in (1, 2, 3)), times[-1]]
    return [round(60 * quarter / max(stop - start, 1e-3), 1) for start, stop in pairwise(ends)]


def free_memory() -> int | None:
    """Bytes of the first GPU that are free, None without one."""
    query = ["nvidia-smi", "--query-gpu=memory.free", "--format=csv,noheader,nounits"]
    try:
        done = subprocess.run(query, capture_output=True, text=True, timeout=30, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return int(done.stdout.splitlines()[0]) << 20


if __name__ == "__main__":
    os.nice(5)
    main()
