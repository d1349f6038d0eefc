"""File names for any student id: readable, never outside their folder, never two ids with one name."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable
from pathlib import Path

from tritonkata.files import replace_file

_PLAIN = re.compile(r"[a-z0-9_][a-z0-9_.-]*")
_DIGEST = re.compile(r".*-[0-9a-f]{12}")
_RESERVED = re.compile(r"(con|prn|aux|nul|conin\$|conout\$|clock\$|(com|lpt)[0-9\u00b9\u00b2\u00b3])(\..*)?")
_MOST = 60
_KEPT = 30


def stem(student_id: str) -> str:
    """The name without a suffix for an id; always the same for the same id.

    Lower-case letters, digits, `_`, `.` and `-` stay as they are. An id with anything else keeps what can be kept and
    gets a digest of the whole, which also keeps apart ids that differ in case alone.
    """
    if _is_plain(student_id):
        return student_id
    folded = unicodedata.normalize("NFC", student_id).casefold()
    # No dot, so that no part before one is a name that Windows keeps for a device.
    kept = "".join(character if character.isalnum() or character == "-" else "_" for character in folded)
    digest = hashlib.sha256(student_id.encode("utf-8", errors="surrogatepass")).hexdigest()[:12]
    return f"{kept[:_KEPT].strip('-') or 'student'}-{digest}"


class Names:
    """Names of the files of many records: a second one of a student has its attempt in its name."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def name(self, student_id: str, attempt: int = 1) -> str:
        """The next name without a suffix; never one that was given before."""
        name = base = stem(student_id)
        if name in self._taken:
            name = base = f"{name}.attempt-{attempt}"
        count = 1
        while name in self._taken:
            count += 1
            name = f"{base}.{count}"
        self._taken.add(name)
        return name


def write_whole(path: Path, text: str) -> None:
    """Write UTF-8 text to `path`, whole or not at all; a link there is replaced, not followed.

    Raises:
        OSError: the folder is missing or not writable.
    """
    replace_file(path, text.encode())


def others(folder: Path, written: Iterable[Path]) -> list[str]:
    """The names of files in `folder` that are of the kinds of those just written there, and are none of them."""
    ours = list(written)
    names, kinds = {path.name for path in ours}, {path.suffix for path in ours}
    return sorted(path.name for path in folder.iterdir() if path.suffix in kinds and path.name not in names)


def _is_plain(student_id: str) -> bool:
    return (
        len(student_id) <= _MOST
        and _PLAIN.fullmatch(student_id) is not None
        and not student_id.endswith(".")
        and ".." not in student_id
        and _RESERVED.fullmatch(student_id) is None
        # The form of the others' names.
        and _DIGEST.fullmatch(student_id) is None
    )
