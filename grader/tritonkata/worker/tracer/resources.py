"""Registers and spills of a compiled kernel, from the tools and texts that come with Triton."""

from __future__ import annotations

import hashlib
import re
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

_SECONDS = 20.0
_BYTES_PER_AMD_REGISTER = 4


@dataclass(frozen=True)
class Usage:
    """What one thread needs. `spilled_bytes` is its frame in local memory, which is where spills go.

    None where the tool is missing or said nothing.
    """

    registers: int | None = None
    spilled_bytes: int | None = None


_known: dict[str, Usage] = {}


def usage_of_cubin(cubin: bytes, kernel: str) -> Usage:
    """Ask `cuobjdump` once for each distinct cubin."""
    key = hashlib.sha256(cubin).hexdigest()
    if key not in _known:
        _known[key] = _parse_cuobjdump(_run_cuobjdump(cubin), kernel)
    return _known[key]


def usage_of_amdgcn(assembly: str) -> Usage:
    """Read the kernel's metadata at the end of AMD's assembly text."""
    registers = re.findall(r"^\s*\.vgpr_count:\s*(\d+)", assembly, re.MULTILINE)
    spilled = re.findall(r"^\s*\.vgpr_spill_count:\s*(\d+)", assembly, re.MULTILINE)
    return Usage(
        int(registers[-1]) if registers else None,
        int(spilled[-1]) * _BYTES_PER_AMD_REGISTER if spilled else None,
    )


def _run_cuobjdump(cubin: bytes) -> str:
    tool = _cuobjdump()
    if tool is None:
        return ""
    try:
        with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
            file.write(cubin)
            file.flush()
            command = [str(tool), "--dump-resource-usage", file.name]
            done = subprocess.run(command, capture_output=True, timeout=_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.decode("utf-8", "replace")


def _cuobjdump() -> Path | None:
    import triton

    tool = Path(triton.__file__).parent / "backends" / "nvidia" / "bin" / "cuobjdump"
    return tool if tool.is_file() else None


def _parse_cuobjdump(text: str, kernel: str) -> Usage:
    section = text.partition(f"Function {kernel}:")[2]
    found = {
        name: int(value) for name, value in re.findall(r"\b(REG|STACK|LOCAL):(\d+)", section.partition("Function")[0])
    }
    if "REG" not in found:
        return Usage()
    return Usage(found["REG"], found.get("STACK", 0) + found.get("LOCAL", 0))
