"""Submissions whose grade proved doubtful once their GPU was set aside."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from class_of_files import COURSE, quick

from tritonkata.bulk.grading import Workforce, grade_pending
from tritonkata.bulk.one import graded
from tritonkata.courses import load_course
from tritonkata.crew.crew import NobodyLeft
from tritonkata.crew.job import Job
from tritonkata.crew.member import Answer, Call
from tritonkata.gradebook.opening import open_gradebook
from tritonkata.gradebook.types import Settings, Submitted
from tritonkata.model.record import Student

NAMES = [f"s{number:03}" for number in range(200)]


class DoubtfulCrew:
    """A crew in this process; at the very end its first job comes once more, with the answer that `again` makes."""

    def __init__(self, again: Callable[[Job[Any]], Answer]) -> None:
        self.again = again
        self.jobs: list[Job[Any]] = []
        self.ready: deque[Job[Any]] = deque()
        self.repeated = False

    @property
    def outstanding(self) -> int:
        return len(self.ready)

    def submit(self, function: Any, *arguments: Any) -> Job[Any]:
        job: Job[Any] = Job(Call(function, arguments, {}))
        job.answer(Answer(function(*arguments)))
        self.jobs.append(job)
        self.ready.append(job)
        return job

    def completed(self) -> Job[Any]:
        job = self.ready.popleft()
        if len(self.jobs) == len(NAMES) and not self.repeated:
            self.repeated = True
            self.jobs[0].answer(self.again(self.jobs[0]))
            self.ready.append(self.jobs[0])
        return job


class Graded:
    """A class graded with such a crew: whose reports came, what the gradebook holds, and what is pending."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch, again: Callable[[Job[Any]], Answer]) -> None:
        @contextmanager
        def doubtful(*arguments: Any, **more: Any) -> Iterator[DoubtfulCrew]:
            yield DoubtfulCrew(again)

        patch.setattr("tritonkata.bulk.grading.open_crew", doubtful)
        kata = load_course(COURSE).kata("doubled")
        self.came: list[str] = []
        self.problem = ""
        with open_gradebook(folder, create=True, grading=True) as book:
            run = book.run(kata.slug, Settings("interpreter", "digest"), 7)
            book.take_in(kata.slug, (Submitted((Student(name),), f"{name}.py", quick(0)) for name in NAMES), [])
            try:
                for outcome in grade_pending(book, run, kata, Workforce(1)):
                    self.came.append(outcome.submission.student)
            except NobodyLeft as error:
                self.problem = str(error)
            faults = {record.student.id: record.report.fault for record in book.records(kata.slug)}
            self.messages = {name: fault.message for name, fault in faults.items() if fault is not None}
            self.pending = [one.student for one in book.pending(run)]


def test_the_later_report_is_kept_however_many_were_graded_since(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def another_grade(job: Job[Any]) -> Answer:
        kata, run, one = job.call.args
        return Answer(graded(kata, run, replace(one, source=b"\0")))

    found = Graded(tmp_path, monkeypatch, another_grade)
    assert sorted(found.came) == sorted([*NAMES, NAMES[0]])
    assert "NUL byte" in found.messages[NAMES[0]]
    assert all("SyntaxError" in found.messages[name] for name in NAMES[1:])
    assert (found.problem, found.pending) == ("", [])


def test_without_a_gpu_left_what_is_doubtful_is_pending_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = Graded(tmp_path, monkeypatch, lambda job: Answer(error=NobodyLeft("no GPU is left to grade on")))
    assert found.problem == "no GPU is left to grade on"
    assert "no GPU is left to grade on; run `kata doctor`" in found.messages[NAMES[0]]
    assert found.pending == [NAMES[0]]
