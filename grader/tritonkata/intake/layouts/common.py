"""What the layouts share: taking names apart, and finding the one file of a student that is meant."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import msgspec

from tritonkata.feedback.numbers import few, joined
from tritonkata.intake.download import Download
from tritonkata.intake.members import SEPARATOR, Member
from tritonkata.intake.names import printable
from tritonkata.intake.types import Attempt, LeftOut, Taken
from tritonkata.model.record import Student

_PYTHON = ".py"
_NOTEBOOK = ".ipynb"

Parts = tuple[str, ...]
Matches = Callable[[Parts], bool]


class Layout(msgspec.Struct, frozen=True):
    """One way to lay out submissions.

    Args:
        name: what `--layout` takes.
        shape: an example of a path in it.
        sure: from 0 to 1, how well the names of a download fit.
        take: the attempts in it, for the kata with this slug.
    """

    name: str
    shape: str
    sure: Callable[[Download], float]
    take: Callable[[Download, str], Taken]


class Work(msgspec.Struct, frozen=True):
    """A file of a student: where it lies below the student's own folder, and what to read."""

    parts: Parts
    member: Member


class Picked(msgspec.Struct, frozen=True):
    """The file that is meant, or the reason why there is none."""

    work: Work | None
    reason: str = ""


def wrappers(members: Sequence[Member], matches: Matches) -> int:
    """How many folders lie around everything, before the first part that belongs to the layout."""
    depth = 0
    while members:
        heads = {member.parts[depth] for member in members if len(member.parts) > depth + 1}
        shallow = any(len(member.parts) <= depth + 1 for member in members)
        if shallow or len(heads) != 1 or any(matches(member.parts[depth:]) for member in members):
            break
        depth += 1
    return depth


def share(members: Sequence[Member], matches: Matches) -> float:
    """The share of files whose place below the wrappers fits, from 0 to 1."""
    depth = wrappers(members, matches)
    return sum(matches(member.parts[depth:]) for member in members) / len(members) if members else 0.0


def pick(works: Sequence[Work], slug: str) -> Picked:
    """The kata's own file, or else the only Python file among a student's."""
    python = [work for work in works if work.parts[-1].lower().endswith(_PYTHON)]
    named = [work for work in python if work.parts[-1].lower() == f"{slug}{_PYTHON}"]
    top = min((len(work.parts) for work in named), default=0)
    for candidates in ([work for work in named if len(work.parts) == top], python):
        if len(candidates) == 1:
            return Picked(candidates[0])
        if candidates:
            return Picked(None, f"has several Python files ({_listed(candidates)}); keep the one to grade as {slug}.py")
    return Picked(None, _no_python(works, slug))


def attempt_of(students: tuple[Student, ...], work: Work) -> Attempt:
    """The attempt in a file; what is known to be wrong with it becomes its problem."""
    path = printable(work.member.name)
    problem = f"{path}: {work.member.problem}; hand in the file itself" if work.member.problem else ""
    return Attempt(students, path, work.member, problem)


def no_attempt(place: str, student: Student, reason: str) -> LeftOut:
    """Nothing of this student is graded; `place` is the name of the folder or file that it would be in."""
    return LeftOut(printable(place), student, reason)


def grouped(works: Iterable[tuple[str, Work]]) -> dict[str, list[Work]]:
    """Files by the key that comes with each, in the order of the keys."""
    groups: dict[str, list[Work]] = {}
    for key, work in works:
        groups.setdefault(key, []).append(work)
    return {key: groups[key] for key in sorted(groups)}


def unmatched(members: Iterable[Member], layout: str) -> Iterable[LeftOut]:
    """One line for each file that is not where the layout has submissions."""
    reason = f"is not where the layout {layout} has submissions"
    return (LeftOut(printable(member.name), None, reason) for member in members)


def _no_python(works: Sequence[Work], slug: str) -> str:
    problems = [f"{printable(work.parts[-1])} {work.member.problem}" for work in works if work.member.problem]
    if any(work.parts[-1].lower().endswith(_NOTEBOOK) for work in works):
        return f"handed in a notebook; export it and hand in {slug}.py"
    if problems:
        return f"has no Python file: {joined(few(problems))}; hand in {slug}.py"
    return f"has no Python file ({_listed(works)}); hand in {slug}.py" if works else f"is empty; hand in {slug}.py"


def _listed(works: Sequence[Work]) -> str:
    return joined(few([printable(SEPARATOR.join(work.parts)) for work in works]))
