"""Where in a course's own files an error came from."""

from __future__ import annotations

import traceback
from pathlib import Path

import pytest


def place_of(error: BaseException, root: Path) -> str:
    """The innermost line of a file below the course's root, as `file, line N: `; empty where there is none."""
    folder = root.resolve()
    frames = [(Path(frame.filename).resolve(), frame.lineno) for frame in traceback.extract_tb(error.__traceback__)]
    own = [f"{path.relative_to(folder)}, line {line}: " for path, line in frames if path.is_relative_to(folder)]
    return own[-1] if own else ""


def place_of_test(item: pytest.Item, root: Path) -> str:
    """Where a hidden test begins, in the same form."""
    folder, path = root.resolve(), item.path.resolve()
    _, line, _ = item.location
    name = path.relative_to(folder) if path.is_relative_to(folder) else path
    return f"{name}, line {line + 1}: " if line is not None else f"{name}: "
