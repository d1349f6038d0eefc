"""Where in a course's own files an error came from."""

from __future__ import annotations

import traceback
from pathlib import Path


def place_of(error: BaseException, root: Path) -> str:
    """The innermost line of a file below the course's root, as `file, line N: `; empty where there is none."""
    folder = root.resolve()
    frames = [(Path(frame.filename).resolve(), frame.lineno) for frame in traceback.extract_tb(error.__traceback__)]
    own = [f"{path.relative_to(folder)}, line {line}: " for path, line in frames if path.is_relative_to(folder)]
    return own[-1] if own else ""
