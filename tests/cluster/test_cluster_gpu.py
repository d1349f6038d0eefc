"""A class graded on a cluster in which one worker has a GPU."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("distributed")

from clusters import class_of, scheduler, sorted_wrong, wait_for, worker

from tritonkata.bulk.cluster import grade_on_cluster
from tritonkata.bulk.one import digest_of
from tritonkata.courses import load_course
from tritonkata.gradebook.opening import open_gradebook
from tritonkata.gradebook.types import Settings
from tritonkata.model.course import Kata
from tritonkata.model.report import Report

pytestmark = pytest.mark.gpu

COURSE = Path(__file__).resolve().parents[1] / "course"
COUNT = 12
CARD = ("--nthreads", "4", "--resources", "GPU=4")


@pytest.fixture(scope="module")
def kata() -> Kata:
    return load_course(COURSE).kata("doubled")


def gpu_seconds_of(file: str) -> dict[str, list[float]]:
    """Of each worker, by its name, how long each crew that it has started has had GPUs."""
    from dask.distributed import Client

    def seconds_here() -> list[float]:
        from tritonkata.bulk import there

        return [sum(crew.busy_seconds.values()) for crew in there._crews.values()]

    with Client(scheduler_file=file) as client:  # type: ignore[no-untyped-call]
        found = client.run(seconds_here)
        return {info["id"]: found[where] for where, info in client.scheduler_info()["workers"].items()}


def graded(kata: Kata, folder: Path, outcomes_in: Any) -> dict[str, Report]:
    """The reports of a class on a new cluster, by student; `outcomes_in` takes the outcomes, and the cluster's file."""
    with open_gradebook(folder / "grades", create=True, grading=True) as book:
        run = book.run("doubled", Settings("gpu", digest_of(kata)), 7)
        book.take_in("doubled", class_of(kata, COUNT), ())
        with scheduler(folder) as file:
            outcomes_in(file, grade_on_cluster(book, run, kata, file))
        return {record.student.id: record.report for record in book.records("doubled")}


def assert_graded_on_a_gpu(kata: Kata, reports: dict[str, Report]) -> None:
    # The compiler merges the two loads of one that reads everything twice, so the hardware counts one.
    wrong = ["pass" if path.parent.name == "extra_pass" else "fail" for path in sorted_wrong(kata)]
    expected = ["pass", "fail", *wrong]
    assert sorted(reports) == sorted(f"student{n}" for n in range(COUNT))
    for number in range(COUNT):
        report = reports[f"student{number}"]
        assert report.verdict == expected[number % len(expected)], report
        assert report.engine.name == "gpu"
        assert report.engine.device


def test_kernels_are_traced_by_any_worker_and_replayed_by_the_one_with_the_gpu(kata: Kata, tmp_path: Path) -> None:
    seconds: dict[str, list[float]] = {}

    def on_two_workers(file: str, outcomes: Any) -> None:
        with worker(tmp_path, "plain"), worker(tmp_path, "card", *CARD):
            assert len(list(outcomes)) == COUNT
            seconds.update(gpu_seconds_of(file))

    assert_graded_on_a_gpu(kata, graded(kata, tmp_path, on_two_workers))
    assert seconds["card"][0] > 0
    # It has a crew, so it has traced something, and that had no turn on the GPU.
    assert seconds["plain"] == [0]


def test_a_worker_with_a_gpu_that_is_killed_costs_no_submission(kata: Kata, tmp_path: Path) -> None:
    def on_one_after_another(_: str, outcomes: Any) -> None:
        with worker(tmp_path, "first", *CARD) as first:
            got = [next(outcomes)]
            os.killpg(first.pid, signal.SIGKILL)
            wait_for(lambda: first.poll() is not None, tmp_path)
        with worker(tmp_path, "second", *CARD):
            got += outcomes
        assert len({outcome.submission.student for outcome in got}) == COUNT

    assert_graded_on_a_gpu(kata, graded(kata, tmp_path, on_one_after_another))
