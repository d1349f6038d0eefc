"""A folder for each student, or a file for each: `DIR/{student}/{file}.py`, `DIR/{student}.py`, `DIR/{student}.zip`."""

from __future__ import annotations

from tritonkata.intake.download import Download, without_ending
from tritonkata.intake.layouts.common import Layout, Work, attempt_of, grouped, no_attempt, pick
from tritonkata.intake.members import SEPARATOR, Member
from tritonkata.intake.names import known_as, printable
from tritonkata.intake.types import Attempt, LeftOut, Taken
from tritonkata.model.record import Student

# Any folder of Python files fits, so every other layout that fits half of it goes first.
_SURE = 0.3
_ENDINGS = (".py", ".ipynb")


def _sure(download: Download) -> float:
    depth = _wrappers(download, "")
    fits = any(len(member.parts) > depth + 1 or _is_work(member) for member in download.members)
    return _SURE if fits else 0.0


def _is_work(member: Member) -> bool:
    return member.parts[-1].lower().endswith(_ENDINGS)


def _wrappers(download: Download, slug: str) -> int:
    """One folder around everything in an archive, as most tools pack one; a folder that was named is the right one."""
    heads = {member.parts[0] for member in download.members}
    if download.root is not None or len(heads) != 1 or any(len(member.parts) == 1 for member in download.members):
        return 0
    inside = [member.parts[1:] for member in download.members]
    one_student = any(parts == (f"{slug}.py",) for parts in inside) or len({parts[0] for parts in inside}) == 1
    archive = any(member.archive is not None and len(member.archive.parts) == 1 for member in download.members)
    return 0 if one_student or archive else 1


def _take(download: Download, slug: str) -> Taken:
    depth = _wrappers(download, slug)
    attempts: list[Attempt] = []
    left_out: list[LeftOut] = []
    works = ((member.parts[depth], _work(member, depth)) for member in download.members)
    for place, files in grouped(works).items():
        flat = len(files[0].member.parts) == depth + 1
        if flat and not _is_work(files[0].member) and not files[0].member.problem:
            left_out.append(
                LeftOut(printable(files[0].member.name), None, "is no folder of a student and no Python file")
            )
            continue
        student = Student(known_as(_student(place, flat)))
        picked = pick(files, slug)
        if picked.work is None:
            name = SEPARATOR.join(files[0].member.parts[: depth + 1])
            left_out.append(no_attempt(name, student, picked.reason))
        else:
            attempts.append(attempt_of((student,), picked.work))
    return Taken(tuple(attempts), tuple(left_out))


def _work(member: Member, depth: int) -> Work:
    return Work(member.parts[depth + 1 :] or member.parts[depth:], member)


def _student(place: str, flat: bool) -> str:
    """The student's name in that of a folder, a file or an archive."""
    stem, dot, ending = place.rpartition(".")
    return stem if flat and stem and dot + ending.lower() in _ENDINGS else without_ending(place) or place


LAYOUT = Layout("plain", "ann/safe_softmax.py or ann.py", _sure, _take)
