"""Where NVIDIA's counter library, libcupti, is on this machine."""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path

_PATTERNS = (
    "targets/*/lib/libcupti.so*",
    "extras/CUPTI/lib64/libcupti.so*",
    "lib64/libcupti.so*",
)
_PACKAGES = ("nvidia/*/lib/libcupti.so*", "triton/backends/nvidia/lib/cupti/libcupti.so*")


class CuptiMissing(Exception):
    """No usable libcupti. The message says what was tried and what to install."""


def load() -> tuple[ctypes.CDLL, int, str]:
    """The library, its API version, and its path.

    Raises:
        CuptiMissing: none can be loaded, or only one that is too old.
    """
    tried: list[str] = []
    for path in candidates():
        try:
            library = ctypes.CDLL(path)
            number = ctypes.c_uint32()
            if library.cuptiGetVersion(ctypes.byref(number)) == 0 and hasattr(library, "cuptiRangeProfilerEnable"):
                return library, number.value, path
            tried.append(f"{path}: API version {number.value} has no range profiler, CUDA 12.6 or newer has")
        except (OSError, AttributeError) as error:
            tried.append(f"{path}: {error}")
    what = f"libcupti cannot be used ({tried[0]})" if tried else "libcupti was not found"
    raise CuptiMissing(f"{what}; install the CUDA toolkit, or: python -m pip install nvidia-cuda-cupti")


def candidates() -> list[str]:
    """Paths to try: the CUDA toolkit's, then NVIDIA's wheel's, then Triton's own."""
    roots = [os.environ.get("CUDA_HOME", ""), "/usr/local/cuda", *sorted(map(str, Path("/usr/local").glob("cuda-*")))]
    found = [str(path) for root in roots if root for pattern in _PATTERNS for path in sorted(Path(root).glob(pattern))]
    for pattern in _PACKAGES:
        found += [str(path) for folder in sys.path for path in sorted(Path(folder or ".").glob(pattern))]
    return [*dict.fromkeys(found), "libcupti.so"]


def header_folders() -> list[Path]:
    """Where the headers that belong to the libraries may lie."""
    folders = []
    for path in candidates():
        above = Path(path).resolve().parents
        folders += [folder / "include" for folder in above[1:4]]
    return [folder for folder in dict.fromkeys(folders) if (folder / "cupti_range_profiler.h").is_file()]
