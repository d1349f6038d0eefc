"""A Triton driver that compiles, launches nothing, and writes down what it was asked to launch."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NoReturn, get_args

import torch
from triton.backends.compiler import GPUTarget
from triton.backends.driver import DriverBase
from triton.runtime import _allocation
from triton.runtime.cache import get_cache_manager
from triton.runtime.jit import JITFunction

from tritonkata.boundary.messages import Load
from tritonkata.model.plan import MAX_CUBIN_BYTES, Kernel, Launch, Origin, Pointer, Scalar, ScalarType
from tritonkata.worker import device, hostops
from tritonkata.worker.grids import check_grid, checked
from tritonkata.worker.launch_mistakes import ALLOCATE_THERE
from tritonkata.worker.recompiler import OPTIONS
from tritonkata.worker.tracer.environment import Settings
from tritonkata.worker.tracer.recording import Memory, record
from tritonkata.worker.tracer.resources import Usage, usage_of_amdgcn, usage_of_cubin
from tritonkata.worker.wording import kind_of


@dataclass(frozen=True)
class Target:
    """What is compiled for. `max_shared_bytes` is the architecture's limit for one block."""

    backend: str
    arch: int | str
    warp_size: int
    max_shared_bytes: int


TARGETS = {
    "sm_80": Target("cuda", 80, 32, 166912),
    "sm_90": Target("cuda", 90, 32, 232448),
    "sm_100": Target("cuda", 100, 32, 232448),
    "gfx942": Target("hip", "gfx942", 64, 65536),
}

_MAX_THREADS = 1024
_FLOATS = ("fp", "bf", "f32")
_SCALAR_TYPES = frozenset(get_args(ScalarType))
_DEFAULT_REGISTERS = 32  # for occupancy arithmetic in host code where no tool tells the real figure


class LaunchError(ValueError):
    """A launch that Triton or CUDA would not accept. The message names the argument, `advice` what to do."""

    def __init__(self, message: str, advice: str = "") -> None:
        super().__init__(message)
        self.advice = advice


@dataclass(frozen=True, eq=False)
class Binary:
    """What `load_binary` hands back as the function: one compiled kernel."""

    name: str
    code: bytes
    usage: Usage


class RecordingDriver(DriverBase):  # type: ignore[misc]  # Triton has no type stubs
    """Stands where Triton's CUDA or HIP driver would be."""

    def __init__(self, load: Load, memory: Memory, settings: Settings) -> None:
        figures = load.device
        self.target = TARGETS[load.target]
        self.keep_origins = load.keep_origins
        self.memory = memory
        self._settings = settings
        limit = min(self.target.max_shared_bytes, figures.max_shared_bytes)
        self.utils = device.utilities(device.triton_properties(figures, limit), self._load_binary)
        self.launcher_cls = self._launcher
        self._figures = figures

    @classmethod
    def is_active(cls) -> bool:
        """Never chosen by Triton on its own."""
        return False

    def get_current_target(self) -> GPUTarget:
        """The target to compile for."""
        return GPUTarget(self.target.backend, self.target.arch, self.target.warp_size)

    def get_current_device(self) -> int:
        """Device 0. Triton asks at the start of every launch, which is when settings are put back."""
        self._settings.restore()
        return 0

    def set_current_device(self, _device: int) -> None:
        """There is one device."""

    def get_current_stream(self, _device: int = 0) -> int:
        """The default stream."""
        return 0

    def get_device_capability(self, _device: int = 0) -> tuple[int, int]:
        """The card's compute capability."""
        return self._figures.capability

    def get_active_torch_device(self) -> torch.device:
        """Where stand-ins say they are."""
        return torch.device("cuda", 0)

    def get_device_interface(self) -> Any:
        """`torch.cuda`, which answers with the card's figures."""
        return torch.cuda

    def map_python_to_cpp_type(self, ty: str) -> str:
        """No C launcher is built here."""
        return ty

    def get_benchmarker(self) -> Callable[..., Any]:
        """Timing is the grader's part."""
        return _refuse_benchmark

    def get_empty_cache_for_benchmark(self) -> NoReturn:
        """Timing is the grader's part."""
        _refuse_benchmark()

    def _load_binary(self, name: str, code: bytes, _shared: int, _device: int) -> tuple[Any, ...]:
        cuda = self.target.backend == "cuda"
        usage = usage_of_cubin(code, name) if cuda else Usage()
        binary = Binary(name, bytes(code), usage)
        registers = usage.registers or _DEFAULT_REGISTERS
        return binary, binary, registers, (usage.spilled_bytes or 0) // 4, _MAX_THREADS

    def _launcher(self, src: Any, metadata: Any) -> Launcher:
        return Launcher(self, src, metadata)


def install_grid_check() -> None:
    """Judge each grid before Triton indexes it. Launches of every kind come through `JITFunction.run`."""
    launch = JITFunction.run

    def run(self: Any, *args: Any, grid: Any, warmup: bool, **kwargs: Any) -> Any:
        return launch(self, *args, grid=grid if warmup else checked(grid), warmup=warmup, **kwargs)

    JITFunction.run = run


class Launcher:
    """Stands for Triton's compiled launcher: its call records one launch."""

    def __init__(self, driver: RecordingDriver, src: Any, metadata: Any) -> None:
        self._driver = driver
        self._names = list(src.signature)
        self._types = list(src.signature.values())
        self._metadata = metadata
        self._kernel: Kernel | None = None

    def __call__(self, x: Any, y: Any, z: Any, _stream: Any, function: Binary, *rest: Any) -> None:
        """Record the launch. `rest` is packed metadata, launch metadata, two hooks and the kernel's arguments.

        Raises:
            SubmissionFault: a grid that would not work on a device.
            LaunchError: an argument that would not.
            HostOpRefused: an argument of a kind that plans do not carry.
        """
        grid = check_grid((x, y, z))
        arguments = tuple(self._arguments(rest[4:]))
        recording = self._driver.memory.current()
        if self._kernel is None:
            self._kernel = _kernel(self._metadata, function, self._driver)
        kernel = self._kernel
        if kernel.global_scratch_bytes and isinstance(_allocation._allocator.get(), _allocation.NullAllocator):
            raise LaunchError("the kernel makes tensor descriptors and needs memory: call triton.set_allocator first")
        if 0 in grid:
            return
        record(self._driver.memory, Launch(recording.kernel_id(function, kernel), grid, arguments))

    def _arguments(self, values: tuple[Any, ...]) -> Iterator[Pointer | Scalar]:
        if len(values) != len(self._types):
            raise LaunchError(f"the kernel takes {len(self._types)} arguments and was launched with {len(values)}")
        for name, kind, value in zip(self._names, self._types, values, strict=True):
            yield from _flatten(self._driver.memory, str(name), kind, value)


def _flatten(memory: Memory, name: str, kind: Any, value: Any) -> Iterator[Pointer | Scalar]:
    """The parameters that one argument becomes: none for a constant, several for a tuple."""
    if isinstance(kind, tuple):
        for place, (inner, part) in enumerate(zip(kind, value, strict=True)):
            yield from _flatten(memory, f"{name}[{place}]", inner, part)
    elif kind.startswith(("tensordesc", "nvTmaDesc")):
        advice = "Make the descriptor in the kernel, with tl.make_tensor_descriptor, and call triton.set_allocator."
        raise hostops.refuse("a TensorDescriptor made on the host", advice)
    elif kind.startswith("*"):
        yield _pointer(memory, name, value)
    elif kind != "constexpr":
        yield _scalar(memory, name, kind, value)


def _pointer(memory: Memory, name: str, value: Any) -> Pointer:
    pointer = memory.pointer(int(value.data_ptr())) if hasattr(value, "data_ptr") else None
    if pointer is None:
        is_tensor = isinstance(value, torch.Tensor)
        what = f"a tensor on the {str(value.device).upper()}" if is_tensor else kind_of(value)
        raise LaunchError(
            f"the argument {name} is {what}, and no tensor on the device", ALLOCATE_THERE if is_tensor else ""
        )
    return pointer


def _scalar(memory: Memory, name: str, kind: str, value: Any) -> Scalar:
    if kind not in _SCALAR_TYPES:
        raise hostops.refuse(f"a kernel argument of type {kind}", "Pass tensors, ints and floats.")
    try:
        number: int | float = float(value) if kind.startswith(_FLOATS) else operator.index(value)
    except TypeError as error:
        raise LaunchError(f"the argument {name} is {kind_of(value)}, and the kernel takes {kind}") from error
    if isinstance(number, int):
        _check_integer(memory, name, kind, number)
    return Scalar(kind, number)  # type: ignore[arg-type]  # checked above


def _check_integer(memory: Memory, name: str, kind: str, number: int) -> None:
    if memory.find(number) is not None:
        raise hostops.refuse(f"the address of a tensor as a number ({name})", "Pass the tensor itself.")
    bits = int(kind[1:])
    signed = kind.startswith("i") and bits > 1
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    if not low <= number <= high:
        raise LaunchError(f"the argument {name} is {number}, and the kernel takes {kind} ({low} .. {high})")


def _kernel(metadata: Any, function: Binary, driver: RecordingDriver) -> Kernel:
    """The plan's kernel, every figure a plain int."""
    if len(function.code) > MAX_CUBIN_BYTES:
        raise LaunchError(f"the compiled kernel has {len(function.code)} bytes, the limit is {MAX_CUBIN_BYTES}")
    cuda = driver.target.backend == "cuda"
    usage = function.usage if cuda else usage_of_amdgcn(_assembly(metadata))
    return Kernel(
        name=str(metadata.name)[:200],
        cubin=function.code if cuda else b"",
        num_warps=int(metadata.num_warps),
        num_ctas=int(getattr(metadata, "num_ctas", 1)),
        shared_bytes=int(metadata.shared),
        global_scratch_bytes=int(getattr(metadata, "global_scratch_size", 0)),
        global_scratch_align=int(getattr(metadata, "global_scratch_align", 1)),
        profile_scratch_bytes=int(getattr(metadata, "profile_scratch_size", 0)),
        profile_scratch_align=int(getattr(metadata, "profile_scratch_align", 1)),
        cooperative=bool(getattr(metadata, "launch_cooperative_grid", False)),
        programmatic_launch=bool(getattr(metadata, "launch_pdl", False)),
        registers=usage.registers,
        spilled_bytes=usage.spilled_bytes,
        origin=_origin(metadata) if cuda and driver.keep_origins else None,
    )


def _origin(metadata: Any) -> Origin:
    """What the kernel was compiled from, as Triton kept it."""
    options = {name: getattr(metadata, name) for name in OPTIONS if hasattr(metadata, name)}
    return Origin(_kept(metadata, "ttir"), options)


def _assembly(metadata: Any) -> str:
    """AMD's assembly text of a kernel."""
    return _kept(metadata, "amdgcn")


def _kept(metadata: Any, kind: str) -> str:
    """A text of a kernel from Triton's cache; empty if it is not there."""
    path = get_cache_manager(metadata.hash).get_file(f"{metadata.name[:150]}.{kind}")
    if path is None:
        return ""
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def _refuse_benchmark(*_args: Any, **_kwargs: Any) -> NoReturn:
    raise hostops.refuse("triton.testing.do_bench", "The grader times the kernel; launch it once.")
