"""The line on a terminal that says what is going on."""

from __future__ import annotations

import sys


class StatusLine:
    """One line on a terminal's stderr that says what is going on; nothing elsewhere."""

    def __init__(self) -> None:
        self._on = sys.stderr.isatty()
        self._shown = ""

    def show(self, text: str) -> None:
        """Replace the line by `text`."""
        if self._on and text != self._shown:
            self._shown = text
            width = _terminal_width()
            sys.stderr.write(f"\r\x1b[2K{' '.join(text.split())[: width - 1]}")
            sys.stderr.flush()

    def clear(self) -> None:
        """Take the line away."""
        if self._on:
            sys.stderr.write("\r\x1b[2K")
            sys.stderr.flush()


def _terminal_width() -> int:
    import shutil

    return shutil.get_terminal_size().columns
