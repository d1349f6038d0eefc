"""The pytest plugin that runs a kata's hidden tests and turns them into check results."""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import msgspec
import numpy as np
import pytest

from tritonkata.engine.base import Engine
from tritonkata.engine.client import GraderError, LoadFailed
from tritonkata.hidden.asserts import CandidateFault, CheckFailed
from tritonkata.hidden.budget import TrafficLedger, ledger
from tritonkata.hidden.candidate import Call, Candidate, TimedCall, case_of
from tritonkata.hidden.collecting import collecting_problem
from tritonkata.hidden.course_code import CourseFault
from tritonkata.hidden.fixtures import no_fixture, require_fixtures
from tritonkata.hidden.isolation import run_pytest
from tritonkata.hidden.marks import MARKER, CheckMark, check_mark
from tritonkata.hidden.oracle import Oracle
from tritonkata.hidden.places import place_of, place_of_test
from tritonkata.model.course import Kata
from tritonkata.model.faults import Fault, Verdict
from tritonkata.model.report import Evidence

Progress = Callable[[str], None]


@dataclass
class Outcome:
    """What became of one check so far. The first failure decides; `call` is the case it happened on."""

    mark: CheckMark
    verdict: Verdict = "pass"
    message: str = ""
    evidence: Evidence = field(default_factory=Evidence)
    call: Call | None = None
    seconds: float = 0.0
    ran: int = 0
    absent: str | None = None


@dataclass
class Session:
    """Everything that running the hidden tests gave."""

    outcomes: dict[str, Outcome]
    calls: list[Call]
    traffic: TrafficLedger
    speeds: list[TimedCall] = field(default_factory=list)
    load_fault: Fault | None = None
    problem: str | None = None


class HiddenTests:
    """One run over one submission."""

    def __init__(self, kata: Kata, engine: Engine, seed: int, progress: Progress, *, first_only: bool = False) -> None:
        self._kata = kata
        self._first_only = first_only
        self._engine_name = engine.describe().name
        self._seed = seed
        self._progress = progress
        self.interrupted = False
        self._candidate = Candidate(engine, kata)
        self._oracle = Oracle(kata)
        self.session = Session({}, self._candidate.calls, TrafficLedger(kata.file.traffic), self._candidate.speeds)

    @pytest.fixture(name="candidate")
    def _candidate_fixture(self) -> Candidate:
        return self._candidate

    @pytest.fixture(name="oracle")
    def _oracle_fixture(self) -> Oracle:
        return self._oracle

    @pytest.fixture(name="rng")
    def _rng_fixture(self, request: pytest.FixtureRequest) -> np.random.Generator:
        public = zlib.crc32(f"{self._kata.slug}/{request.node.name}".encode())
        return np.random.default_rng([self._seed, public])

    def pytest_configure(self, config: pytest.Config) -> None:
        """Make the marker known."""
        config.addinivalue_line("markers", MARKER)

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Note every check before anything runs, so that a run that ends early still names them all."""
        if self.session.problem is not None:
            items.clear()
        for item in items:
            try:
                mark = check_mark(item)
                require_fixtures(item)
            except GraderError as error:
                self.session.problem = f"{self._kata.hidden}/{error}"
                items.clear()
                return
            outcome = self.session.outcomes.setdefault(mark.name, Outcome(mark))
            if self._engine_name not in mark.engines:
                outcome.absent = f"needs the engine {' or '.join(mark.engines)}"

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[Any]:
        """Set the check's context and time it."""
        outcome = self.session.outcomes[check_mark(item).name]
        self._candidate.check = outcome.mark.name
        self._progress(outcome.mark.title)
        began = time.monotonic()
        token = ledger.set(self.session.traffic)
        try:
            return (yield)
        finally:
            ledger.reset(token)
            outcome.seconds += time.monotonic() - began

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Skip what cannot or need not run."""
        outcome = self.session.outcomes[check_mark(item).name]
        if outcome.absent is not None or outcome.verdict != "pass":
            pytest.skip("decided")
        for name in outcome.mark.depends:
            needed = self.session.outcomes.get(name)
            if needed is not None and needed.verdict != "pass":
                outcome.verdict, outcome.message = "skipped", f"not run, because {needed.mark.title!r} did not pass"
                pytest.skip(outcome.message)

    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> None:
        """Turn an exception of the test into the check's outcome."""
        outcome = self.session.outcomes[check_mark(item).name]
        if call.excinfo is None:
            outcome.ran += call.when == "call"
            return
        if call.when != "teardown" and outcome.verdict == "pass" and outcome.absent is None:
            self._decide(item, outcome, call.excinfo.value)
            if self._first_only and outcome.verdict not in ("pass", "skipped"):
                item.session.shouldstop = "a check failed"

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A hidden test that cannot be collected is the course's fault, and so are checks that it does not offer."""
        if problem := collecting_problem(report):
            self.session.problem = self.session.problem or f"{self._kata.hidden}/{problem}"

    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """Tell an interruption from outside from a run that was stopped by `shouldstop`."""
        self.interrupted = not isinstance(excinfo.value, pytest.Session.Interrupted)

    def _decide(self, item: pytest.Item, outcome: Outcome, error: BaseException) -> None:
        calls = self._candidate.calls
        last = calls[-1] if calls and calls[-1].check == outcome.mark.name else None
        outcome.call = last
        if isinstance(error, CandidateFault) and error.is_limit:
            # It takes no points.
            outcome.absent = str(error)
        elif isinstance(error, CheckFailed):
            outcome.verdict, outcome.message = error.verdict, error.message
            outcome.evidence = _with_case(error.evidence, last)
        elif isinstance(error, LoadFailed):
            self.session.load_fault = error.fault
            item.session.shouldstop = "the submission cannot be loaded"
        elif isinstance(error, pytest.skip.Exception):
            outcome.absent = str(error)
        elif isinstance(error, AssertionError):
            outcome.verdict, outcome.message = "wrong_output", str(error) or "an assertion of the check failed"
            outcome.evidence = _with_case(Evidence(), last)
        else:
            outcome.verdict = "grader_error"
            outcome.message = str(error) if isinstance(error, CourseFault | GraderError) else self._told(item, error)
            if isinstance(error, GraderError | KeyboardInterrupt):
                item.session.shouldstop = str(error)

    def _told(self, item: pytest.Item, error: BaseException) -> str:
        """An error of the test in one line, with its place; what pytest raises before the test is the test's own."""
        root = self._kata.root
        place = place_of(error, root) or place_of_test(item, root)
        if isinstance(error, pytest.FixtureLookupError):
            return f"{place}{no_fixture(error.argname)}"
        return f"{place}{type(error).__name__}: {' '.join(str(error).split())}"


def run_hidden_tests(kata: Kata, engine: Engine, seed: int, progress: Progress, *, first_only: bool = False) -> Session:
    """Run every hidden test of the kata against the engine's submission, or end with the first that fails."""
    tests = HiddenTests(kata, engine, seed, progress, first_only=first_only)
    code = run_pytest(kata.hidden, tests)
    if tests.interrupted:
        raise KeyboardInterrupt
    if code in (pytest.ExitCode.INTERNAL_ERROR, pytest.ExitCode.USAGE_ERROR, pytest.ExitCode.NO_TESTS_COLLECTED):
        tests.session.problem = tests.session.problem or f"pytest ended with {code!r} in {kata.hidden}"
    return tests.session


def _with_case(evidence: Evidence, call: Call | None) -> Evidence:
    if call is None:
        return evidence
    return msgspec.structs.replace(evidence, case=case_of(call))
