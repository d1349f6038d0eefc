"""Call an entry point on stand-ins, and turn what happened into a plan or a fault."""

from __future__ import annotations

import traceback
from collections.abc import Mapping
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import msgspec
import torch
from triton.compiler import CompiledKernel
from triton.runtime.jit import JITFunction

from tritonkata.boundary.messages import Failed, Load, Trace, Traced
from tritonkata.model.faults import Fault, Phase
from tritonkata.model.plan import View
from tritonkata.model.tensors import ITEMSIZE
from tritonkata.worker import device
from tritonkata.worker.hostops import HostOpRefused
from tritonkata.worker.loading import fault_of, load_submission
from tritonkata.worker.tracer import autotune
from tritonkata.worker.tracer.environment import Settings
from tritonkata.worker.tracer.recorder import LaunchError, RecordingDriver, install_grid_check
from tritonkata.worker.tracer.recording import MAX_OUTPUTS, Memory, Recording
from tritonkata.worker.tracer.standin import DTYPES, ArgumentError, StandIn, install, stand_in, view_of
from tritonkata.worker.wording import kind_of, one_line, what_came_back

_HERE = str(Path(__file__).parent)
_INTERPRET_NOTE = "The file switches Triton's interpreter on (TRITON_INTERPRET); that is ignored here."


# Which function's callees belong to which phase: the compiler runs, or a kernel turns out not to fit the device.
MARKS: Mapping[CodeType, Phase] = {
    load_submission.__code__: "load",
    JITFunction._do_compile.__code__: "compile",
    CompiledKernel._init_handles.__code__: "compile",
}


class InvalidResult(Exception):
    """What the entry point returned is not what a kata asks for. The message says what came back."""


class Tracer:
    """One submission's process: the recording driver, and the calls that it records."""

    def __init__(self, load: Load, settings: Settings) -> None:
        from triton.runtime import driver

        self._target = load.target
        self._settings = settings
        self.memory = Memory()
        self.memory.total_bytes = load.device.total_memory
        install(self.memory)
        device.install(load.device)
        autotune.install(self.memory)
        install_grid_check()
        driver.set_active(RecordingDriver(load, self.memory, settings))

    def trace(self, module: ModuleType, path: Path, request: Trace) -> Traced | Failed:
        """Answer one request. What the submission raises becomes a fault, whatever it is."""
        self._settings.restore()
        recording = self.memory.recording = Recording(self._target)
        try:
            inputs = [
                stand_in(self.memory, spec, name)
                for name, spec in zip(request.parameters, request.arguments, strict=True)
            ]
            recording.n_inputs = len(inputs)
            with torch.no_grad():  # torch's bookkeeping for gradients asks for a device, and ends the process
                result = getattr(module, request.entry)(*inputs)
            outputs, returned_tuple = _outputs(request.entry, result)
            return Traced(recording.plan(outputs, returned_tuple), self._notes())
        except BaseException as error:  # SystemExit and KeyboardInterrupt are the submission's too
            return Failed(_fault(error, path), self._notes())
        finally:
            self.memory.recording = None

    def _notes(self) -> tuple[str, ...]:
        return (_INTERPRET_NOTE,) if self._settings.interpreter_wanted else ()


def _outputs(entry: str, result: Any) -> tuple[tuple[View, ...], bool]:
    """The views that were returned, and whether they came in a tuple or list."""
    several = isinstance(result, (tuple, list))
    parts = tuple(result) if several else (result,)
    if len(parts) > MAX_OUTPUTS:
        raise InvalidResult(f"{entry} returned {len(parts)} values, more than {MAX_OUTPUTS}")
    for place, part in enumerate(parts):
        where = what_came_back(entry, place, len(parts), several)
        if not isinstance(part, StandIn):
            hint = ": is the return statement missing?" if part is None and not several else ""
            raise InvalidResult(f"{where} {_describe(part)}{hint}")
        if part.meta.dtype not in DTYPES.values():
            raise InvalidResult(f"{where} a tensor of {part.meta.dtype}, none of {', '.join(ITEMSIZE)}")
    return tuple(view_of(part, "returning a tensor") for part in parts), several


def _describe(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        return f"a tensor on {value.device}, not on the inputs' device"
    return f"{kind_of(value)}, not a tensor"


def _fault(error: BaseException, path: Path) -> Fault:
    if isinstance(error, InvalidResult):
        return Fault(
            "invalid_output", "result", one_line(str(error)), advice="Return the tensor that the kernel wrote."
        )
    if _is_own(error):
        return Fault("grader_error", "protocol", one_line(_last_frames(error)), type(error).__name__[:200])
    fault = fault_of(error, path, "host")
    if isinstance(error, OSError | MemoryError):  # the machine ran short, and no smaller block helps
        return fault
    if fault.verdict == "runtime_error" and _in_compiler(error):
        advice = "Triton's compiler gave up on this kernel. Try smaller blocks, or simpler expressions."
        if "out of resource: threads" in fault.message:
            advice = "Launch it with fewer warps: each has 32 threads."
        return msgspec.structs.replace(fault, verdict="compile_error", phase="compile", advice=fault.advice or advice)
    return fault


def _frames(error: BaseException) -> list[tuple[str, str]]:
    """File and function of each frame that the error passed, outermost first."""
    return [(frame.f_code.co_filename, frame.f_code.co_name) for frame, _ in traceback.walk_tb(error.__traceback__)]


def _is_own(error: BaseException) -> bool:
    """Whether the tracer itself broke: its own frame is the innermost, and it did not mean to raise."""
    if isinstance(
        error, (HostOpRefused, LaunchError, ArgumentError, KeyboardInterrupt, SystemExit, MemoryError, RecursionError)
    ):
        return False
    file, function = (_frames(error) or [("", "")])[-1]
    return file.startswith(_HERE) and function not in _MAY_RAISE


def _in_compiler(error: BaseException) -> bool:
    return any(MARKS.get(frame.f_code) == "compile" for frame, _ in traceback.walk_tb(error.__traceback__))


def _last_frames(error: BaseException) -> str:
    places = [f"{Path(file).name}:{function}" for file, function in _frames(error)[-3:]]
    return f"the tracer failed: {error} ({' > '.join(places)})"


# Where the tracer hands the learner's own arguments to torch or Triton, or answers as they would.
_MAY_RAISE = frozenset(
    {
        "_on_meta",
        "trace",
        "run",
        "_run_one",
        "_record_all",
        "allocate",
        "__torch_function__",
        "_indexed",
        "contiguous",
        "_to",
        "_cuda",
        "wrapped",
        "__len__",
    }
)
