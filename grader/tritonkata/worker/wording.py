"""Small pieces of text that the workers put into faults."""

from __future__ import annotations

import errno
from typing import Any

MAX_MESSAGE = 300

_SHORT_OF = {
    errno.ENOSPC: ("no room is left for files", "Write no files: the compiler needs the room that there is."),
    errno.EDQUOT: ("no room is left for files", "Write no files: the compiler needs the room that there is."),
    errno.EFBIG: ("a file grew too large", "Write no files: the compiler needs the room that there is."),
    errno.EAGAIN: ("no further process can be started", "Start no processes or threads: the compiler needs some."),
    errno.EMFILE: ("too many files are open", "Open no files, or close them again."),
    errno.ENFILE: ("too many files are open", "Open no files, or close them again."),
    errno.ENOMEM: ("the machine's memory limit was reached", "Allocate less on the host."),
}
_IMPORTS = {"tl": "import triton.language as tl", "triton": "import triton", "torch": "import torch"}


def missing_import(name: str) -> str:
    """What to do where the file uses a module by this name and has not imported it; empty for any other name."""
    return f"Write `{_IMPORTS[name]}` at the top of the file." if name in _IMPORTS else ""


def one_line(text: str) -> str:
    """`text` without line breaks and control characters, at most `MAX_MESSAGE` characters long."""
    flat = " ".join("".join(c if c.isprintable() else " " for c in text[:4000]).split())
    return flat if len(flat) <= MAX_MESSAGE else flat[: MAX_MESSAGE - 3] + "..."


def text_of(error: BaseException) -> str:
    """What `error` says; empty where its own `__str__` fails."""
    try:
        return str(error)
    except BaseException:  # the learner's own __str__ may fail, or end the process
        return ""


def kind_of(value: Any) -> str:
    """The type of `value` with its article: `an int`, `a numpy.ndarray`; None is `None`."""
    if value is None:
        return "None"
    kind = type(value)
    name = kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__.partition('.')[0]}.{kind.__name__}"
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"


def what_came_back(entry: str, place: int, count: int, several: bool) -> str:
    """How a sentence about one returned value starts: `f returned`, or `value 2 of 3 that f returned is`."""
    return f"value {place + 1} of {count} that {entry} returned is" if several else f"{entry} returned"


def shortage(error: OSError) -> tuple[str, str]:
    """A message and an advice, where `error` says that something of the machine ran out; else two empty texts."""
    return _SHORT_OF.get(error.errno or 0, ("", ""))
