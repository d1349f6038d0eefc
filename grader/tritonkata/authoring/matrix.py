"""What the gate found: one entry a kata, and what makes it pass."""

from __future__ import annotations

from typing import Literal

import msgspec

from tritonkata.model.faults import Verdict
from tritonkata.model.report import ReportVerdict

FORMAT_VERSION = 1

Role = Literal["skeleton", "solution", "wrong"]


class Example(msgspec.Struct, frozen=True):
    """One file that was graded.

    `file` is relative to the course. `expected` is the verdict or, for a wrong example, the diagnosis it must get.
    `verdicts` are those of the checks, by name; a check that this engine cannot run is not among them.
    `alternatives` are other mistakes that give the same numbers as the diagnosis in some failed check.
    `dtypes` are those of the first parameter in calls of the first entry point that gave a result in a passed check.
    `problem` says what is not as it must be; it is empty if all is.
    """

    role: Role
    file: str
    expected: str
    verdict: ReportVerdict
    diagnosis: str | None = None
    verdicts: dict[str, Verdict] = {}
    alternatives: tuple[str, ...] = ()
    dtypes: tuple[str, ...] = ()
    problem: str = ""
    seconds: float = 0.0

    @property
    def failed(self) -> tuple[str, ...]:
        """Names of the checks that it failed."""
        return tuple(name for name, verdict in self.verdicts.items() if verdict not in ("pass", "skipped"))


class Mutant(msgspec.Struct, frozen=True):
    """The solution with one thing changed, at a line and a column that count from 1.

    `killed_by` is the first check that failed, or `import` where the file could not even be loaded; it is empty for
    a survivor. `problem` says why it could not be graded.
    """

    line: int
    column: int
    change: str
    killed_by: str = ""
    problem: str = ""
    seconds: float = 0.0


class KataResult(msgspec.Struct, frozen=True):
    """One kata: what is wrong with its files, and what came of grading them.

    `problems` are of the files; a kata that has any is not graded. `dtypes` are those that its `kata.toml` promises.
    """

    slug: str
    title: str = ""
    dtypes: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    examples: tuple[Example, ...] = ()
    mutants: tuple[Mutant, ...] = ()
    seconds: float = 0.0

    @property
    def checks(self) -> tuple[str, ...]:
        """All hidden checks that ran on this engine."""
        return tuple(dict.fromkeys(name for example in self.examples for name in example.verdicts))

    @property
    def failing(self) -> dict[str, int]:
        """How many wrong examples fail each check."""
        wrong = [example.failed for example in self.examples if example.role == "wrong"]
        return {name: sum(name in failed for failed in wrong) for name in self.checks}

    @property
    def uncovered(self) -> tuple[str, ...]:
        """Checks that no wrong example fails: nobody knows that they can fail."""
        return tuple(name for name, count in self.failing.items() if not count)

    @property
    def untried_dtypes(self) -> tuple[str, ...]:
        """Dtypes that the kata promises and that no check called the solution with; none where that fails a check."""
        if any(example.role == "solution" and example.problem for example in self.examples):
            return ()
        tried = {dtype for example in self.examples if example.role == "solution" for dtype in example.dtypes}
        return tuple(dtype for dtype in self.dtypes if dtype not in tried)

    @property
    def failures(self) -> tuple[str, ...]:
        """One line for each promise that is broken, and what to do."""
        if not self.examples:
            return ()
        toml, wrong = f"katas/{self.slug}/kata.toml", f"katas/{self.slug}/wrong"
        return (
            *(f"{example.file}: {example.problem}" for example in self.examples if example.problem),
            *(f"{wrong}: no example fails the check {name!r}; add one" for name in self.uncovered),
            *(
                f"{toml}: dtypes: no check calls {dtype}; test it, or name the dtypes that the brief promises"
                for dtype in self.untried_dtypes
            ),
        )

    @property
    def survivors(self) -> tuple[Mutant, ...]:
        """Mutants that passed every check: equivalent ones, or a gap in the tests."""
        return tuple(mutant for mutant in self.mutants if not mutant.killed_by and not mutant.problem)

    @property
    def killed(self) -> int:
        """How many mutants failed a check."""
        return sum(bool(mutant.killed_by) for mutant in self.mutants)

    @property
    def passes(self) -> bool:
        """Whether the kata keeps its promises. Survivors are for the author to look at."""
        return bool(self.examples) and not self.problems and not self.failures


class Verification(msgspec.Struct, frozen=True):
    """The whole course, or the katas asked for. `problems` are of the course's own files."""

    course: str
    engine: str
    seed: int
    katas: tuple[KataResult, ...]
    problems: tuple[str, ...] = ()
    seconds: float = 0.0
    format_version: int = FORMAT_VERSION

    @property
    def damaged(self) -> bool:
        """Whether files are not in order, so that something was not graded."""
        return bool(self.problems) or any(kata.problems for kata in self.katas)

    @property
    def passes(self) -> bool:
        """Whether all katas do, and the course's own files are in order."""
        return not self.problems and all(kata.passes for kata in self.katas)


def document(found: Verification) -> dict[str, object]:
    """The whole of it for JSON, with what follows from it."""
    katas = [
        {
            **msgspec.to_builtins(kata),
            "checks": kata.checks,
            "failing": kata.failing,
            "uncovered": kata.uncovered,
            "untried_dtypes": kata.untried_dtypes,
            "failures": kata.failures,
            "mutants_killed": kata.killed,
            "survivors": msgspec.to_builtins(kata.survivors),
            "passes": kata.passes,
        }
        for kata in found.katas
    ]
    return {**msgspec.to_builtins(found), "katas": katas, "damaged": found.damaged, "passes": found.passes}
