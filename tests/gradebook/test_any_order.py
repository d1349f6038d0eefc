"""Whatever is done in whatever order, the gradebook says what a few dictionaries would."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from contextlib import ExitStack
from pathlib import Path

from gradebook_samples import KATA, handed_in, report, run_of, take_in, waiting
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tritonkata.gradebook.opening import open_gradebook
from tritonkata.gradebook.store import Gradebook
from tritonkata.gradebook.types import Run
from tritonkata.model.record import Override

NAMES = st.sampled_from(["ann", "ben", "cem"])
SOURCES = st.sampled_from([b"x = 1\n", b"x = 2\n", None])


class Class(RuleBasedStateMachine):
    """A download that changes, runs with two seeds, decisions by hand, and a gradebook that is closed in between."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.stack = ExitStack()
        self.download: dict[str, bytes | None] = {}
        self.known: dict[str, bytes | None] = {}
        self.reports: dict[str, tuple[int, float, str]] = {}
        self.asked: set[str] = set()
        self.earlier = 0
        self.decided: dict[str, float] = {}
        self.present: set[str] = set()
        self.seed = 1

    @initialize()
    def open(self) -> None:
        self.book: Gradebook = self.stack.enter_context(open_gradebook(self.folder, create=True, grading=True))

    @rule()
    def reopen(self) -> None:
        self.stack.close()
        self.open()

    @rule(name=NAMES, source=SOURCES)
    def hand_in(self, name: str, source: bytes | None) -> None:
        self.download[name] = source

    @rule(name=NAMES)
    def leave(self, name: str) -> None:
        self.download.pop(name, None)

    @rule()
    def take_in(self) -> None:
        for name, source in self.download.items():
            if self.known.get(name, source) != source and name in self.reports:
                del self.reports[name]
                self.asked.discard(name)
                self.earlier += 1
            self.known[name] = source
        problem = "it cannot be read"
        handed = [handed_in(name, source, problem="" if source else problem) for name, source in self.download.items()]
        assert take_in(self.book, *handed) == len(handed)
        self.present = set(self.download)

    @rule(seed=st.sampled_from([1, 2]))
    def choose(self, seed: int) -> None:
        self.seed = seed

    @rule(score=st.integers(0, 5), verdict=st.sampled_from(["fail", "pass", "error", "grader_error"]))
    def grade_one(self, score: int, verdict: str) -> None:
        run = self._run()
        one = next(self.book.pending(run), None)
        if one is None:
            return
        assert one.source == self.known[one.student]
        self.earlier += one.student in self.reports
        self.book.put_report(one.id, run, report(float(score), verdict))  # type: ignore[arg-type]
        self.asked.discard(one.student)
        self.reports[one.student] = (self.seed, float(score), verdict)

    @rule(name=NAMES)
    def ask_again(self, name: str) -> None:
        there = name in self.reports and name in self.present
        assert self.book.ask_again(KATA, [name], None, None) == there
        if there:
            self.asked.add(name)

    @precondition(lambda self: self.present)
    @rule(data=st.data(), score=st.integers(0, 9) | st.none())
    def decide(self, data: st.DataObject, score: int | None) -> None:
        name = data.draw(st.sampled_from(sorted(self.present)))
        if score is None:
            self.decided.pop(name, None)
            self.book.override(KATA, name, None, "taken back", "T. A.")
        else:
            self.decided[name] = float(score)
            self.book.override(KATA, name, Override(float(score), "why", "T. A.", "2030-01-01T00:00:00+00:00"))

    @invariant()
    def pending_is_what_has_no_sound_report_of_this_run(self) -> None:
        if not hasattr(self, "book"):
            return
        settled = {
            name
            for name, (seed, _, verdict) in self.reports.items()
            if seed == self.seed and verdict != "grader_error" and name not in self.asked
        }
        assert sorted(waiting(self.book, self._run())) == sorted(self.present - settled)

    @invariant()
    def records_are_of_who_is_present_and_has_a_report(self) -> None:
        if not hasattr(self, "book"):
            return
        wanted = {
            name: (self.decided.get(name, score), score)
            for name, (_, score, _) in self.reports.items()
            if name in self.present
        }
        found = {one.student.id: (one.score, one.report.score) for one in self.book.records(KATA)}
        assert found == wanted
        assert self._earlier_reports() == self.earlier
        assert self.book.count(KATA) == len(self.present)

    def teardown(self) -> None:
        self.stack.close()
        shutil.rmtree(self.folder)

    def _earlier_reports(self) -> int:
        connection = sqlite3.connect(self.book.path)
        (count,) = connection.execute("SELECT count(*) FROM earlier_report").fetchone()
        connection.close()
        return int(count)

    def _run(self) -> Run:
        return run_of(self.book, self.seed)


Class.TestCase.settings = settings(max_examples=10, stateful_step_count=25, deadline=None)
TestAnyOrder = Class.TestCase
