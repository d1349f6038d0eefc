"""What this machine has: a GPU or the reason why not, and the processor's name."""

from __future__ import annotations

import json
import platform
import subprocess
import sys
from pathlib import Path

PROBE_SECONDS = 30.0


def gpu_problem() -> str | None:
    """Why the GPU engine cannot run here, or None. Asked in a process of its own."""
    command = [sys.executable, "-m", "tritonkata.launcher", "--probe"]
    try:
        done = subprocess.run(command, capture_output=True, timeout=PROBE_SECONDS, check=False, cwd="/")
        answer = json.loads(done.stdout.decode(errors="replace").strip().splitlines()[-1])
    except (OSError, subprocess.TimeoutExpired, ValueError, IndexError) as error:
        return f"the probe failed: {error}"
    return None if done.returncode == 0 else str(answer.get("error", "unknown"))


def processor_name() -> str:
    """The processor's name, as Linux gives it."""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()
