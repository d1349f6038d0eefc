"""What this machine has: a GPU or the reason why not, and the processor's name."""

from __future__ import annotations

import json
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

PROBE_SECONDS = 30.0


def gpu_problem() -> str | None:
    """Why the GPU engine cannot run here, or None. Asked in a process of its own."""
    answer = _probed()
    return None if "error" not in answer else str(answer["error"])


def gpus_for(engine: str) -> tuple[int, ...]:
    """The GPUs that an engine has to itself, by index: all of them, or none for the interpreter."""
    if engine == "interpreter":
        return ()
    return tuple(range(len(_probed().get("devices", ()))))


def _probed() -> dict[str, Any]:
    command = [sys.executable, "-m", "tritonkata.launcher", "--probe"]
    try:
        done = subprocess.run(command, capture_output=True, timeout=PROBE_SECONDS, check=False, cwd="/")
        answer: dict[str, Any] = json.loads(done.stdout.decode(errors="replace").strip().splitlines()[-1])
    except (OSError, subprocess.TimeoutExpired, ValueError, IndexError) as error:
        return {"error": f"the probe failed: {error}"}
    return answer if done.returncode == 0 else {"error": answer.get("error", "unknown")}


def processor_name() -> str:
    """The processor's name, as Linux gives it."""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()
