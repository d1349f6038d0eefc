"""The whole examination."""

from __future__ import annotations

import platform
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec

from tritonkata import __version__
from tritonkata.boundary import cgroup
from tritonkata.doctor.findings import (
    PARAMETERS,
    Finding,
    combination_finding,
    cupti_finding,
    forks_finding,
    gpu_finding,
    library_finding,
    profiling_finding,
)
from tritonkata.doctor.probes import COUNTERS_PROBE, PROBES, ask
from tritonkata.launcher.traffic.comparison import Comparison

_CAP_SYS_ADMIN = 21
_CAP_PERFMON = 38
_TRITON_RANGE = ((3, 6), (3, 10))
_TORCH_OLDEST = (2, 6)


class Health(msgspec.Struct, frozen=True):
    """All findings, and the engines that can grade here."""

    findings: tuple[Finding, ...]
    engines: tuple[str, ...]
    tritonkata: str = __version__


def examine() -> Health:
    """Look at everything; takes as long as importing torch and triton once."""
    names = tuple(PROBES)
    with ThreadPoolExecutor(len(names)) as pool:
        answers = dict(zip(names, pool.map(ask, names), strict=True))
    versions = {name: answers[name].get("version", "") for name in ("numpy", "torch", "triton")}
    libraries = (
        library_finding("numpy", answers["numpy"], (1, 26), None),
        library_finding("torch", answers["torch"], _TORCH_OLDEST, None),
        library_finding("triton", answers["triton"], *_TRITON_RANGE),
    )
    pair = combination_finding(versions["triton"], versions["numpy"])
    gpu = gpu_finding(answers["gpu"])
    findings = (
        Finding("python", "ok", f"{platform.python_version()} at {sys.executable}"),
        *libraries,
        pair,
        _sandbox_finding(),
        forks_finding(answers["forks"]),
        Finding("control groups", "ok", cgroup.description()),
        gpu,
        cupti_finding(answers["cupti"], has_gpu=gpu.status == "ok"),
        profiling_finding(_read(Path(PARAMETERS)), privileged=_may_profile()),
    )
    return Health(findings, _engines(libraries, gpu))


def compare_counters() -> Comparison | str:
    """What CUPTI and Nsight Compute count of one copy, or why neither could be asked."""
    answer = ask(COUNTERS_PROBE)
    return str(answer["error"]) if "error" in answer else msgspec.convert(answer, Comparison)


def _engines(libraries: tuple[Finding, ...], gpu: Finding) -> tuple[str, ...]:
    """Both engines trace with torch and triton and count in the interpreter, so they share the libraries."""
    if any(finding.status == "fail" for finding in libraries):
        return ()
    return ("interpreter", "gpu") if gpu.status == "ok" else ("interpreter",)


def _sandbox_finding() -> Finding:
    from tritonkata.boundary.sandbox import SandboxUnavailable, find_bubblewrap

    try:
        return Finding("sandbox", "ok", f"{find_bubblewrap()} starts processes")
    except SandboxUnavailable as error:
        return Finding(
            "sandbox",
            "warn",
            f"{error}; submissions run with process limits only",
            "apt-get install bubblewrap (or your system's package of that name), and allow user namespaces",
        )


def _may_profile() -> bool:
    """CAP_SYS_ADMIN or CAP_PERFMON among the effective capabilities."""
    for line in (_read(Path("/proc/self/status")) or "").splitlines():
        if line.startswith("CapEff:"):
            held = int(line.split()[1], 16)
            return bool(held >> _CAP_SYS_ADMIN & 1 or held >> _CAP_PERFMON & 1)
    return False


def _read(path: Path) -> str | None:
    try:
        return path.read_text(errors="replace")
    except OSError:
        return None
