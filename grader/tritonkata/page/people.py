"""Who is who on the page: names as they are, or numbers that give nobody away."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Protocol

from tritonkata.feedback.clean import one_line
from tritonkata.gradebook.types import LeftOut
from tritonkata.model.record import Record, Student
from tritonkata.page.model import Left

MOST_CHARACTERS = 200
WITHHELD = "not shown, since it names a file or a person"

_WORD = re.compile(r"[^\W_]+")
_SHORTEST = 2


class People(Protocol):
    """How students are named, and what may be said beside it."""

    is_anonymous: bool

    def name(self, student: Student) -> str:
        """What stands for the student."""

    def text(self, text: str, record: Record) -> str:
        """Text that belongs to a record, on one line, as it may be shown."""

    def left_out(self, left: LeftOut) -> Left:
        """Something that was not graded, as it may be shown."""


class Named:
    """Everyone by name and id."""

    is_anonymous = False

    def name(self, student: Student) -> str:
        """`Ann Lee (ann)`."""
        own = student.id
        return one_line(f"{student.name} ({own})" if student.name not in ("", own) else own, limit=MOST_CHARACTERS)

    def text(self, text: str, record: Record) -> str:  # noqa: ARG002 - the protocol's signature
        """The text, cut where it is long."""
        return one_line(text, limit=MOST_CHARACTERS)

    def left_out(self, left: LeftOut) -> Left:
        """All of it."""
        path, reason = (one_line(text, limit=MOST_CHARACTERS) for text in (left.path, left.reason))
        return Left(path, self.name(Student(left.student, left.name)), reason)


class Numbered:
    """Everyone by a number, in an order that only the gradebook's owner can work out.

    The same key gives the same numbers. Names, ids, addresses and files of a record's students are struck out of what
    its checks and decisions say; of what was left out, the path is not shown, and the reason only if it names nobody.
    """

    is_anonymous = True

    def __init__(self, ids: Iterable[str], key: int) -> None:
        secret = key.to_bytes(16, "big")

        def order(own: str) -> bytes:
            return hashlib.blake2b(own.encode("utf-8", errors="surrogatepass"), key=secret).digest()

        self._numbers = {own: place for place, own in enumerate(sorted(set(ids), key=order), start=1)}

    def name(self, student: Student) -> str:
        """`Student 12`."""
        return self._number(student.id)

    def text(self, text: str, record: Record) -> str:
        """The text with `[...]` for everything that names someone of the record."""
        # Before it is cut, so that no half of a name stays at the end.
        return one_line(_struck_out(one_line(text), record), limit=MOST_CHARACTERS)

    def left_out(self, left: LeftOut) -> Left:
        """No path; the number; a reason without its second half, which names other files."""
        who = self._number(left.student) if left.student else ""
        said = one_line(left.reason, limit=MOST_CHARACTERS).partition(";")[0].partition(",")[0]
        words = _WORD.findall(f"{left.path} {left.student} {left.name}")
        names = {word.casefold() for word in words if len(word) >= _SHORTEST}
        tells = names & {word.casefold() for word in _WORD.findall(said)} or "." in said or "/" in said
        return Left("", who, WITHHELD if tells else said)

    def _number(self, own: str) -> str:
        # Somebody whose work was graded only after the ids were gathered gets the next one.
        return f"Student {self._numbers.setdefault(own, len(self._numbers) + 1)}"


def _struck_out(text: str, record: Record) -> str:
    words = {record.file, record.file.rpartition("/")[2]}
    for student in record.students:
        words |= {student.id, student.name, student.email, *student.numbers.values(), *student.name.split()}
    pattern = _pattern(frozenset(one_line(word) for word in words if len(word) >= _SHORTEST))
    return text if pattern is None else pattern.sub("[...]", text)


@lru_cache(maxsize=4)
def _pattern(words: frozenset[str]) -> re.Pattern[str] | None:
    """Any of the words, standing alone. A record asks for its own many times."""
    longest_first = sorted(map(re.escape, words), key=len, reverse=True)
    return re.compile(rf"(?<!\w)(?:{'|'.join(longest_first)})(?!\w)", re.IGNORECASE) if words else None
