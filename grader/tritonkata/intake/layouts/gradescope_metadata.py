r"""Gradescope's `submission_metadata.yml`: who handed in which folder, and when.

Ruby writes it, with symbols as keys and at times with tags for its own classes, and it holds the results of every past
submission as well, so it grows to hundreds of megabytes. Two keys of each entry matter. They are read line by line, in
the form in which Ruby's emitter writes them; an entry in any other form is reported, and never guessed at.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import msgspec

from tritonkata.intake.names import known_as, printable
from tritonkata.intake.times import in_utc
from tritonkata.model.record import Student

_TOP = re.compile(r"(?P<folder>submission_[^\s:]+):\s*")
_KEY = re.compile(r" *:(?P<key>\w+):(?: +(?P<value>.*))?")
_FIELD = re.compile(r"(?P<lead> *(?:- +)?):(?P<key>\w+):(?: +(?P<value>.*))?")
_UTC_FIELD = re.compile(r" *:?utc: +(?P<value>.*)")
_ANCHOR = re.compile(r"&(?P<anchor>\S+) +(?P<rest>.*)")
_ESCAPE = re.compile(r"\\(x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.)", re.DOTALL)
_ESCAPED = dict(zip('0abtnvfre "/\\N_LP', '\0\a\b\t\n\v\f\r\x1b "/\\\x85\xa0\u2028\u2029', strict=True))
_MOST_LINES = 2_000
_WANTED = ("submitters", "created_at")
_FIELDS = ("name", "sid", "email")


class MetadataProblem(Exception):
    """An entry is not in the form that is known."""


class Entry(msgspec.Struct, frozen=True):
    """What the metadata say of one folder. `problem` says why they say nothing."""

    folder: str
    students: tuple[Student, ...] = ()
    submitted_at: str | None = None
    problem: str = ""


def entries(lines: Iterable[str]) -> Iterator[Entry]:
    """One entry for each folder, in the order of the file."""
    anchors: dict[str, str] = {}
    for folder, number, sections in _sections(lines):
        try:
            students = _students(_submitters(sections["submitters"], anchors))
            yield Entry(folder, students, _created_at(sections["created_at"]))
        except MetadataProblem as problem:
            yield Entry(folder, problem=f"line {number}: {problem}")


def _sections(lines: Iterable[str]) -> Iterator[tuple[str, int, dict[str, list[str]]]]:
    """Folder, line number and the lines of the sections that matter, the value beside the key first."""
    folder, begun, indent, section = "", 0, 0, ""
    sections: dict[str, list[str]] = {}
    for number, line in enumerate(lines, start=1):
        if line[:1] not in ("", " ", "#"):
            if folder:
                yield folder, begun, sections
            top = _TOP.fullmatch(line)
            folder, begun, indent, section = top["folder"] if top else "", number, 0, ""
            sections = {wanted: [] for wanted in _WANTED}
            continue
        if not folder or not line.strip():
            continue
        indent = indent or _indent(line)
        key = _KEY.fullmatch(line) if _indent(line) == indent else None
        section = key["key"] if key else section
        if section in sections and len(sections[section]) < _MOST_LINES:
            sections[section].append(key["value"] or "" if key else line)
    if folder:
        yield folder, begun, sections


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _submitters(lines: list[str], anchors: dict[str, str]) -> list[dict[str, str]]:
    """The fields of each submitter."""
    if len(lines) >= _MOST_LINES:
        raise MetadataProblem("the list of submitters is too long")
    if lines and lines[0].strip() not in ("", "[]"):
        raise MetadataProblem("the submitters are not a list")
    found: list[dict[str, list[str]]] = []
    indent, current = 0, ""
    for line in lines[1:]:
        match = _FIELD.fullmatch(line)
        if match and "-" in match["lead"]:
            found.append({})
            indent = len(match["lead"])
        if match and found and len(match["lead"]) == indent:
            current = match["key"]
            found[-1][current] = [match["value"] or ""]
        elif found and _indent(line) >= indent and current:
            found[-1][current].append(line.strip())
        else:
            raise MetadataProblem("the submitters are not a list of names")
    return [{key: _scalar(_folded(fields[key]), anchors) for key in _FIELDS if key in fields} for fields in found]


def _students(submitters: list[dict[str, str]]) -> tuple[Student, ...]:
    """Those of whom anything is known; an account that was deleted leaves an empty one in its group."""
    students = []
    for fields in submitters:
        name, sid, email = (known_as(fields.get(key, "")) for key in _FIELDS)
        if sid or email or name:
            students.append(Student(sid or email or name, name, email, {"sid": sid} if sid else {}))
    if submitters and not students:
        raise MetadataProblem("no submitter has a sid, an email or a name")
    return tuple(students)


def _created_at(lines: list[str]) -> str | None:
    """The time itself, or the one in UTC inside an object of Ruby on Rails."""
    if lines and lines[0].startswith("!"):
        matches = (_UTC_FIELD.fullmatch(line) for line in lines[1:])
        return next((in_utc(_unanchored(match["value"])) for match in matches if match), None)
    return in_utc(_unanchored(lines[0]).strip("'\"")) if len(lines) == 1 else None


def _unanchored(text: str) -> str:
    match = _ANCHOR.fullmatch(text)
    return match["rest"] if match else text


def _folded(lines: list[str]) -> str:
    """Lines of one value as YAML joins them."""
    text = lines[0]
    for line in lines[1:]:
        # In double quotes a backslash at the end of a line, unless it is escaped itself, keeps the two parts together.
        backslashes = len(text) - len(text.rstrip("\\"))
        together = text.lstrip("&0123456789 ").startswith('"') and backslashes % 2
        text = f"{text[:-1]}{line}" if together else f"{text} {line}"
    return text.strip()


def _scalar(text: str, anchors: dict[str, str]) -> str:
    """The value of a plain or quoted word, an anchored one, or a repetition of it."""
    if match := _ANCHOR.fullmatch(text):
        anchors[match["anchor"]] = _scalar(match["rest"], anchors)
        return anchors[match["anchor"]]
    if text[:1] == "*" and text[1:] in anchors:
        return anchors[text[1:]]
    if text[:1] in ("'", '"'):
        if len(text) < 2 or text[-1] != text[0]:
            raise MetadataProblem("a quotation does not end")
        return text[1:-1].replace("''", "'") if text[0] == "'" else _ESCAPE.sub(_unescaped, text[1:-1])
    if text[:1] in tuple("*&!|>{[%@`"):
        raise MetadataProblem(f"{printable(text[:20])} is a form of YAML that is not read")
    return "" if text in ("~", "null") else text


def _unescaped(match: re.Match[str]) -> str:
    code = match[1]
    if code[0] in "xuU" and len(code) > 1:
        value = int(code[1:], 16)
        return chr(value) if value < 0x110000 else "\ufffd"
    if code not in _ESCAPED:
        raise MetadataProblem(f"\\{printable(code)} is no escape")
    return _ESCAPED[code]
