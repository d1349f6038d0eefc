"""The recompiler process: `python -m tritonkata.worker.recompiler READ_FD WRITE_FD`.

It compiles TTIR that a tracer sent, and never sees a submission's Python. TTIR is data, but a hostile one may
still look for a hole in the compiler, so this process has a sandbox of its own.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from tritonkata.worker import bootstrap

if TYPE_CHECKING:
    from tritonkata.boundary.messages import Failed, Recompile, Recompiled

OPTIONS = (
    "num_warps",
    "num_stages",
    "num_ctas",
    "maxnreg",
    "enable_fp_fusion",
    "enable_reflect_ftz",
    "max_num_imprecise_acc_default",
    "launch_cooperative_grid",
    "launch_pdl",
    "sanitize_overflow",
    "debug",
    "minRegAutoWS",
    "maxRegAutoWS",
)
"""What shapes the code. Paths, texts and other compilers' switches are no options here."""


def main() -> int:
    """Answer requests. Returns 0 when the controller closed the pipe."""
    bootstrap.enter()
    from tritonkata.boundary.channel import Channel, ChannelClosed
    from tritonkata.boundary.messages import Ready, Recompile
    from tritonkata.worker.tracer.environment import prepare

    channel = Channel(int(sys.argv[1]), int(sys.argv[2]))
    with tempfile.TemporaryDirectory(prefix="recompiler-", ignore_cleanup_errors=True) as folder:
        prepare(str(Path(folder) / "cache"))
        import triton

        channel.send(Ready(str(triton.__version__), "", ""))
        try:
            while True:
                channel.send(_answer(channel.receive(Recompile).message, Path(folder)))
        except ChannelClosed:
            return 0


def _answer(request: Recompile, folder: Path) -> Recompiled | Failed:
    import triton
    from triton.backends.compiler import GPUTarget

    from tritonkata.boundary.messages import Failed, Recompiled
    from tritonkata.model.faults import Fault
    from tritonkata.worker.wording import one_line, text_of

    path = folder / "kernel.ttir"
    path.write_text(request.origin.ttir, encoding="utf-8")
    options = {name: value for name, value in request.origin.options.items() if name in OPTIONS}
    try:
        capability = int(request.target.removeprefix("sm_"))
        compiled = triton.compile(str(path), target=GPUTarget("cuda", capability, 32), options=options)
        return Recompiled(bytes(compiled.asm["cubin"]))
    except Exception as error:
        return Failed(
            Fault("compile_error", "compile", f"its TTIR cannot be compiled: {one_line(text_of(error))}"[:2000])
        )


if __name__ == "__main__":
    sys.exit(main())
