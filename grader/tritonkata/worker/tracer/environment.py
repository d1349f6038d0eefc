"""Triton's settings and the process's environment, kept as the grader wants them.

Triton reads its knobs from environment variables whenever it needs them, so a
submission that sets `TRITON_PTXAS_PATH` would choose the compiler. Settings are
put back before every compilation.
"""

from __future__ import annotations

import os
from typing import Any


class Settings:
    """A snapshot of the environment and of all of Triton's knobs."""

    def __init__(self) -> None:
        from triton import knobs

        self._environment = dict(os.environ)
        groups = [group for group in vars(knobs).values() if isinstance(group, knobs.base_knobs)]
        self._knobs: list[tuple[Any, dict[str, Any]]] = [(group, dict(vars(group))) for group in groups]
        self.interpreter_wanted = False
        _keep_compiling(self)

    def restore(self) -> None:
        """Undo what a submission changed."""
        if os.environ.get("TRITON_INTERPRET", "0") not in ("", "0"):
            self.interpreter_wanted = True
        if dict(os.environ) != self._environment:
            os.environ.clear()
            os.environ.update(self._environment)
        for group, values in self._knobs:
            vars(group).clear()
            vars(group).update(values)


def prepare(cache_folder: str) -> None:
    """Set the environment before Triton is imported: nothing inherited, a cache of its own."""
    for name in [name for name in os.environ if name.startswith(("TRITON_", "AMDGCN_", "NVPTX_", "LLVM_"))]:
        del os.environ[name]
    for name in ("PTXAS_OPTIONS", "DISABLE_PTXAS_OPT", "USE_IR_LOC"):
        os.environ.pop(name, None)
    os.environ["TRITON_CACHE_DIR"] = cache_folder
    # What every supported release does by default; newer ones warn unless it is said.
    os.environ["TRITON_DEFAULT_FP_FUSION"] = "1"


def _keep_compiling(settings: Settings) -> None:
    """Make `TRITON_INTERPRET=1`, a common left-over of debugging, harmless: decorators always make kernels."""
    from triton import knobs

    def read(_group: Any) -> bool:
        return False

    def write(_group: Any, value: Any) -> None:
        settings.interpreter_wanted = settings.interpreter_wanted or bool(value)

    type(knobs.runtime).interpret = property(read, write, lambda _group: None)
