"""Names of files in a download: which can be trusted to name a place, and which are nobody's work."""

from __future__ import annotations

import re
import unicodedata

from tritonkata.feedback.clean import clean
from tritonkata.intake.members import SEPARATOR
from tritonkata.submission import readable

MAX_NAME_CHARACTERS = 1024
MAX_DEPTH = 24

_DRIVE = re.compile(r"[A-Za-z]:")
_NOISE = frozenset(
    {"__MACOSX", ".DS_Store", "Thumbs.db", "desktop.ini", "__pycache__", ".ipynb_checkpoints", ".git", ".svn", ".hg"}
)
_RESOURCE_FORK = "._"
_SHOWN_CHARACTERS = 300


def printable(name: str) -> str:
    r"""`name` on one line, with every character that could mislead as an escape such as `\x1b`."""
    return clean(readable(name), limit=_SHOWN_CHARACTERS).replace("\n", "\\n")


def known_as(name: str) -> str:
    """What a person is called, printable: accents in one form, since macOS takes them apart and a roster does not."""
    return printable(unicodedata.normalize("NFC", readable(name)))


def parts_of(name: str) -> tuple[str, ...]:
    """The parts of a stored name, without those that say nothing."""
    return tuple(part for part in name.split(SEPARATOR) if part not in ("", "."))


def misleading(name: str) -> str:
    """Why a stored name cannot stand for a place inside its archive; empty if it can."""
    parts = parts_of(name)
    if not parts:
        return "has no name"
    if "\0" in name:
        return "has a NUL byte in its name"
    if name.startswith(SEPARATOR) or _DRIVE.match(name):
        return "has an absolute path, which points outside the archive"
    if ".." in parts:
        return "has .. in its path, which points outside the archive"
    if len(name) > MAX_NAME_CHARACTERS:
        return f"has a name of more than {MAX_NAME_CHARACTERS} characters"
    return f"lies more than {MAX_DEPTH} folders deep" if len(parts) > MAX_DEPTH else ""


def is_noise(parts: tuple[str, ...]) -> bool:
    """Whether an operating system, an editor or version control left it there."""
    return any(part in _NOISE or part.startswith(_RESOURCE_FORK) for part in parts)
