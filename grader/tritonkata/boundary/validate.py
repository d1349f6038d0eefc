"""Whether a launch plan may reach the launcher.

A plan is written by the process that ran the submission, so nothing in it is
believed: every number is checked against the buffers, the argument storages and
the device's limits. One function a rule; all arithmetic is in Python's
integers, which do not overflow.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import msgspec

from tritonkata.boundary.cubin import NotACubin, check_cubin
from tritonkata.boundary.messages import DeviceFigures
from tritonkata.model.plan import (
    Buffer,
    Choice,
    Copy,
    Fill,
    InvalidPlan,
    Kernel,
    Launch,
    LaunchPlan,
    Pointer,
    Scalar,
    Step,
    View,
)
from tritonkata.model.tensors import ITEMSIZE, TensorSpec

MAX_LAUNCHES = 1024
MAX_THREADS = 1024
MAX_GRID = ((1 << 31) - 1, 65535, 65535)
MAX_OUTPUT_BYTES = 6 << 30
"""All outputs of one replay together: they cross a pipe in one frame."""

_CLUSTER_CAPABILITY = (9, 0)

_INTEGER_RANGE: dict[str, tuple[int, int]] = {
    "i1": (0, 1),
    "u1": (0, 1),
    **{f"i{bits}": (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) for bits in (8, 16, 32, 64)},
    **{f"u{bits}": (0, (1 << bits) - 1) for bits in (8, 16, 32, 64)},
}
_LARGEST_FLOAT: dict[str, float] = {
    "fp16": 65504.0,
    "bf16": 3.3895313892515355e38,
    "fp32": 3.4028234663852886e38,
    "f32": 3.4028234663852886e38,
    "fp64": 1.7976931348623157e308,
}
_SCALAR_OF_DTYPE: dict[str, str] = {
    "float32": "fp32",
    "float16": "fp16",
    "bfloat16": "bf16",
    "int8": "i8",
    "uint8": "u8",
    "int16": "i16",
    "int32": "i32",
    "int64": "i64",
    "bool": "u1",
}


def validate(
    plan: LaunchPlan,
    arguments: tuple[TensorSpec, ...],
    device: DeviceFigures,
    *,
    memory_cap_bytes: int | None = None,
) -> None:
    """Return if `plan` may be replayed on `device` with these arguments.

    `memory_cap_bytes` lowers the bound on all buffers and scratch together; without it the device's memory bounds them.

    Raises:
        InvalidPlan: the plan breaks a rule; the message names the part and the rule. Nothing else is raised.
    """
    _check_well_formed(plan)
    memory = device.total_memory if memory_cap_bytes is None else min(device.total_memory, memory_cap_bytes)
    _check_target(plan.target, device)
    _check_buffers(plan, arguments, memory)
    for index, kernel in enumerate(plan.kernels):
        _check_kernel(index, kernel, device)
    _check_step_counts(plan)
    scratch = max((_check_step(plan, where, step, device) for where, step in _steps(plan)), default=0)
    allocated = sum(buffer.nbytes for buffer in plan.buffers)
    _require(allocated + scratch <= memory, f"buffers and scratch take {allocated + scratch} bytes, of {memory}")
    _check_outputs(plan)


def _require(holds: bool, rule: str) -> None:
    if not holds:
        raise InvalidPlan(rule)


def _check_well_formed(plan: LaunchPlan) -> None:
    """The field types and bounds of the structs hold, also for a plan that was not decoded from the wire."""
    try:
        msgspec.msgpack.decode(msgspec.msgpack.encode(plan), type=LaunchPlan)
    except (msgspec.MsgspecError, TypeError, ValueError, OverflowError, RecursionError, AttributeError) as error:
        raise InvalidPlan(f"the plan is not well formed: {error}") from error


def _check_target(target: str, device: DeviceFigures) -> None:
    """A cubin runs on its own major capability, from its own minor capability on."""
    major, minor = device.capability
    runnable = {f"sm_{major}{lower}" for lower in range(minor + 1)}
    _require(target in runnable, f"the plan is for {target}, the device is sm_{major}{minor}")


def _check_buffers(plan: LaunchPlan, arguments: tuple[TensorSpec, ...], memory: int) -> None:
    _require(plan.n_inputs == len(arguments), f"the plan has {plan.n_inputs} inputs for {len(arguments)} arguments")
    _require(plan.n_inputs <= len(plan.buffers), "an input has no buffer")
    for index, (buffer, argument) in enumerate(zip(plan.buffers, arguments, strict=False)):
        expected = argument.storage_elements * argument.itemsize
        _require(buffer.nbytes == expected, f"buffer {index} has {buffer.nbytes} bytes, its argument {expected}")
    total = sum(buffer.nbytes for buffer in plan.buffers)
    _require(total <= memory, f"the buffers take {total} bytes, of {memory}")


def _check_kernel(index: int, kernel: Kernel, device: DeviceFigures) -> None:
    where = f"kernel {index}"
    name = kernel.name
    _require(bool(name) and name.isascii() and name.isprintable() and " " not in name, f"{where}: unprintable name")
    try:
        check_cubin(kernel.cubin, name)
    except NotACubin as error:
        raise InvalidPlan(f"{where}: {error}") from error
    threads = kernel.num_warps * device.warp_size
    _require(threads <= MAX_THREADS, f"{where}: {threads} threads, at most {MAX_THREADS}")
    limit = device.max_shared_bytes
    _require(kernel.shared_bytes <= limit, f"{where}: {kernel.shared_bytes} bytes of shared memory, at most {limit}")
    clusters = kernel.num_ctas == 1 or device.capability >= _CLUSTER_CAPABILITY
    _require(clusters, f"{where}: this device has no thread block clusters")
    for align in (kernel.global_scratch_align, kernel.profile_scratch_align):
        _require(align & (align - 1) == 0, f"{where}: scratch alignment {align} is no power of two")


def _steps(plan: LaunchPlan) -> Iterator[tuple[str, Step]]:
    """Every step, also those inside choices, with where it stands."""
    for index, step in enumerate(plan.steps):
        if isinstance(step, Choice):
            for number, variant in enumerate(step.variants):
                for inner, part in enumerate(variant):
                    yield f"step {index}, variant {number}, step {inner}", part
        else:
            yield f"step {index}", step


def _check_step_counts(plan: LaunchPlan) -> None:
    launches = sum(isinstance(step, Launch) for _, step in _steps(plan))
    _require(launches <= MAX_LAUNCHES, f"{launches} launches, at most {MAX_LAUNCHES}")
    for index, step in enumerate(plan.steps):
        if isinstance(step, Choice):
            _require(len(step.variants) > 0, f"step {index}: a choice among nothing")
            labelled = len(step.labels) in (0, len(step.variants))
            _require(labelled, f"step {index}: {len(step.labels)} labels for {len(step.variants)} variants")


def _check_step(plan: LaunchPlan, where: str, step: Step, device: DeviceFigures) -> int:
    """Check one step; the scratch bytes it needs."""
    if isinstance(step, Fill):
        _check_written_view(where, step.view, plan.buffers)
        _check_fill_value(where, step)
        return 0
    if isinstance(step, Copy):
        _check_copy(where, step, plan.buffers)
        return 0
    return _check_launch(where, step, plan, device)


def _check_view(where: str, view: View, buffers: tuple[Buffer, ...]) -> None:
    """The view lies inside its buffer. Buffers are aligned, so whole element offsets keep every dtype aligned."""
    _require(view.buffer < len(buffers), f"{where}: no buffer {view.buffer}")
    spec, size = view.spec, buffers[view.buffer].nbytes
    _require(len(spec.shape) == len(spec.strides), f"{where}: {len(spec.shape)} extents, {len(spec.strides)} strides")
    end = spec.span * ITEMSIZE[spec.dtype]
    _require(end <= size, f"{where}: the view ends at byte {end} of buffer {view.buffer} with {size}")


def _check_written_view(where: str, view: View, buffers: tuple[Buffer, ...]) -> None:
    """A view that a host operation writes lies inside its buffer, and no two of its elements share a place."""
    _check_view(where, view, buffers)
    _require(not _overlaps_itself(view.spec), f"{where}: elements of the written view overlap")


def _overlaps_itself(spec: TensorSpec) -> bool:
    """Whether two elements may share a place (strides sorted, each must step over all that the smaller reach)."""
    if spec.elements == 0:
        return False
    reach = 0
    for stride, extent in sorted((s, n) for n, s in zip(spec.shape, spec.strides, strict=True) if n > 1):
        if stride <= reach:
            return True
        reach += (extent - 1) * stride
    return False


def _check_fill_value(where: str, step: Fill) -> None:
    value = int(step.value) if isinstance(step.value, bool) else step.value
    kind = _SCALAR_OF_DTYPE[step.view.spec.dtype]
    if kind in _INTEGER_RANGE and isinstance(value, float) and value.is_integer():
        value = int(value)
    _require(_fits(kind, value), f"{where}: {step.value} does not fit {step.view.spec.dtype}")


def _fits(kind: str, value: int | float) -> bool:
    """Whether `value` can be passed as this scalar type. Infinity and NaN are floats; an int never rounds to one."""
    if kind in _INTEGER_RANGE:
        low, high = _INTEGER_RANGE[kind]
        return isinstance(value, int) and low <= value <= high
    return not math.isfinite(value) or abs(value) <= _LARGEST_FLOAT[kind]


def _check_copy(where: str, step: Copy, buffers: tuple[Buffer, ...]) -> None:
    _check_view(f"{where}, source", step.source, buffers)
    _check_written_view(f"{where}, target", step.target, buffers)
    source, target = step.source.spec, step.target.spec
    _require(source.shape == target.shape, f"{where}: shapes {source.shape} and {target.shape} differ")
    _require(source.dtype == target.dtype, f"{where}: dtypes {source.dtype} and {target.dtype} differ")


def _check_launch(where: str, launch: Launch, plan: LaunchPlan, device: DeviceFigures) -> int:
    _require(launch.kernel < len(plan.kernels), f"{where}: no kernel {launch.kernel}")
    kernel = plan.kernels[launch.kernel]
    for axis, size, limit in zip("xyz", launch.grid, MAX_GRID, strict=True):
        _require(1 <= size <= limit, f"{where}: grid {axis} is {size}, allowed are 1 to {limit}")
    blocks = launch.grid[0] * kernel.num_ctas
    _require(blocks <= MAX_GRID[0], f"{where}: {blocks} thread blocks in x, at most {MAX_GRID[0]}")
    for position, argument in enumerate(launch.arguments):
        _check_argument(f"{where}, argument {position}", argument, plan.buffers)
    scratch = scratch_bytes(kernel, launch)
    total = sum(scratch)
    _require(total <= device.total_memory, f"{where}: {total} bytes of scratch, of {device.total_memory}")
    return total


def _check_argument(where: str, argument: Pointer | Scalar, buffers: tuple[Buffer, ...]) -> None:
    if isinstance(argument, Scalar):
        fits = _fits(argument.scalar_type, argument.value)
        _require(fits, f"{where}: {argument.value} does not fit {argument.scalar_type}")
        return
    _require(argument.buffer < len(buffers), f"{where}: no buffer {argument.buffer}")
    size = buffers[argument.buffer].nbytes
    _require(argument.offset <= size, f"{where}: byte {argument.offset} of buffer {argument.buffer} with {size}")


def _check_outputs(plan: LaunchPlan) -> None:
    for index, view in enumerate(plan.outputs):
        _check_view(f"output {index}", view, plan.buffers)
    total = sum(output_bytes(view.spec) for view in plan.outputs)
    _require(total <= MAX_OUTPUT_BYTES, f"the outputs take {total} bytes, at most {MAX_OUTPUT_BYTES}")


def output_bytes(spec: TensorSpec) -> int:
    """Bytes that an output costs the host: from first to last element, or all elements where they repeat."""
    return max(spec.span - spec.offset, spec.elements) * spec.itemsize


def scratch_bytes(kernel: Kernel, launch: Launch) -> tuple[int, int]:
    """Bytes of global and of profiling scratch for one launch: per program, times programs, times blocks a cluster."""
    programs = math.prod(launch.grid) * kernel.num_ctas
    return kernel.global_scratch_bytes * programs, kernel.profile_scratch_bytes * programs
