"""One case, in a process of its own: import the submission, call it, and say what happened."""

from __future__ import annotations

import traceback
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import CodeType
from typing import Any

import msgspec
import torch

from tritonkata.boundary.channel import Blob
from tritonkata.boundary.messages import Failed, Interpret, Interpreted, Load, Loaded
from tritonkata.model.faults import Fault, Phase
from tritonkata.worker.interpreter import launching
from tritonkata.worker.interpreter.access import Running
from tritonkata.worker.interpreter.hostcode import host_code
from tritonkata.worker.interpreter.memory import Memory, traffic_of, unwritten
from tritonkata.worker.interpreter.tensors import NAMES, DeviceTensor, geometry
from tritonkata.worker.interpreter.values import input_changed, input_tensor, output_data
from tritonkata.worker.loading import SubmissionFault, fault_of, load_submission, safe_filename
from tritonkata.worker.wording import kind_of, one_line, what_came_back

MAX_OUTPUTS = 16
MAX_OUTPUT_BYTES = 2 << 30

# Which function's callees belong to which phase.
MARKS: Mapping[CodeType, Phase] = {
    load_submission.__code__: "load",
    launching.run_programs.__code__: "kernel",
}
Reply = tuple[Loaded | Interpreted | Failed, Sequence[memoryview]]


def try_loading(load: Load, folder: Path) -> Reply:
    """Whether the submission imports and has its entry points."""
    try:
        load_submission(load, folder)
    except SubmissionFault as error:
        return Failed(error.fault), ()
    return Loaded(), ()


def run_case(load: Load, folder: Path, request: Interpret, blobs: Sequence[Blob]) -> Reply:
    """Call the entry point on the values of `request`; blobs are the bytes of its arguments."""
    path = folder / safe_filename(load.filename)
    running = Running(Memory(), str(path))
    warnings.filterwarnings("ignore", category=RuntimeWarning)  # NumPy's, about infinities that are meant
    launching.install(running)
    try:
        module = load_submission(load, folder)
    except SubmissionFault as error:
        return Failed(error.fault), ()
    arguments = [
        input_tensor(running, name, data, blob)
        for name, data, blob in zip(request.parameters, request.arguments, blobs, strict=True)
    ]
    try:
        with host_code(running):
            result = getattr(module, request.entry)(*arguments)
    except BaseException as error:
        fault = _first_fault(running, path) or fault_of(error, path, _phase(error))
        return Failed(_with_kernel_phase(fault)), ()
    caught = _first_fault(running, path)
    if caught is not None:
        return Failed(caught), ()
    return _reply(running, request, blobs, result)


def _first_fault(running: Running, path: Path) -> Fault | None:
    """A fault that was raised, even where the submission caught it."""
    if running.fault is not None:
        return running.fault
    return fault_of(running.refused, path, "host") if running.refused is not None else None


def _phase(error: BaseException) -> Phase:
    """`kernel` where a program was running, `host` otherwise (a function for the grid is host code too)."""
    phases = [MARKS.get(frame.f_code) for frame, _ in traceback.walk_tb(error.__traceback__)]
    return "kernel" if "kernel" in phases else "host"


def _with_kernel_phase(fault: Fault) -> Fault:
    # A kernel that does not suit the interpreter's Python is no failure to compile: that is tried elsewhere.
    if fault.verdict == "compile_error" and fault.phase == "compile":
        return msgspec.structs.replace(fault, phase="kernel")
    return fault


def _reply(running: Running, request: Interpret, blobs: Sequence[Blob], result: Any) -> Reply:
    returned_tuple = isinstance(result, tuple | list)
    results = tuple(result) if returned_tuple else (result,)
    message = _why_invalid(request.entry, results, returned_tuple)
    if message:
        return Failed(Fault("invalid_output", "result", message)), ()
    memory = running.memory
    _name_results(results)
    data = [output_data(tensor) for tensor in results]
    inputs = memory.storages[: len(request.arguments)]
    changed = [
        storage.name
        for storage, argument, blob in zip(inputs, request.arguments, blobs, strict=True)
        if input_changed(storage, argument, blob)
    ]
    missing = [unwritten(index, tensor.storage_of, *geometry(tensor)) for index, tensor in enumerate(results)]
    reply = Interpreted(
        outputs=tuple(one for one, _ in data),
        returned_tuple=returned_tuple,
        traffic=traffic_of(memory),
        launches=running.launches,
        inputs_changed=tuple(changed),
        aliases=tuple(index for index, tensor in enumerate(results) if tensor.storage_of.is_input),
        unwritten=tuple(one for one in missing if one is not None),
        notes=tuple(running.notes[:16]),
    )
    return reply, [bytes_of for _, bytes_of in data]


def _name_results(results: tuple[Any, ...]) -> None:
    """A learner looks for the result's traffic, and not for that of `empty[0]`."""
    for index, tensor in enumerate(results):
        if not tensor.storage_of.is_input:
            tensor.storage_of.name = "result" if len(results) == 1 else f"result[{index}]"


def _why_invalid(entry: str, results: tuple[Any, ...], several: bool) -> str:
    if len(results) > MAX_OUTPUTS:
        return f"{entry} returned {len(results)} values, more than {MAX_OUTPUTS}"
    for place, value in enumerate(results):
        wrong = _wrong_with(value)
        if wrong:
            hint = ": is the return statement missing?" if value is None and not several else ""
            return one_line(f"{what_came_back(entry, place, len(results), several)} {wrong}{hint}")
    return ""


def _wrong_with(value: Any) -> str:
    if not isinstance(value, torch.Tensor):
        return f"{kind_of(value)}, not a tensor"
    if not isinstance(value, DeviceTensor):
        return "a tensor on the CPU, not on x.device"
    if value.dtype not in NAMES or value.dim() > 8:
        return f"a {value.dim()}-dimensional tensor of {value.dtype}, which no drill asks for"
    if value.numel() * value.element_size() > MAX_OUTPUT_BYTES:
        return f"a tensor of {value.numel()} elements, which is more than any drill asks for"
    return ""
