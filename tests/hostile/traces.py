"""What a submission may have left behind on the machine, and what no report should have shown to a reader.

Everything that the attacks of this folder make anywhere (a file, a folder, a process that should live on) has
`MARK` in its name, so that the folders which other programs use at the same time can be looked at too.
"""

from __future__ import annotations

import contextlib
import gc
import io
import os
import re
import site
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from tritonkata.cli.outputs import as_json
from tritonkata.feedback.junit import to_xml
from tritonkata.feedback.markdown import to_markdown
from tritonkata.feedback.terminal import print_report
from tritonkata.model.course import Kata
from tritonkata.model.report import Report

MARK = "kata-hostile"
"""In every name that an attack gives."""

_SETTLE_SECONDS = 2.0
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]")
_RENDERED = ("1370974", "<class 'object'>")
"""What the templates in the attacks' texts, `{{ 1234 * 1111 }}` and a walk over classes, would become."""
_MARKUP = ("<script", "<img")
_CODE_SPAN = re.compile(r"(?<!\\)(`+)(?:.*?)(?<!`)\1(?!`)")


@dataclass(frozen=True)
class Snapshot:
    """What there is now: processes, entries of folders, open descriptors of this process (their number)."""

    processes: frozenset[str]
    files: frozenset[str]
    descriptors: int


def snapshot() -> Snapshot:
    """Look at the processes below this one, at every folder that is writable for all, and at this process itself."""
    gc.collect()
    return Snapshot(frozenset(_processes()), frozenset(_files()), len(os.listdir("/proc/self/fd")))


def left_behind(before: Snapshot) -> list[str]:
    """One sentence for each thing that is there now and was not `before`; empty if there is nothing.

    What ends by itself within two seconds does not count: the kernel needs a moment to take a sandbox apart.
    """
    deadline = time.monotonic() + _SETTLE_SECONDS
    while (found := _differences(before, snapshot())) and time.monotonic() < deadline:
        time.sleep(0.05)
    return found


def descendants() -> dict[int, str]:
    """Every process below this one that has not ended: its number and its name."""
    names, parents = {}, {}
    for number, name, state, parent in _table():
        if state not in "ZX":
            names[number], parents[number] = name, parent
    found: dict[int, str] = {}
    frontier = {os.getpid()}
    while frontier:
        frontier = {child for child, parent in parents.items() if parent in frontier and child not in found}
        found.update({number: names[number] for number in frontier})
    return found


def renderings(report: Report, kata: Kata, source: str | None) -> dict[str, str]:
    """The report in every form that a reader may get it in."""
    page = Console(file=io.StringIO(), force_terminal=False, width=100)
    print_report(report, kata, source, page, limit=None)
    assert isinstance(page.file, io.StringIO)
    return {
        "terminal": page.file.getvalue(),
        "markdown": to_markdown(report, kata, source),
        "json": as_json(report),
        "junit": to_xml(report).decode(),
    }


def unsafe(shown: dict[str, str], secrets: tuple[str, ...] = ()) -> list[str]:
    """One sentence for each thing in `renderings` that no reader may be shown; empty if there is nothing."""
    return [f"{form}: {problem}" for form, text in shown.items() for problem in _unsafe(form, text, secrets)]


def _unsafe(form: str, text: str, secrets: tuple[str, ...]) -> Iterator[str]:
    yield from (f"holds the secret {secret}" for secret in secrets if secret in text)
    yield from (f"holds the rendered template {word}" for word in _RENDERED if word in text)
    control = _CONTROL.search(text)
    if control is not None:
        yield f"holds the character {control[0]!r}: {text[max(control.start() - 40, 0) : control.end() + 40]!r}"
    if form in ("json", "terminal"):
        return
    bare = _outside_code(text) if form == "markdown" else text
    yield from (f"holds {word} as markup" for word in _MARKUP if word in bare.replace(f"\\{word}", ""))


def _outside_code(markdown: str) -> str:
    """The text without indented blocks and code spans, in which nothing is markup."""
    lines = [line for line in markdown.splitlines() if not line.startswith("    ")]
    return "\n".join(_CODE_SPAN.sub("", line) for line in lines)


def _differences(before: Snapshot, now: Snapshot) -> list[str]:
    found = [f"still running: {name}" for name in sorted(now.processes - before.processes)]
    found += [f"still there: {path}" for path in sorted(now.files - before.files)]
    if now.descriptors > before.descriptors:
        found.append(f"{now.descriptors} descriptors are open, {before.descriptors} were")
    return found


def _processes() -> Iterator[str]:
    """Those below this process, and marked ones that got away from whoever started them."""
    yield from (f"{name} ({number})" for number, name in descendants().items())
    for number, name, state, parent in _table():
        if MARK in name and state not in "ZX" and parent == 1:
            yield f"{name} ({number})"


def _table() -> Iterator[tuple[int, str, str, int]]:
    """Number, name, state and parent of every process."""
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            with contextlib.suppress(OSError):
                before, _, after = Path(f"/proc/{entry}/stat").read_text(errors="replace").rpartition(")")
                state, parent, *_ = after.split()
                yield int(entry), before.partition("(")[2], state, int(parent)


def _files() -> Iterator[str]:
    """All entries of the folder for temporary files, and marked entries of the folders that others use as well."""
    own = Path(tempfile.gettempdir())
    yield from (str(own / name) for name in _entries(own))
    shared = {"/", "/tmp", "/var/tmp", "/dev/shm", "/dev/mqueue", os.path.expanduser("~"), os.getcwd()}
    shared |= {*site.getsitepackages(), site.getusersitepackages(), *filter(None, sys.path)}
    for folder in map(Path, shared):
        yield from (str(folder / name) for name in _entries(folder) if MARK in name.replace("_", "-"))


def _entries(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []
