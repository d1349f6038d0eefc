"""The launcher's own kernels assemble for every target; the assembler is the one in Triton's wheel."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
import triton

from tritonkata.launcher.copying import THREADS, VECTORS, ptx

ASSEMBLERS = sorted((Path(triton.__file__).parent / "backends" / "nvidia" / "bin").glob("ptxas*"))


@pytest.mark.parametrize("target", ["sm_80", "sm_90"])
@pytest.mark.parametrize(("threads", "vectors"), [(THREADS, VECTORS), (128, 8)])
def test_the_kernels_assemble_without_spills(tmp_path: Path, target: str, threads: int, vectors: int) -> None:
    source = tmp_path / "copy.ptx"
    source.write_text(ptx(threads, vectors))
    command = [ASSEMBLERS[0], "-v", f"--gpu-name={target}", f"--output-file={tmp_path / 'copy.cubin'}", source]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "Compiling entry function 'copy'" in done.stderr
    assert "Compiling entry function 'read'" in done.stderr
    assert "Compiling entry function 'compare'" in done.stderr
    assert done.stderr.count("0 bytes spill stores") == 3
