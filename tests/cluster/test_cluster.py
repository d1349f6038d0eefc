"""A class graded on a real scheduler and real workers on this machine, one of which is killed in the middle."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest

pytest.importorskip("distributed")

from clusters import WAIT_SECONDS, class_of, scheduler, worker

from tritonkata.bulk import there
from tritonkata.bulk.cluster import ClusterProblem, grade_on_cluster
from tritonkata.bulk.one import digest_of
from tritonkata.bulk.parcel import packed, unpacked
from tritonkata.courses import load_course
from tritonkata.gradebook.opening import open_gradebook
from tritonkata.gradebook.types import Settings
from tritonkata.model.course import Kata

COURSE = Path(__file__).resolve().parents[1] / "course"


@pytest.fixture(scope="module")
def kata() -> Kata:
    return load_course(COURSE).kata("doubled")


def test_a_kata_survives_the_journey(kata: Kata) -> None:
    there = unpacked(packed(kata), "doubled")
    assert there.folder != kata.folder
    assert there.file == kata.file
    assert (there.oracle.read_bytes(), there.skeleton.read_bytes()) == (
        kata.oracle.read_bytes(),
        kata.skeleton.read_bytes(),
    )
    assert not list(there.folder.rglob("wrong"))


@pytest.mark.slow
def test_a_worker_that_is_killed_costs_no_submission(kata: Kata, tmp_path: Path) -> None:
    expected = ["pass", "fail", *["fail"] * len(list((kata.folder / "wrong").glob("*/*.py")))]
    count = 7
    with open_gradebook(tmp_path / "grades", create=True, grading=True) as book:
        run = book.run("doubled", Settings("interpreter", digest_of(kata)), 7)
        book.take_in("doubled", class_of(kata, count), ())
        with scheduler(tmp_path) as file, worker(tmp_path, "one") as first, worker(tmp_path, "two"):
            outcomes = grade_on_cluster(book, run, kata, file)
            got = [next(outcomes)]
            os.killpg(first.pid, signal.SIGKILL)
            got += outcomes
        assert sorted(outcome.submission.student for outcome in got) == [f"student{n}" for n in range(count)]
        verdicts = {record.student.id: record.report.verdict for record in book.records("doubled")}
    assert verdicts == {f"student{n}": expected[n % len(expected)] for n in range(count)}


@pytest.mark.slow
def test_submissions_are_traced_by_any_worker_and_graded_by_those_with_the_resource(kata: Kata, tmp_path: Path) -> None:
    from dask.distributed import Client

    def crews_here() -> list[str]:
        """Runs on a worker: the engines that it has started a crew for."""
        from tritonkata.bulk import there

        return list(there._crews)

    with open_gradebook(tmp_path / "grades", create=True, grading=True) as book:
        run = book.run("doubled", Settings("interpreter", digest_of(kata)), 7)
        book.take_in("doubled", class_of(kata, 12), ())
        with scheduler(tmp_path) as file, worker(tmp_path, "plain"), worker(tmp_path, "card", "--resources", "GPU=1"):
            outcomes = list(grade_on_cluster(book, run, kata, file, apart=True))
            with Client(scheduler_file=file) as client:  # type: ignore[no-untyped-call]
                crews = client.run(crews_here)
                names = {info["id"]: where for where, info in client.scheduler_info()["workers"].items()}
    assert sorted(outcome.submission.student for outcome in outcomes) == sorted(f"student{n}" for n in range(12))
    assert [one.report.verdict for one in outcomes if one.report.verdict == "grader_error"] == []
    # The one without the resource has graded nothing, so what it had a crew for is tracing.
    assert crews[names["plain"]] == ["interpreter"]
    assert crews[names["card"]] == ["interpreter"]


@pytest.mark.slow
def test_where_no_worker_can_grade_it_is_told_and_waited_for(kata: Kata, tmp_path: Path) -> None:
    with ExitStack() as stack, open_gradebook(tmp_path / "grades", create=True, grading=True) as book:
        run = book.run("doubled", Settings("interpreter", digest_of(kata)), 7)
        book.take_in("doubled", class_of(kata, 2), ())
        file = stack.enter_context(scheduler(tmp_path))
        more = [
            lambda: stack.enter_context(worker(tmp_path, "plain")),
            lambda: stack.enter_context(worker(tmp_path, "card", "--resources", "GPU=1")),
        ]
        told: list[str] = []

        def tell(line: str) -> None:
            told.append(line)
            more[len(told) - 1]()

        outcomes = list(grade_on_cluster(book, run, kata, file, apart=True, tell=tell))
    assert len(outcomes) == 2
    assert [line.split(";")[0] for line in told] == [
        "waiting: no worker is connected to the scheduler",
        "waiting: the only worker has not the resource GPU",
    ]


@pytest.mark.slow
def test_stopping_does_not_wait_for_workers_that_there_are_not(kata: Kata, tmp_path: Path) -> None:
    told: list[str] = []
    with open_gradebook(tmp_path / "grades", create=True, grading=True) as book:
        run = book.run("doubled", Settings("interpreter", digest_of(kata)), 7)
        book.take_in("doubled", class_of(kata, 2), ())
        with scheduler(tmp_path) as file:
            outcomes = grade_on_cluster(book, run, kata, file, stopping=lambda: bool(told), tell=told.append)
            assert list(outcomes) == []
        assert len(list(book.pending(run))) == 2
    assert len(told) == 1


NOBODY_LEFT = """
import contextlib
from tritonkata.bulk import there
from tritonkata.crew.crew import NobodyLeft

class Crew:
    def submit(self, *_):
        raise NobodyLeft("no GPU is left to grade on")

@contextlib.contextmanager
def open_crew(*_, **__):
    yield Crew()

there.open_crew = open_crew
"""


@pytest.mark.slow
def test_a_worker_that_can_grade_no_more_leaves(kata: Kata, tmp_path: Path) -> None:
    from dask.distributed import Client

    (tmp_path / "preload.py").write_text(NOBODY_LEFT)
    preload = ("--preload", str(tmp_path / "preload.py"))
    with open_gradebook(tmp_path / "grades", create=True, grading=True) as book:
        run = book.run("doubled", Settings("interpreter", digest_of(kata)), 7)
        book.take_in("doubled", class_of(kata, 8), ())
        card = ("--resources", "GPU=1")
        with (
            scheduler(tmp_path) as file,
            worker(tmp_path, "bad", *card, *preload),
            worker(tmp_path, "good", *card),
            Client(scheduler_file=file) as client,  # type: ignore[no-untyped-call]
        ):
            client.wait_for_workers(2, timeout=WAIT_SECONDS)
            outcomes = list(grade_on_cluster(book, run, kata, file, apart=True))
            left = [one["id"] for one in client.scheduler_info(n_workers=-1)["workers"].values()]
    assert [outcome.report.verdict for outcome in outcomes].count("grader_error") == 0
    assert len(outcomes) == 8
    assert left == ["good"]
    assert "no GPU is left to grade on" in (tmp_path / "bad.log").read_text()


REPEATED = """
import contextlib
from tritonkata.bulk import there

# A preloaded module may be run twice.
real = there.__dict__.setdefault("real_open_crew", there.open_crew)

@contextlib.contextmanager
def open_crew(*arguments, **more):
    with real(*arguments, **more) as crew:
        completed, seen = crew.completed, []

        def first_job_twice():
            if len(seen) == 2:
                seen.append(None)
                return seen[0]
            seen.append(completed())
            return seen[-1]

        crew.completed = first_job_twice
        yield crew

there.open_crew = open_crew
"""


@pytest.mark.slow
def test_what_a_gpu_graded_that_was_set_aside_is_graded_again(kata: Kata, tmp_path: Path) -> None:
    """A crew makes its last calls again; there the first one comes again after the second."""
    (tmp_path / "preload.py").write_text(REPEATED)
    with open_gradebook(tmp_path / "grades", create=True, grading=True) as book:
        run = book.run("doubled", Settings("interpreter", digest_of(kata)), 7)
        book.take_in("doubled", class_of(kata, 4), ())
        with scheduler(tmp_path) as file, worker(tmp_path, "one", "--preload", str(tmp_path / "preload.py")):
            outcomes = list(grade_on_cluster(book, run, kata, file))
    students = [outcome.submission.student for outcome in outcomes]
    assert sorted(set(students)) == [f"student{n}" for n in range(4)]
    assert len(students) == 5
    assert [outcome for outcome in outcomes if outcome.report.verdict == "grader_error"] == []


@pytest.mark.slow
def test_a_scheduler_that_comes_back_is_given_the_rest(kata: Kata, tmp_path: Path) -> None:
    with open_gradebook(tmp_path / "grades", create=True, grading=True) as book:
        run = book.run("doubled", Settings("interpreter", digest_of(kata)), 7)
        book.take_in("doubled", class_of(kata, 4), ())
        with scheduler(tmp_path) as file, worker(tmp_path, "one"):
            outcomes = grade_on_cluster(book, run, kata, file)
            next(outcomes)
        with scheduler(tmp_path), worker(tmp_path, "two"):
            rest = list(outcomes)
        assert 1 <= len(rest) <= 3
        assert sum(1 for _ in book.records("doubled")) == 4
        assert not list(book.pending(run))


@pytest.mark.slow
def test_a_scheduler_that_is_being_started_again_is_waited_for(kata: Kata, tmp_path: Path) -> None:
    """It removes its file when it ends, and writes another one."""
    told: list[str] = []
    with ExitStack() as stack, open_gradebook(tmp_path / "grades", create=True, grading=True) as book:

        def tell(line: str) -> None:
            told.append(line)
            stack.enter_context(scheduler(tmp_path))
            stack.enter_context(worker(tmp_path, "two"))

        run = book.run("doubled", Settings("interpreter", digest_of(kata)), 7)
        book.take_in("doubled", class_of(kata, 4), ())
        with scheduler(tmp_path) as file, worker(tmp_path, "one"):
            outcomes = grade_on_cluster(book, run, kata, file, tell=tell)
            next(outcomes)
        Path(file).unlink(missing_ok=True)
        assert len(list(outcomes)) == 3
        assert not list(book.pending(run))
    assert [line.partition(": the cluster is away")[0] for line in told] == [f"waiting: {file}"]


@pytest.mark.slow
def test_what_a_cluster_cannot_grade_is_told_once_and_left_to_the_next_command(kata: Kata, tmp_path: Path) -> None:
    """Its machines have no sandbox, which the run began with."""
    empty = tmp_path / "empty"
    empty.mkdir()
    with open_gradebook(tmp_path / "grades", create=True, grading=True) as book:
        run = book.run("doubled", Settings("interpreter", digest_of(kata)), 7)
        book.take_in("doubled", class_of(kata, 3), ())
        with scheduler(tmp_path) as file, worker(tmp_path, "one", PATH=str(empty)):
            outcomes = [outcome for outcome, _ in zip(grade_on_cluster(book, run, kata, file), range(6), strict=False)]
        assert sorted(outcome.submission.student for outcome in outcomes) == ["student0", "student1", "student2"]
        faults = [outcome.report.fault for outcome in outcomes]
        assert all(fault is not None and "bubblewrap" in fault.message for fault in faults), faults
        assert len(list(book.pending(run))) == 3


def test_a_cluster_that_is_not_there_is_one_line_and_nothing_is_lost(
    kata: Kata, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tritonkata.bulk.cluster._CONNECT_SECONDS", 1.0)
    with open_gradebook(tmp_path / "grades", create=True, grading=True) as book:
        run = book.run("doubled", Settings("interpreter", digest_of(kata)), 7)
        book.take_in("doubled", class_of(kata, 2), ())
        told: list[str] = []
        with pytest.raises(ClusterProblem, match=r"127\.0\.0\.1:9: the cluster is away .* the same command"):
            list(grade_on_cluster(book, run, kata, "tcp://127.0.0.1:9", patience_seconds=2.0, tell=told.append))
        assert len(list(book.pending(run))) == 2
    assert [line.split(" (")[0] for line in told] == ["waiting: tcp://127.0.0.1:9: the cluster is away"]


@pytest.mark.parametrize("content", [None, "{", "[]", '{"id": 3}', "2026 INFO Scheduler at tcp://127.0.0.1:9"])
def test_what_can_be_no_cluster_is_told_at_once(kata: Kata, tmp_path: Path, content: str | None) -> None:
    file = tmp_path / "scheduler.json"
    if content is not None:
        file.write_text(content)
    with open_gradebook(tmp_path / "grades", create=True, grading=True) as book:
        run = book.run("doubled", Settings("interpreter", digest_of(kata)), 7)
        book.take_in("doubled", class_of(kata, 1), ())
        with pytest.raises(ClusterProblem, match=r"no such scheduler file|this is no scheduler file"):
            list(grade_on_cluster(book, run, kata, str(file)))


def test_threads_of_a_worker_share_one_crew(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[object] = []

    @contextlib.contextmanager
    def slowly(*_: object, **__: object) -> Iterator[object]:
        opened.append(object())
        time.sleep(0.2)
        yield opened[-1]

    monkeypatch.setattr(there, "open_crew", slowly)
    monkeypatch.setattr(there, "_crews", {})
    monkeypatch.setattr("dask.distributed.get_worker", lambda: SimpleNamespace(state=SimpleNamespace(nthreads=4)))
    monkeypatch.setattr(there, "_watch", lambda *_: None)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(there._crew, ["interpreter"] * 4))
    assert found == opened * 4


def test_the_settings_of_a_run_can_be_sent(kata: Kata) -> None:
    settings = Settings("gpu", digest_of(kata), "sm_80", recompile=True)
    assert msgspec.json.decode(msgspec.json.encode(settings), type=Settings) == settings
