"""What an answer means: works, does not, or is not there, and the fix."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

Status = Literal["ok", "warn", "fail", "absent"]

PARAMETERS = "/proc/driver/nvidia/params"


class Finding(msgspec.Struct, frozen=True):
    """One thing that was looked at. `fix` is empty where nothing has to be done.

    `absent` is something that an engine could use and that is not on this machine.
    """

    name: str
    status: Status
    detail: str
    fix: str = ""


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
    """Whether this user may read hardware counters, from the driver's parameters."""
    name = "profiling permission"
    if parameters is None:
        return Finding(name, "absent", f"no {PARAMETERS}: no NVIDIA driver is loaded")
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


def _dotted(version: tuple[int, int]) -> str:
    return f"{version[0]}.{version[1]}"
