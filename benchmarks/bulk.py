"""How fast `kata grade` grades a class, and in how much memory, against the loop that people write.

The class is made of the kata's solution, its wrong examples and the right kernels of the tests, in turn, each with a
comment of its own. The loop starts one Python process a submission, one after another: it imports torch, Triton and the
submission, and runs the same hidden tests on the same inputs, without a sandbox and without counters, so that checks
which need counted bytes or times are left out. A sample of the class is timed that way and the rest is extrapolated.

    python benchmarks/bulk.py [--submissions N] [--jobs N] [--engine gpu|interpreter] [--gpus N] [--kata SLUG]
    [--sample N] [--name NAME]
    python benchmarks/bulk.py --memory [--jobs N]

With `--gpus 2` the class is graded on one GPU and on two. With `--memory` only the peak of memory is measured, for
classes of 10, 100 and 1,000 submissions to the small kata of the tests, each almost as large as one may be.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from common import environment, save, started_again
from memory_watch import MemoryWatch
from tritonkata.engine.machine import gpu_problem, gpus_for
from tritonkata.gradebook.opening import open_gradebook
from tritonkata.model.report import Report

ROOT = Path(__file__).resolve().parents[1]
SEED = 20
NAIVE_SECONDS = 300.0
MEMORY_SIZES = (10, 100, 1000)
LARGE_BYTES = 200 << 10
SMALL_KATA = "doubled"
SMALL_COURSE = ROOT / "tests" / "course"

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
    with tempfile.TemporaryDirectory() as folder:
        name = options.name or ("bulk_memory" if options.memory else f"bulk_{options.engine}")
        # What is measured is kept, also where the rest is ended.
        for found in (memory if options.memory else speed)(Path(folder), options):
            print(save(name, found), flush=True)


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
    options = parser.parse_args()
    if options.engine is None:
        options.engine = "interpreter" if options.memory or gpu_problem() is not None else "gpu"
    if options.engine == "gpu" and len(gpus_for("gpu")) < options.gpus:
        parser.error(f"this machine has {len(gpus_for('gpu'))} GPUs")
    return options


def speed(folder: Path, options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """The class graded, on one GPU or more, and a sample of it in the loop; what is known after each part."""
    submissions = write_class(folder / "class", options.kata, options.submissions)
    counts = range(1, options.gpus + 1) if options.engine == "gpu" else (0,)
    graded: list[dict[str, Any]] = []
    found = {
        "kata": options.kata,
        "engine": options.engine,
        "submissions": options.submissions,
        "jobs": options.jobs,
        "seed": SEED,
        "kata_grade": graded,
        "environment": environment(),
    }
    for gpus in counts:
        graded.append(grade(submissions, folder / f"grades{gpus}", options, gpus))
        print(summary(graded[-1]), flush=True)
        yield found
    if len(graded) > 1:
        found["two_gpus_against_one"] = round(graded[1]["a_minute"] / graded[0]["a_minute"], 2)
    looped = loop(submissions, options, verdicts(folder / f"grades{counts[0]}", options.kata))
    found["loop"] = looped
    found["times_as_fast_as_the_loop"] = [round(one["a_minute"] / looped["a_minute"], 2) for one in graded]
    print(f"loop: {looped['a_minute']} a minute; kata grade is {found['times_as_fast_as_the_loop']} times as fast")
    yield found


def course_of(kata: str) -> Path:
    """Where the kata's course lies."""
    return SMALL_COURSE if kata == SMALL_KATA else ROOT


def write_class(folder: Path, kata: str, submissions: int, nbytes: int = 0) -> Path:
    """One folder a student, the files of the course in turn, in an order that is shuffled once.

    A comment makes each different, and as long as `nbytes`.
    """
    files = in_turn(kata)
    for number in range(submissions):
        text = files[number % len(files)].read_text(encoding="utf-8")
        path = folder / f"student{number:05}" / f"{kata}.py"
        path.parent.mkdir(parents=True)
        text = f"{text}\n# {number}\n"
        path.write_text(text + "#".ljust(nbytes - len(text.encode()), "x"), encoding="utf-8")
    return folder


def in_turn(kata: str) -> list[Path]:
    """The files that a class is made of."""
    files = [
        course_of(kata) / "reference" / kata / "solution.py",
        *sorted((course_of(kata) / "katas" / kata / "wrong").glob("*/*.py")),
        *sorted((ROOT / "tests" / "right" / kata).glob("*.py")),
    ]
    random.Random(SEED).shuffle(files)
    return files


def grade(submissions: Path, out: Path, options: argparse.Namespace, gpus: int) -> dict[str, Any]:
    """`kata grade` into a fresh gradebook, watched from outside."""
    busy = out.with_suffix(".busy")
    words = ["--course", str(course_of(options.kata)), "grade", str(submissions), "--kata", options.kata]
    words += ["--engine", options.engine, "--seed", str(SEED)]
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
        "launcher_started_again": started_again(reports(out, options.kata).values()),
        **watch.peaks(),
    }


def reports(out: Path, kata: str) -> dict[str, Report]:
    """The report of each student."""
    with open_gradebook(out) as book:
        return {record.student.id: record.report for record in book.records(kata)}


def verdicts(out: Path, kata: str) -> dict[str, str]:
    """The report's verdict for each student."""
    return {student: report.verdict for student, report in reports(out, kata).items()}


def summary(graded: dict[str, Any]) -> str:
    """One line for a terminal."""
    where = f"{graded['gpus']} GPUs, busy {graded['gpu_busy_share']}" if graded["gpus"] else "interpreter"
    peak = graded["peak_bytes_of_all_processes"] / (1 << 30)
    return f"kata grade: {graded['a_minute']} a minute in {graded['seconds']} s ({where}), peak {peak:.2f} GiB"


def memory(folder: Path, options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """The peak of memory for classes of several sizes; what is known after all of them."""
    rows = []
    options.kata = SMALL_KATA
    for size in MEMORY_SIZES:
        submissions = write_class(folder / f"class{size}", SMALL_KATA, size, LARGE_BYTES)
        graded = grade(submissions, folder / f"grades{size}", options, 0)
        rows.append({"submissions": size, "download_bytes": size * LARGE_BYTES, **graded})
        mebibytes = graded["peak_bytes_of_the_command"] / (1 << 20)
        print(f"{summary(graded)}; the command itself had at most {mebibytes:.0f} MiB", flush=True)
    yield {
        "what": "submissions to the small kata of the tests, graded on the interpreter, each filled up with a comment",
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
    words = [str(path), options.kata, options.engine, str(SEED)]
    command = [sys.executable, str(ROOT / "benchmarks" / "naive.py"), *words]
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


if __name__ == "__main__":
    main()
