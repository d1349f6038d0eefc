"""What works on this machine: GPU, driver, counters, libraries, sandbox, each with the fix.

Whatever imports a heavy or fragile library runs in a process of its own
(`python -m tritonkata.doctor PROBE` prints one line of JSON), so that a crash
there is a finding and not the end of the examination.
"""

from __future__ import annotations

import importlib
import json
import platform
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Literal

import msgspec

from tritonkata import __version__
from tritonkata.boundary import cgroup
from tritonkata.launcher.traffic.comparison import Comparison

Status = Literal["ok", "warn", "fail", "absent"]

PROBE_SECONDS = 120.0
_DRIVER_PARAMETERS = Path("/proc/driver/nvidia/params")
_CAP_SYS_ADMIN = 21
_CAP_PERFMON = 38
_TRITON_RANGE = ((3, 6), (3, 10))
_TORCH_OLDEST = (2, 6)


class Finding(msgspec.Struct, frozen=True):
    """One thing that was looked at. `fix` is empty where nothing has to be done.

    `absent` is something that an engine could use and that is not on this machine.
    """

    name: str
    status: Status
    detail: str
    fix: str = ""


class Health(msgspec.Struct, frozen=True):
    """All findings, and the engines that can grade here."""

    findings: tuple[Finding, ...]
    engines: tuple[str, ...]
    tritonkata: str = __version__


def examine() -> Health:
    """Look at everything; takes as long as importing torch and triton once."""
    names = tuple(_PROBES)
    with ThreadPoolExecutor(len(names)) as pool:
        answers = dict(zip(names, pool.map(_ask, names), strict=True))
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
        profiling_finding(_read(_DRIVER_PARAMETERS), privileged=_may_profile()),
    )
    return Health(findings, _engines(libraries, gpu))


def compare_counters() -> Comparison | str:
    """What CUPTI and Nsight Compute count of one copy, or why neither could be asked."""
    answer = _ask(_COUNTERS_PROBE)
    return str(answer["error"]) if "error" in answer else msgspec.convert(answer, Comparison)


def library_finding(
    name: str, answer: dict[str, Any], oldest: tuple[int, int], newest: tuple[int, int] | None
) -> Finding:
    """Whether a library imports and its version is at least `oldest` and below `newest`."""
    wanted = f"{name}>={_dotted(oldest)}" + (f",<{_dotted(newest)}" if newest else "")
    fix = f'python -m pip install "{wanted}"'
    if "error" in answer:
        return Finding(name, "fail", f"cannot be imported: {answer['error']}", fix)
    version = str(answer["version"])
    number = release(version)
    if number < oldest or (newest is not None and number >= newest):
        return Finding(name, "fail", f"{version} is not supported", fix)
    return Finding(name, "ok", version)


def combination_finding(triton: str, numpy: str) -> Finding:
    """The pair that breaks Triton's own interpreter: 3.6 with NumPy 2.4 or newer."""
    name = "triton with numpy"
    if not triton or not numpy:
        return Finding(name, "absent", "not both are there")
    if release(triton) < (3, 7) and release(numpy) >= (2, 4):
        return Finding(
            name,
            "warn",
            f"with TRITON_INTERPRET=1 your own runs of Triton {triton} under NumPy {numpy} fail on loops with a "
            "run-time bound; `kata check` is not affected, it mends this for itself",
            'python -m pip install "numpy<2.4", or a Triton from 3.7 on',
        )
    return Finding(name, "ok", f"Triton {triton} and NumPy {numpy} work together")


def gpu_finding(answer: dict[str, Any]) -> Finding:
    """Driver, bindings and cards."""
    if "error" in answer:
        return Finding(
            "gpu",
            "absent",
            str(answer["error"]),
            "not needed for --engine interpreter; see `nvidia-smi` if there is a card",
        )
    cards = ", ".join(
        f"{card['name']} (sm_{card['capability'][0]}{card['capability'][1]}, {card['memory_bytes'] / 2**30:.0f} GiB)"
        for card in answer["devices"]
    )
    return Finding("gpu", "ok", f"{cards}, driver API {answer['driver']}, cuda-bindings {answer['bindings']}")


def cupti_finding(answer: dict[str, Any], *, has_gpu: bool) -> Finding:
    """Whether NVIDIA's counter library can be loaded."""
    if "version" in answer:
        return Finding("cupti", "ok", f"API version {answer['version']} at {answer['path']}")
    if not has_gpu:
        return Finding("cupti", "absent", "only used with a GPU")
    what, _, fix = str(answer["error"]).partition("; ")
    return Finding("cupti", "warn", what, fix or "see `kata doctor --counters`")


def profiling_finding(parameters: str | None, *, privileged: bool) -> Finding:
    """Whether this user may read hardware counters, from the driver's `/proc/driver/nvidia/params`."""
    name = "profiling permission"
    if parameters is None:
        return Finding(name, "absent", f"no {_DRIVER_PARAMETERS}: no NVIDIA driver is loaded")
    fields = dict(line.split(":", 1) for line in parameters.splitlines() if ":" in line)
    admin_only = fields.get("RmProfilingAdminOnly", "").strip()
    if admin_only == "0":
        return Finding(name, "ok", "every user may read hardware counters (RmProfilingAdminOnly is 0)")
    if privileged:
        return Finding(name, "ok", "counters are for administrators only, and this process is one")
    return Finding(
        name,
        "warn",
        f"counters are for administrators only (RmProfilingAdminOnly is {admin_only or 'not stated'})",
        "an administrator writes `options nvidia NVreg_RestrictProfilingToAdminUsers=0` into "
        "/etc/modprobe.d/nvidia-profiling.conf, then rebuilds the initramfs and restarts; "
        "in a container: --cap-add=SYS_ADMIN",
    )


def release(version: str) -> tuple[int, int]:
    """Major and minor of a version such as `2.13.0+cpu`; (0, 0) if it is none."""
    parts = version.split(".")
    if len(parts) < 2 or not parts[0].isdigit():
        return (0, 0)
    minor = "".join(c for c in parts[1] if c.isdigit())
    return (int(parts[0]), int(minor or 0))


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


def forks_finding(answer: dict[str, Any]) -> Finding:
    """Whether many submissions can share one import of torch and Triton."""
    if "error" not in answer:
        detail = "`kata grade` imports torch and triton once, and forks a worker for each submission"
        return Finding("forked workers", "ok", detail)
    return Finding(
        "forked workers",
        "warn",
        f"not here ({answer['error']}); `kata grade` imports torch and triton for each submission, which takes longer",
        "allow user namespaces inside each other, or grade as root in a container with CAP_SYS_ADMIN",
    )


def _ask(probe: str) -> dict[str, Any]:
    # -P: a learner's file in the working directory must not be imported in a library's place.
    command = [sys.executable, "-P", "-m", "tritonkata.doctor", probe]
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


def _dotted(version: tuple[int, int]) -> str:
    return f"{version[0]}.{version[1]}"


_PROBES: dict[str, Callable[[], dict[str, Any]]] = {
    "numpy": _library_probe("numpy"),
    "torch": _library_probe("torch"),
    "triton": _library_probe("triton"),
    "gpu": _probe_gpu,
    "cupti": _probe_cupti,
    "forks": _probe_forks,
}
_COUNTERS_PROBE = "counters"


def _answer(probe: str) -> dict[str, Any]:
    try:
        return _probe_counters() if probe == _COUNTERS_PROBE else _PROBES[probe]()
    # Whatever an import raises is the finding.
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}


if __name__ == "__main__":
    print(json.dumps(_answer(sys.argv[1])))
