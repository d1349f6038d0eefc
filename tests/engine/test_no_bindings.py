"""A machine without the CUDA bindings: said in one line, by the probe and by the engine alike."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tritonkata.engine.client import GraderError
from tritonkata.engine.launching import Launcher
from tritonkata.model.course import Limits


@pytest.fixture
def without_bindings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A `cuda` package that is empty stands before any real one."""
    (tmp_path / "cuda").mkdir()
    (tmp_path / "cuda" / "__init__.py").write_text("")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))


@pytest.mark.usefixtures("without_bindings")
def test_the_engine_names_what_to_install_and_another_engine() -> None:
    launcher = Launcher(Limits())
    with pytest.raises(GraderError, match=r"no GPU can be used: .*tritonkata\[gpu\].*--engine interpreter"):
        _ = launcher.device
    launcher.end()


@pytest.mark.usefixtures("without_bindings")
def test_the_probe_says_the_same() -> None:
    command = [sys.executable, "-m", "tritonkata.launcher", "--probe"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd="/")
    assert done.returncode == 1
    assert "tritonkata[gpu]" in json.loads(done.stdout)["error"]
