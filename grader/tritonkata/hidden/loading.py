"""Imports of a course's own files."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

from tritonkata.doing import doing
from tritonkata.engine.client import GraderError


def load_module(path: Path, name: str) -> ModuleType:
    """Import a trusted file of a course under a private name.

    Raises:
        GraderError: it is missing or cannot be imported.
    """
    spec = importlib.util.spec_from_file_location(f"tritonkata_course_{name}", path)
    if spec is None or spec.loader is None or not path.is_file():
        raise GraderError(f"{path} is missing; the course needs it")
    module = importlib.util.module_from_spec(spec)
    try:
        with doing(f"the import of {path}"):
            spec.loader.exec_module(module)
    except KeyboardInterrupt:
        raise
    # Also what ends a process (`sys.exit`) or a test (`pytest.importorskip`): this file is neither.
    except BaseException as error:
        raise GraderError(f"{path} cannot be imported: {type(error).__name__}: {error}") from error
    return module
