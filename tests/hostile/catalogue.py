"""The attacks of this folder: what each tries, which row of the list it covers, and what must become of it.

An attack is a folder `attacks/<group>/<name>` with `attack.py`. `attacks.toml` has a table `[<group>.<name>]` for it:

| key | says |
|---|---|
| `row` | the words of the list of attempts that it covers |
| `verdict` | the report's verdict: `fail`, `error`, or `any` of these two |
| `first` | the verdicts that the load fault, or the first check that did not pass, may have |
| `gpu` | `verdict` and `first` on the engine gpu, where they differ |
| `control` | the name of a file in `controls`; without it `control.py` lies beside the attack |
| `kata` | the kata that it answers; `doubled` of the tests' own course without it |
| `learned_from` | the public case that it was learned from |
| `fast` | whether it belongs to the few that run with every change |
| `refused` | whether its launch plan must be refused before it reaches a launcher |
| `undefended`, `reason` | the engine on which it may pass, and why that cannot be helped |
"""

from __future__ import annotations

import ast
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from tritonkata.model.report import Report

HERE = Path(__file__).resolve().parent
EngineName = Literal["interpreter", "gpu"]
Ending = Literal["fail", "error", "any"]


@dataclass(frozen=True)
class Expected:
    """What must become of an attack on one engine. `first` are verdicts of a check or of the load fault."""

    verdict: Ending
    first: frozenset[str]


@dataclass(frozen=True)
class Attack:
    """One hostile submission. `title` says in one sentence what it tries; `control` is a near-miss that passes."""

    group: str
    name: str
    title: str
    row: str
    learned_from: str
    kata: str
    path: Path
    control: Path
    expected: dict[EngineName, Expected]
    fast: bool
    refused: bool
    undefended: str
    reason: str

    @property
    def id(self) -> str:
        """Group and name."""
        return f"{self.group}/{self.name}"

    def is_met_by(self, report: Report, engine: EngineName) -> bool:
        """Whether a report is what the table says of this attack."""
        if report.verdict == "grader_error":
            return False
        if self.undefended == engine:
            return True
        expected = self.expected[engine]
        verdicts = ("fail", "error") if expected.verdict == "any" else (expected.verdict,)
        return report.verdict in verdicts and first_of(report)[0] in expected.first


def first_of(report: Report) -> tuple[str, str]:
    """The verdict and the words of the load fault, or of the first check that did not pass."""
    if report.fault is not None:
        return report.fault.verdict, report.fault.message
    failed = (check for check in report.checks if check.verdict != "pass")
    return next(((check.verdict, check.message) for check in failed), ("pass", ""))


def read_attacks() -> tuple[Attack, ...]:
    """Every attack of the table, in its order.

    Raises:
        KeyError: a table lacks a key.
        FileNotFoundError: a table has no folder.
    """
    table = tomllib.loads((HERE / "attacks.toml").read_text())
    return tuple(_attack(group, name, entry) for group, names in table.items() for name, entry in names.items())


def title_of(path: Path) -> str:
    """The first line of a file's docstring, also of one that is no Python."""
    text = path.read_text()
    try:
        return (ast.get_docstring(ast.parse(text)) or "").partition("\n")[0]
    except (SyntaxError, MemoryError, RecursionError):
        return text.split('"""')[1].partition("\n")[0]


def _attack(group: str, name: str, entry: dict[str, Any]) -> Attack:
    folder = HERE / "attacks" / group / name
    path = folder / "attack.py"
    control = HERE / "controls" / f"{entry['control']}.py" if "control" in entry else folder / "control.py"
    return Attack(
        group=group,
        name=name,
        title=title_of(path),
        row=entry["row"],
        learned_from=entry.get("learned_from", ""),
        kata=entry.get("kata", "doubled"),
        path=path,
        control=control,
        expected={"interpreter": _expected(entry), "gpu": _expected(entry.get("gpu", entry))},
        fast=entry.get("fast", False),
        refused=entry.get("refused", False),
        undefended=entry.get("undefended", ""),
        reason=entry.get("reason", ""),
    )


def _expected(entry: dict[str, Any]) -> Expected:
    return Expected(entry["verdict"], frozenset(entry["first"]))


ATTACKS = read_attacks()
