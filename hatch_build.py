"""Puts the built-in course into the wheel, inside the package.

Only a standard wheel carries it: an editable install reads the repository's own
folders, and a copy made for it would go stale.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

COURSE_FOLDERS = ("katas", "skeletons", "reference")
LEFT_OUT_SUFFIXES = {".pyc", ".pyo"}


class CourseHook(BuildHookInterface):  # type: ignore[type-arg]
    """The build hook; hatchling finds it by its base class."""

    PLUGIN_NAME = "course"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Name every file of the course, with its place in the wheel."""
        if version != "standard":
            return
        root = Path(self.root)
        for folder in COURSE_FOLDERS:
            for path in sorted((root / folder).rglob("*")):
                relative = path.relative_to(root)
                if path.is_file() and _belongs(relative):
                    build_data["force_include"][str(path)] = f"tritonkata/{relative.as_posix()}"


def _belongs(relative: Path) -> bool:
    hidden = any(part.startswith(".") or part == "__pycache__" for part in relative.parts)
    return not hidden and relative.suffix not in LEFT_OUT_SUFFIXES
