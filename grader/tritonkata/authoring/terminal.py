"""The gate's results as lines of text: a row for each file, a column for each check."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

import click

from tritonkata.authoring.matrix import Example, KataResult, Verification
from tritonkata.feedback.clean import one_line

WIDTH = 100
SURVIVORS_SHOWN = 20
_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_MARKS = {"pass": ".", "skipped": "s", "": "-"}
_LEGEND = "letter: failed  .: passed  s: not run  -: not on this engine  (n): so many wrong examples fail it"
_ROOM_FOR_STATE = 6


def kata_lines(kata: KataResult) -> Iterator[str]:
    """Everything about one kata, at most `WIDTH` columns wide where words allow it."""
    state = click.style("ok", fg="green") if kata.passes else click.style("FAIL", fg="red", bold=True)
    yield f"{click.style(kata.slug, bold=True)}{f' ({kata.title})' if kata.title else ''}: {state}"
    for problem in kata.problems:
        yield f"  {one_line(problem)}"
    if kata.examples:
        yield from _matrix(kata)
        yield from _legend(kata)
    for failure in kata.failures:
        yield from _hanging(f"{click.style('FAIL', fg='red')} ", one_line(failure), 5)
    for example in kata.examples:
        if example.role == "wrong" and example.alternatives:
            yield from _hanging("note ", f"{example.file}: fits {', '.join(example.alternatives)} as well", 5)
    yield from _mutants(kata)


def last_line(found: Verification) -> str:
    """What it adds up to."""
    files = sum(len(kata.examples) for kata in found.katas)
    mutants = sum(len(kata.mutants) for kata in found.katas)
    graded = f"{files} files and {mutants} mutants" if mutants else f"{files} files"
    outcome = "; ".join(_outcomes(found)) or "every promise is kept"
    return f"{graded} graded in {found.seconds:.0f} s; {outcome}."


def _outcomes(found: Verification) -> Iterator[str]:
    """Whose promises are broken, and what was not graded, since its files must be put right first."""
    damaged = [kata.slug for kata in found.katas if kata.problems] + ["the course itself"] * bool(found.problems)
    broken = [kata.slug for kata in found.katas if not kata.problems and not kata.passes]
    if damaged:
        yield f"files must be put right in {', '.join(damaged)}"
    if broken:
        yield f"a promise is broken in {', '.join(broken)}"


def _matrix(kata: KataResult) -> Iterator[str]:
    letters = _columns(len(kata.checks))
    gap = " " if 2 * len(letters) + _ROOM_FOR_STATE <= WIDTH // 2 else ""
    names = [_name(example) for example in kata.examples]
    room = min(max(map(len, names)), WIDTH - _ROOM_FOR_STATE - 3 - len(gap.join(letters)))
    yield f"  {'':{room + _ROOM_FOR_STATE}} {gap.join(letters)}".rstrip()
    for name, example in zip(names, kata.examples, strict=True):
        state = click.style("FAIL", fg="red", bold=True) if example.problem else click.style("ok  ", fg="green")
        verdicts = [example.verdicts.get(check, "") for check in kata.checks]
        marks = [_MARKS.get(verdict, letter) for verdict, letter in zip(verdicts, letters, strict=True)]
        yield f"  {state}  {_cut(name, room):{room}} {gap.join(marks)}".rstrip()


def _legend(kata: KataResult) -> Iterator[str]:
    letters = _columns(len(kata.checks))
    words = [
        f"{letter}\xa0{check}\xa0({kata.failing[check]})" for letter, check in zip(letters, kata.checks, strict=True)
    ]
    yield ""
    for line in textwrap.wrap("  ".join(words), WIDTH - 2, break_on_hyphens=False):
        yield f"  {line}".replace("\xa0", " ")
    yield f"  {_LEGEND}"


def _mutants(kata: KataResult) -> Iterator[str]:
    if not kata.mutants:
        return
    yield f"  Mutants of the solution: {kata.killed} of {len(kata.mutants)} failed a check ({_score(kata):.0%})."
    if kata.survivors:
        yield "  These passed every check. Each is no real change, or something that no check looks at:"
    for mutant in kata.survivors[:SURVIVORS_SHOWN]:
        yield f"    line {mutant.line}, column {mutant.column}: {one_line(mutant.change)}"[:WIDTH]
    if len(kata.survivors) > SURVIVORS_SHOWN:
        yield f"    and {len(kata.survivors) - SURVIVORS_SHOWN} more; --json has all"
    for mutant in kata.mutants:
        if mutant.problem:
            yield f"    line {mutant.line}, column {mutant.column}: {one_line(mutant.problem)}"


def _score(kata: KataResult) -> float:
    return kata.killed / len(kata.mutants)


def _columns(count: int) -> Sequence[str]:
    """A letter for each check, and what stands for those beyond the alphabet."""
    return _LETTERS[:count] + "#" * max(count - len(_LETTERS), 0)


def _name(example: Example) -> str:
    return example.role if example.role != "wrong" else "/".join(example.file.removesuffix(".py").split("/")[-2:])


def _cut(text: str, room: int) -> str:
    return text if len(text) <= room else f"{text[: room - 3]}..."


def _hanging(lead: str, text: str, indent: int) -> Iterator[str]:
    lines = textwrap.wrap(text, WIDTH - indent - 2, break_long_words=False, break_on_hyphens=False)
    for place, line in enumerate(lines):
        yield f"  {lead if place == 0 else ' ' * indent}{line}"
