"""`kata grade` as a user runs it, on the course of one small kata."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from class_of_files import Kata


@pytest.fixture
def kata(tmp_path: Path) -> Kata:
    """The command, with a folder for its temporary files that nothing else uses."""
    return Kata(tmp_path)
