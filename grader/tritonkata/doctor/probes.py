"""`python -m tritonkata.doctor.probes PROBE`: looks at one thing, and prints one line of JSON.

Whatever imports a heavy or fragile library runs in such a process of its own, so that a crash there is a finding and
not the end of the examination.
"""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import msgspec

PROBE_SECONDS = 120.0


def ask(probe: str) -> dict[str, Any]:
    """The answer of a probe's process, with an `error` where there is none."""
    # -P: a learner's file in the working directory must not be imported in a library's place.
    command = [sys.executable, "-P", "-m", "tritonkata.doctor.probes", probe]
    try:
        done = subprocess.run(
            command, capture_output=True, stdin=subprocess.DEVNULL, timeout=PROBE_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return {"error": f"no answer within {PROBE_SECONDS:g} s"}
    try:
        answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    except (IndexError, ValueError):
        last = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
        return {"error": f"its process ended with code {done.returncode}" + (f": {last[0]}" if last else "")}
    return answer


def _library_probe(name: str) -> Callable[[], dict[str, Any]]:
    return lambda: {"version": importlib.import_module(name).__version__}


def _probe_forks() -> dict[str, Any]:
    from tritonkata.boundary.sandbox import SandboxUnavailable, find_bubblewrap
    from tritonkata.boundary.template import Template, TemplateFailed
    from tritonkata.engine.stock import INTERPRETER

    try:
        template = Template(INTERPRETER, bubblewrap=find_bubblewrap())
    except SandboxUnavailable:
        return {"error": "there is no sandbox to fork in"}
    try:
        template.fork().end()
    except TemplateFailed as error:
        return {"error": str(error)}
    finally:
        template.end()
    return {}


def _probe_gpu() -> dict[str, Any]:
    from importlib.metadata import PackageNotFoundError, version

    from tritonkata.launcher.probe import probe

    try:
        bindings = version("cuda-bindings")
    except PackageNotFoundError:
        bindings = "of unknown version"
    return {"bindings": bindings, **probe()}


def _probe_cupti() -> dict[str, Any]:
    from tritonkata.launcher.traffic.library import CuptiMissing, load

    try:
        _, version, path = load()
    except CuptiMissing as error:
        return {"error": str(error)}
    return {"version": version, "path": path}


def _probe_counters() -> dict[str, Any]:
    from tritonkata.launcher.probe import probe

    found = probe()
    if "error" in found:
        return found
    from tritonkata.launcher.traffic.__main__ import compare

    answer: dict[str, Any] = msgspec.to_builtins(compare(0))
    return answer


PROBES: dict[str, Callable[[], dict[str, Any]]] = {
    "numpy": _library_probe("numpy"),
    "torch": _library_probe("torch"),
    "triton": _library_probe("triton"),
    "gpu": _probe_gpu,
    "cupti": _probe_cupti,
    "forks": _probe_forks,
}
COUNTERS_PROBE = "counters"


def _answer(probe: str) -> dict[str, Any]:
    try:
        return _probe_counters() if probe == COUNTERS_PROBE else PROBES[probe]()
    # Whatever an import raises is the finding.
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}


if __name__ == "__main__":
    print(json.dumps(_answer(sys.argv[1])))
