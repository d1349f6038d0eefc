"""How fast `kata grade` grades a class, and in how much memory, against the loop that people write.

The class is made of the kata's solution, its wrong examples and the right kernels of the tests, in turn, each with a
comment of its own. The loop starts one Python process a submission, one after another: it imports torch, Triton and the
submission, and runs the same hidden tests on the same inputs, without a sandbox and without counters, so that checks
which need counted bytes or times are left out. A sample of the class is timed that way and the rest is extrapolated.

    python benchmarks/bulk.py [--submissions N] [--jobs N] [--engine gpu|interpreter] [--gpus N] [--kata SLUG]
    [--sample N] [--name NAME]
    python benchmarks/bulk.py --memory [--jobs N]

With `--gpus 2` the class is graded on one GPU and on two. With `--memory` only the peak of memory is measured, for
classes of 10, 100 and 1,000 files that are no Python, each as large as a submission may be.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray

from common import environment, save
from tritonkata.courses import load_course
from tritonkata.engine.arrays import spec_of
from tritonkata.engine.base import TIMED_ROUNDS
from tritonkata.engine.client import LoadFailed
from tritonkata.engine.machine import gpu_problem, gpus_for, processor_name
from tritonkata.gradebook.opening import open_gradebook
from tritonkata.hidden.plugin import run_hidden_tests
from tritonkata.model.answers import Value
from tritonkata.model.course import Entry
from tritonkata.model.faults import Fault
from tritonkata.model.observation import Observation, Resources
from tritonkata.model.plan import LaunchPlan
from tritonkata.model.report import Engine as EngineReport

Array = NDArray[Any]
ROOT = Path(__file__).resolve().parents[1]
SEED = 20
SAMPLE_SECONDS = 0.5
NAIVE_SECONDS = 300.0
MEMORY_SIZES = (10, 100, 1000)
LARGEST_BYTES = 256 << 10
COPIED_WHOLE_BYTES = 64 << 20

# `kata` itself, on the first GPUs only, with what its crew used of them written down at the end.
OBSERVED = """
import contextlib, json, pathlib, sys
from tritonkata.bulk import grading
from tritonkata.cli.app import run
from tritonkata.engine import machine

all_gpus, open_crew = machine.gpus_for, grading.open_crew
machine.gpus_for = lambda engine: all_gpus(engine)[: int(sys.argv[2])]

@contextlib.contextmanager
def observed(*arguments, **more):
    with open_crew(*arguments, **more) as crew:
        yield crew
    pathlib.Path(sys.argv[1]).write_text(json.dumps(crew.busy_seconds))

grading.open_crew = observed
sys.exit(run(sys.argv[3:]))
"""


def main() -> None:
    """Measure what was asked for and keep it."""
    options = parsed()
    if options.naive is not None:
        print(json.dumps(naive(options.naive, options.kata, options.engine)))
        return
    with tempfile.TemporaryDirectory() as folder:
        found = memory(Path(folder), options) if options.memory else speed(Path(folder), options)
    print(save(options.name or ("bulk_memory" if options.memory else f"bulk_{options.engine}"), found))


def parsed() -> argparse.Namespace:
    """The options, with the engine that this machine has."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--submissions", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--engine", choices=["gpu", "interpreter"], help="default: the GPU where one answers")
    parser.add_argument("--gpus", type=int, choices=[1, 2], default=1)
    parser.add_argument("--kata", default="safe_softmax")
    parser.add_argument("--sample", type=int, default=12, help="submissions that the loop is timed on")
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--name")
    parser.add_argument("--naive", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.engine is None:
        options.engine = "interpreter" if options.memory or gpu_problem() is not None else "gpu"
    if options.engine == "gpu" and len(gpus_for("gpu")) < options.gpus:
        parser.error(f"this machine has {len(gpus_for('gpu'))} GPUs")
    return options


def speed(folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    """The class graded, on one GPU or more, and a sample of it in the loop."""
    submissions = write_class(folder / "class", options.kata, options.submissions)
    counts = range(1, options.gpus + 1) if options.engine == "gpu" else (0,)
    graded = []
    for gpus in counts:
        graded.append(grade(submissions, folder / f"grades{gpus}", options, gpus))
        print(summary(graded[-1]), flush=True)
    looped = loop(submissions, options, verdicts(folder / f"grades{counts[0]}", options.kata))
    found = {
        "kata": options.kata,
        "engine": options.engine,
        "submissions": options.submissions,
        "jobs": options.jobs,
        "seed": SEED,
        "kata_grade": graded,
        "loop": looped,
        "times_as_fast_as_the_loop": [round(one["a_minute"] / looped["a_minute"], 2) for one in graded],
        "environment": environment(),
    }
    if len(graded) > 1:
        found["two_gpus_against_one"] = round(graded[1]["a_minute"] / graded[0]["a_minute"], 2)
    print(f"loop: {looped['a_minute']} a minute; kata grade is {found['times_as_fast_as_the_loop']} times as fast")
    return found


def write_class(folder: Path, kata: str, submissions: int) -> Path:
    """One folder a student, the files of the course in turn, in an order that is shuffled once."""
    files = in_turn(kata)
    for number in range(submissions):
        text = files[number % len(files)].read_text(encoding="utf-8")
        path = folder / f"student{number:05}" / f"{kata}.py"
        path.parent.mkdir(parents=True)
        path.write_text(f"{text}\n# {number}\n", encoding="utf-8")
    return folder


def in_turn(kata: str) -> list[Path]:
    """The files that a class is made of."""
    files = [
        ROOT / "reference" / kata / "solution.py",
        *sorted((ROOT / "katas" / kata / "wrong").glob("*/*.py")),
        *sorted((ROOT / "tests" / "right" / kata).glob("*.py")),
    ]
    random.Random(SEED).shuffle(files)
    return files


def grade(submissions: Path, out: Path, options: argparse.Namespace, gpus: int) -> dict[str, Any]:
    """`kata grade` into a fresh gradebook, watched from outside."""
    busy = out.with_suffix(".busy")
    words = ["grade", str(submissions), "--kata", options.kata, "--engine", options.engine, "--seed", str(SEED)]
    words += ["--out", str(out), "--jobs", str(options.jobs), "--quiet"]
    began = time.monotonic()
    process = subprocess.Popen([sys.executable, "-c", OBSERVED, str(busy), str(gpus), *words])
    watch = MemoryWatch(process.pid)
    code = process.wait()
    seconds = time.monotonic() - began
    watch.end()
    if code != 0:
        raise SystemExit(f"kata grade ended with {code}")
    used = json.loads(busy.read_text(encoding="utf-8"))
    count = len(list(submissions.iterdir()))
    return {
        "gpus": gpus,
        "seconds": round(seconds, 1),
        "a_minute": round(60 * count / seconds, 2),
        "gpu_busy_share": {index: round(share / seconds, 3) for index, share in used.items()},
        "verdicts": dict(Counter(verdicts(out, options.kata).values())),
        **watch.peaks(),
    }


def verdicts(out: Path, kata: str) -> dict[str, str]:
    """The report's verdict for each student."""
    with open_gradebook(out) as book:
        return {record.student.id: record.report.verdict for record in book.records(kata)}


def summary(graded: dict[str, Any]) -> str:
    """One line for a terminal."""
    where = f"{graded['gpus']} GPUs, busy {graded['gpu_busy_share']}" if graded["gpus"] else "interpreter"
    peak = graded["peak_bytes_of_all_processes"] / (1 << 30)
    return f"kata grade: {graded['a_minute']} a minute in {graded['seconds']} s ({where}), peak {peak:.2f} GiB"


class MemoryWatch:
    """The most memory that a process and everything below it had, asked for twice a second.

    Memory that processes share is counted once, a part for each of them (PSS).
    """

    def __init__(self, root: int) -> None:
        self._root = root
        self._all = self._own = self._processes = 0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Stop asking."""
        self._ended.set()
        self._thread.join()

    def peaks(self) -> dict[str, int]:
        """The peaks, which need not have come together."""
        return {
            "peak_bytes_of_all_processes": self._all,
            "peak_bytes_of_the_command": self._own,
            "most_processes": self._processes,
        }

    def _watch(self) -> None:
        while not self._ended.wait(SAMPLE_SECONDS):
            sizes = {number: proportional_bytes(number) for number in (self._root, *below(self._root))}
            self._all = max(self._all, sum(sizes.values()))
            self._own = max(self._own, sizes[self._root])
            self._processes = max(self._processes, len(sizes))


def proportional_bytes(number: int) -> int:
    """A process's memory, of what it shares only its part; 0 once it has ended."""
    try:
        text = Path(f"/proc/{number}/smaps_rollup").read_text(encoding="ascii")
    except OSError:
        return 0
    (line,) = [line for line in text.splitlines() if line.startswith("Pss:")]
    return int(line.split()[1]) << 10


def below(parent: int) -> set[int]:
    """All processes below one."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
    found: set[int] = set()
    frontier = {parent}
    while frontier:
        frontier = {child for child, number in parents.items() if number in frontier} - found
        found |= frontier
    return found


def memory(folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    """The peak of memory for classes of several sizes."""
    rows = []
    for size in MEMORY_SIZES:
        submissions = folder / f"class{size}"
        for number in range(size):
            path = submissions / f"student{number:05}" / f"{options.kata}.py"
            path.parent.mkdir(parents=True)
            start = f"def {options.kata}(x:  # {number}\n# "
            path.write_text(start + "x" * (LARGEST_BYTES - len(start)), encoding="utf-8")
        graded = grade(submissions, folder / f"grades{size}", options, 0)
        rows.append({"submissions": size, "download_bytes": size * LARGEST_BYTES, **graded})
        mebibytes = graded["peak_bytes_of_the_command"] / (1 << 20)
        print(f"{size} submissions: the command had at most {mebibytes:.0f} MiB", flush=True)
    return {
        "what": "files that are no Python, which are refused before a worker starts",
        "jobs": options.jobs,
        "rows": rows,
        "environment": environment(),
    }


def loop(submissions: Path, options: argparse.Namespace, graded: dict[str, str]) -> dict[str, Any]:
    """A sample of the class, one process a submission, and what that means for all of it."""
    students = sorted(path.name for path in submissions.iterdir())
    chosen = sorted(random.Random(SEED).sample(students, min(options.sample, len(students))))
    rows = []
    files = in_turn(options.kata)
    for student in chosen:
        file = files[students.index(student) % len(files)]
        row = looped(submissions / student / f"{options.kata}.py", options)
        rows.append({"file": str(file.relative_to(ROOT)), "kata_grade": graded[student], **row})
        print(f"loop, {file.name}: {row['verdict']} in {row['seconds']} s", flush=True)
    mean = statistics.mean(row["seconds"] for row in rows)
    return {
        "a_minute": round(60 / mean, 2),
        "measured": len(rows),
        "extrapolated_seconds": round(mean * len(students), 1),
        "note": f"{len(rows)} submissions were timed; the time of all {len(students)} is extrapolated",
        "left_out": sorted({name for row in rows for name in row["left_out"]}),
        "passed_by_the_loop_alone": [
            row["file"] for row in rows if row["verdict"] == "pass" and row["kata_grade"] != "pass"
        ],
        "rows": rows,
    }


def looped(path: Path, options: argparse.Namespace) -> dict[str, Any]:
    """One submission in a process of its own."""
    command = [sys.executable, str(Path(__file__).resolve()), "--naive", str(path)]
    command += ["--kata", options.kata, "--engine", options.engine]
    variables = dict(os.environ)
    if options.engine == "interpreter":
        variables["TRITON_INTERPRET"] = "1"
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as cache:
        variables["TRITON_CACHE_DIR"] = cache
        try:
            done = subprocess.run(
                command, env=variables, capture_output=True, text=True, check=False, timeout=NAIVE_SECONDS
            )
        except subprocess.TimeoutExpired:
            return {"seconds": NAIVE_SECONDS, "verdict": "timeout", "left_out": []}
    seconds = round(time.monotonic() - began, 2)
    lines = done.stdout.splitlines()
    if done.returncode != 0 or not lines:
        return {"seconds": seconds, "verdict": f"ended with {done.returncode}", "left_out": []}
    return {"seconds": seconds, **json.loads(lines[-1])}


def naive(path: Path, slug: str, engine: str) -> dict[str, Any]:
    """The hidden tests on one submission, in this process."""
    kata = load_course(ROOT).kata(slug)
    naive_engine = InProcess(path, "cuda" if engine == "gpu" else "cpu")
    try:
        naive_engine.load()
    except LoadFailed as error:
        return {"verdict": "error", "failed": [error.fault.message], "left_out": []}
    session = run_hidden_tests(kata, naive_engine, SEED, lambda _: None)
    if session.problem is not None:
        raise SystemExit(session.problem)
    outcomes = {name: outcome for name, outcome in session.outcomes.items() if not outcome.absent}
    failed = [name for name, outcome in outcomes.items() if outcome.verdict not in ("pass", "skipped")]
    left_out = [name for name, outcome in session.outcomes.items() if outcome.absent]
    return {"verdict": "fail" if failed else "pass", "failed": failed, "left_out": left_out}


class InProcess:
    """The engine of the loop: the submission is imported here and called on torch tensors."""

    def __init__(self, path: Path, device: str) -> None:
        import torch

        self._torch: Any = torch
        self._path = path
        self._device = device
        self._module = ModuleType("submission")

    def describe(self) -> EngineReport:
        """Which of the two it stands for."""
        if self._device == "cuda":
            return EngineReport("gpu", self._torch.cuda.get_device_name(), "")
        return EngineReport("interpreter", processor_name(), "")

    def load(self) -> None:
        """Import the file.

        Raises:
            LoadFailed: that failed.
        """
        spec = importlib.util.spec_from_file_location("submission", self._path)
        assert spec is not None
        assert spec.loader is not None
        self._module = importlib.util.module_from_spec(spec)
        sys.modules["submission"] = self._module
        try:
            spec.loader.exec_module(self._module)
        except Exception as error:
            raise LoadFailed(Fault("runtime_error", "load", f"{type(error).__name__}: {error}"[:2000])) from error

    def compile(self, entry: Entry, arguments: tuple[Array, ...]) -> LaunchPlan | Fault:
        """Call it once; there is no plan to look at."""
        fault = self.run(entry, arguments).fault
        return fault or LaunchPlan("", len(arguments), (), (), (), ())

    def run(self, entry: Entry, arguments: tuple[Array, ...]) -> Observation:
        """Call it on copies of the arguments."""
        tensors = [self._tensor(argument) for argument in arguments]
        before = [tensor.clone() for tensor in tensors]
        try:
            result = getattr(self._module, entry.name)(*tensors)
            results = result if isinstance(result, tuple) else (result,)
            outputs = tuple(self._array(one) for one in results)
        except Exception as error:
            # As a learner's loop would: whatever happens is a failed case.
            fault = Fault("runtime_error", "host", f"{type(error).__name__}: {error}"[:2000])
            return Observation(self.describe().name, fault=fault)
        changed = [
            name
            for name, one, other in zip(entry.parameters, tensors, before, strict=True)
            if not self._torch.equal(self._torch.nan_to_num(one), self._torch.nan_to_num(other))
        ]
        return Observation(
            self.describe().name,
            outputs=outputs,
            inputs_changed=tuple(changed),
            returned_tuple=isinstance(result, tuple),
        )

    def access(self, entry: Entry, arguments: tuple[Array, ...]) -> Observation:
        """The same: nothing here sees an access."""
        return self.run(entry, arguments)

    def traffic(self, entry: Entry, arguments: tuple[Array, ...], *, counted: bool = True) -> Observation:  # noqa: ARG002
        """Nothing: bytes are not counted here."""
        pytest.skip("bytes are not counted")

    def time(
        self,
        entry: Entry,  # noqa: ARG002
        cases: Sequence[tuple[Array, ...]],  # noqa: ARG002
        copy_bytes: int,  # noqa: ARG002
        rounds: int = TIMED_ROUNDS,  # noqa: ARG002
    ) -> tuple[Observation, ...]:
        """Nothing: no copy is timed beside it."""
        pytest.skip("nothing is timed")

    def evaluate(self, name: str, calls: tuple[tuple[Value, ...], ...]) -> tuple[Value, ...] | Fault:
        """A constant, or each call of a function."""
        try:
            found = getattr(self._module, name)
            return tuple(found(*call) for call in calls) if calls else (found,)
        except Exception as error:
            return Fault("runtime_error", "host", f"{type(error).__name__}: {error}"[:2000])

    def resources(self) -> tuple[Resources, ...]:
        """None."""
        return ()

    def notes(self) -> tuple[str, ...]:
        """None."""
        return ()

    def close(self) -> None:
        """Nothing: the process ends."""

    def _tensor(self, array: Array) -> Any:
        """A tensor of the array's layout, with what lies between its rows where that is not too much."""
        spec = spec_of(array)
        dtype = getattr(self._torch, spec.dtype)
        storage = self._torch.zeros(spec.storage_elements, dtype=dtype, device=self._device)
        owner = array
        while isinstance(owner.base, np.ndarray):
            owner = owner.base
        if owner.size == spec.storage_elements and owner.nbytes <= COPIED_WHOLE_BYTES and owner.flags.c_contiguous:
            storage.copy_(self._values(owner.reshape(-1)))
        view = storage.as_strided(spec.shape, spec.strides, spec.offset)
        if array.size and 0 not in spec.strides:
            view.copy_(self._values(np.ascontiguousarray(array)))
        return view

    def _values(self, array: Array) -> Any:
        if array.dtype == ml_dtypes.bfloat16:
            return self._torch.from_numpy(array.view(np.int16).copy()).view(self._torch.bfloat16)
        return self._torch.from_numpy(array.copy())

    def _array(self, tensor: Any) -> Array:
        host = tensor.detach().to("cpu")
        if host.dtype == self._torch.bfloat16:
            return np.asarray(host.view(self._torch.int16).numpy().view(ml_dtypes.bfloat16))
        return np.asarray(host.numpy())


if __name__ == "__main__":
    main()
