"""Loading the kernels of a plan and launching them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from tritonkata.launcher import driver, faults, modules
from tritonkata.launcher.arena import Arena
from tritonkata.launcher.parameters import covers, pack
from tritonkata.model.plan import Kernel, Launch

WARP_SIZE = 32


@dataclass(frozen=True)
class LoadedKernel:
    """A kernel in the driver, with the attributes that each of its launches takes."""

    kernel: Kernel
    function: Any
    attributes: Sequence[Any]
    parameter_sizes: Sequence[int] = ()


@dataclass(frozen=True)
class ScratchSlots:
    """Indices of the arena's scratch buffers, global and profiling; None where no kernel asks for it."""

    global_slot: int | None
    profile_slot: int | None

    def addresses(self, kernel: Kernel, arena: Arena) -> tuple[int, int]:
        """What goes into the last two parameters of a kernel: null unless it asks for memory."""
        return (
            _scratch_address(arena, self.global_slot, kernel.global_scratch_bytes),
            _scratch_address(arena, self.profile_slot, kernel.profile_scratch_bytes),
        )


@contextmanager
def loaded(kernels: Sequence[Kernel]) -> Iterator[tuple[LoadedKernel, ...]]:
    """Each distinct cubin loaded once; its module may go at the end.

    Raises:
        ReplayFault: the driver refuses a kernel.
    """
    cubins: dict[bytes, Any] = {}
    try:
        yield tuple(_load(kernel, cubins) for kernel in kernels)
    finally:
        # After a kernel's fault the context is gone, and its modules with it.
        with suppress(driver.CudaError):
            for module in cubins.values():
                modules.unload(module)


def launch(loaded_kernel: LoadedKernel, step: Launch, arena: Arena, scratch: ScratchSlots) -> None:
    """Start one kernel; it may still run when this returns.

    Raises:
        CudaError: the driver turned it down.
        ReplayFault: the arguments are fewer or smaller than what the kernel takes: the driver would read past them.
    """
    kernel = loaded_kernel.kernel
    parameters = pack(step.arguments, arena, scratch.addresses(kernel, arena))
    if not covers(parameters.sizes, loaded_kernel.parameter_sizes):
        raise faults.arguments_fault(kernel.name, parameters.sizes, loaded_kernel.parameter_sizes)
    x, y, z = step.grid
    driver.launch(
        loaded_kernel.function,
        (x * kernel.num_ctas, y, z),
        kernel.num_warps * WARP_SIZE,
        kernel.shared_bytes,
        parameters.address,
        loaded_kernel.attributes,
    )


def _load(kernel: Kernel, cubins: dict[bytes, Any]) -> LoadedKernel:
    try:
        if kernel.cubin not in cubins:
            cubins[kernel.cubin] = driver.load_module(kernel.cubin)
        function = driver.module_function(
            cubins[kernel.cubin], kernel.name, shared_bytes=kernel.shared_bytes, num_ctas=kernel.num_ctas
        )
    except driver.CudaError as error:
        raise faults.load_fault(kernel.name, error, _free_bytes()) from error
    attributes = driver.launch_attributes(
        num_ctas=kernel.num_ctas, cooperative=kernel.cooperative, programmatic=kernel.programmatic_launch
    )
    return LoadedKernel(kernel, function, attributes, driver.parameter_sizes(function))


def _free_bytes() -> int:
    with suppress(driver.CudaError):
        return driver.free_memory()
    return 0


def _scratch_address(arena: Arena, slot: int | None, asked_bytes: int) -> int:
    return 0 if slot is None or asked_bytes == 0 else arena.address(slot)
