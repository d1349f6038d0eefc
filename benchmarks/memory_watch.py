"""The most memory that a command had, with everything below it."""

from __future__ import annotations

import threading
from pathlib import Path

from process_tree import below

SAMPLE_SECONDS = 0.5


class MemoryWatch:
    """The most memory that a process and everything below it had, asked for twice a second.

    Memory that processes share is counted once, a part for each of them (PSS).
    """

    def __init__(self, root: int) -> None:
        self._root = root
        self._all = self._own = self._processes = 0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Stop asking."""
        self._ended.set()
        self._thread.join()

    def peaks(self) -> dict[str, int]:
        """The peaks, which need not have come together."""
        return {
            "peak_bytes_of_all_processes": self._all,
            "peak_bytes_of_the_command": self._own,
            "most_processes": self._processes,
        }

    def _watch(self) -> None:
        while not self._ended.wait(SAMPLE_SECONDS):
            sizes = {number: proportional_bytes(number) for number in (self._root, *below(self._root))}
            self._all = max(self._all, sum(sizes.values()))
            self._own = max(self._own, sizes[self._root])
            self._processes = max(self._processes, len(sizes))


def proportional_bytes(number: int) -> int:
    """A process's memory, of what it shares only its part; 0 once it has ended."""
    try:
        text = Path(f"/proc/{number}/smaps_rollup").read_text(encoding="ascii")
    except OSError:
        return 0
    (line,) = [line for line in text.splitlines() if line.startswith("Pss:")]
    return int(line.split()[1]) << 10
