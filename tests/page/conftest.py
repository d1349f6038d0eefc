"""A browser where there is one, and the helpers of these, the exports' and the feedback tests made importable."""

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "exports"), str(HERE.parent / "feedback")]

from browser import Browser, started  # noqa: E402 - the path comes first


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """Headless Chromium with a profile of its own."""
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None or shutil.which("bash") is None:
        pytest.skip("needs Chromium")
    with started(program, tmp_path_factory.mktemp("profile")) as found:
        yield found
