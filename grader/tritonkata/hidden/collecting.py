"""The checks of a kata, found without running any."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from tritonkata.engine.client import GraderError
from tritonkata.hidden.fixtures import require_fixtures
from tritonkata.hidden.isolation import run_pytest
from tritonkata.hidden.marks import MARKER, CheckMark, check_mark
from tritonkata.model.course import Kata

_CHARACTERS = 300


def collecting_problem(report: pytest.CollectReport) -> str | None:
    """Why the tests of a file are missing: it cannot be imported, or skips itself."""
    if report.failed:
        # pytest puts an E before the lines of the exception itself.
        told = [line[2:].strip() for line in report.longreprtext.splitlines() if line.startswith("E ")]
        words = " ".join(" ".join(told or [report.longreprtext]).split())[-_CHARACTERS:]
        return f"{report.nodeid}: cannot be imported: {words}; correct it"
    if report.skipped and isinstance(report.longrepr, tuple):
        _, line, reason = report.longrepr
        words = " ".join(reason.removeprefix("Skipped: ").split())[:_CHARACTERS]
        return f"{report.nodeid}: line {line}: skips the whole file ({words}); skip inside a test, or take it out"
    return None


@dataclass
class _Collected:
    """The checks by name, or why a test cannot be one."""

    marks: dict[str, CheckMark] = field(default_factory=dict)
    problem: str | None = None

    def pytest_configure(self, config: pytest.Config) -> None:
        config.addinivalue_line("markers", MARKER)

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        for item in items:
            try:
                require_fixtures(item)
                self._note(item, check_mark(item))
            except GraderError as error:
                self.problem = self.problem or str(error)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        self.problem = self.problem or collecting_problem(report)

    def _note(self, item: pytest.Item, mark: CheckMark) -> None:
        if self.marks.setdefault(mark.name, mark) != mark:
            raise GraderError(
                f"{item.nodeid}: the check {mark.name!r} has another title, points, depends or engines elsewhere; "
                "write its marker once, in a variable"
            )


def collect_checks(kata: Kata) -> tuple[CheckMark, ...]:
    """The checks of a kata, without running any.

    Raises:
        GraderError: a test has no marker or a wrong one, or takes a fixture that there is not, two of one check
            disagree, or a file cannot be imported.
    """
    found = _Collected()
    code = run_pytest(kata.hidden, found, "--collect-only")
    if found.problem is not None:
        raise GraderError(f"{kata.hidden}/{found.problem}")
    if code not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        raise GraderError(f"{kata.hidden}: pytest ended with {code!r} while it looked for tests; correct them")
    return tuple(found.marks.values())
