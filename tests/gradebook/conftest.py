"""A gradebook on disk, and runs and submissions to put into it."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tritonkata.gradebook.opening import open_gradebook
from tritonkata.gradebook.store import Gradebook

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def book(tmp_path: Path) -> Iterator[Gradebook]:
    """A new one."""
    with open_gradebook(tmp_path / "grades", create=True) as opened:
        yield opened


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each look at the clock is an hour after the one before."""
    hours = iter(f"2030-01-{1 + hour // 24:02}T{hour % 24:02}:00:00+00:00" for hour in range(600))
    monkeypatch.setattr("tritonkata.gradebook.store.now", lambda: next(hours))


@pytest.fixture
def shared_folder() -> Iterator[Path]:
    """A folder that every user of the machine can reach; pytest's own are private."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    folder.chmod(0o755)
    shutil.rmtree(folder)
