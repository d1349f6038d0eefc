"""What a failed CUDA call means: whose fault it is, and whether the process can go on."""

from __future__ import annotations

from collections.abc import Sequence

from tritonkata.launcher.arena import OutOfDeviceMemory
from tritonkata.launcher.driver import OUT_OF_MEMORY, CudaError
from tritonkata.model.faults import Fault
from tritonkata.model.plan import LaunchPlan

_ILLEGAL_ADDRESS = 700
_KERNEL_FAULTS: dict[int, str] = {
    710: "a device-side assertion failed",
    714: "its stack overflowed or was overwritten",
    715: "it ran into an illegal instruction",
    716: "it accessed memory at an address that is not a multiple of the access's size",
    717: "it used an address outside the memory space that the instruction works on",
    718: "it jumped to an address outside its code",
    719: "the GPU stopped it, mostly after an access outside any memory",
}
_LAUNCH_REFUSALS: dict[int, str] = {
    1: "its launch settings are not valid on this GPU",
    701: "it asks for more registers, threads or shared memory than the GPU has",
    720: "its cooperative grid is larger than what the GPU runs at once",
    912: "its cluster size (num_ctas) is not valid on this GPU",
}
# Loading runs nothing of the kernel, so whatever else goes wrong there is the cubin: memory, a driver
# that is not there, a device or a context that is gone.
_ENOUGH_TO_LOAD = 1 << 30
_NOT_THE_CUBIN = frozenset({2, 3, 4, 46, 100, 101, 201, 214, 219, 220, 226, 700, 702, 709, 719, 802, 803, 804})


class ReplayFault(Exception):
    """A replay ended without outputs. `context_lost` says that this process can run no other."""

    def __init__(self, fault: Fault, *, context_lost: bool = False) -> None:
        super().__init__(fault.message)
        self.fault = fault
        self.context_lost = context_lost


def refuses_launch(error: CudaError) -> bool:
    """Whether the driver turned one launch down before it began, and left the context as it was."""
    return error.call.startswith("cuLaunch") and error.code in _LAUNCH_REFUSALS


def load_fault(kernel: str, error: CudaError, free_bytes: int = 0) -> ReplayFault:
    """The driver does not load a cubin. `free_bytes` of GPU memory were free when it tried."""
    # A broken cubin can make the driver ask for any amount.
    hungry = error.code == OUT_OF_MEMORY and free_bytes > _ENOUGH_TO_LOAD
    if error.code in _NOT_THE_CUBIN and not hungry:
        return driver_fault(error)
    message = f"the driver refuses this kernel, {kernel}: {error.name}"
    advice = "It was compiled for another GPU, or asks for more than this one has: try fewer warps or a smaller block."
    return ReplayFault(Fault("runtime_error", "kernel", message, error=error.name, advice=advice))


def kernel_fault(kernel: str, error: CudaError) -> ReplayFault:
    """A launch, or the wait for it, failed."""
    if error.code == _ILLEGAL_ADDRESS:
        return ReplayFault(_illegal_address(kernel, error), context_lost=True)
    if refuses_launch(error):
        message = f"the GPU cannot launch {kernel}: {_LAUNCH_REFUSALS[error.code]}"
        advice = "Try a smaller block, fewer warps or fewer stages."
        return ReplayFault(Fault("runtime_error", "kernel", message, error=error.name, advice=advice))
    if error.code in _KERNEL_FAULTS:
        message = f"the kernel {kernel} stopped: {_KERNEL_FAULTS[error.code]} (CUDA error {error.code})"
        advice = "`kata check --engine interpreter` checks every access and names the line."
        fault = Fault("runtime_error", "kernel", message, error=error.name, advice=advice)
        return ReplayFault(fault, context_lost=True)
    return driver_fault(error)


def memory_fault(
    error: OutOfDeviceMemory, plan: LaunchPlan | None = None, copies: int = 1, beside: int = 0
) -> ReplayFault:
    """There is too little free memory: for this case, or for what the submission allocates besides.

    `copies` is how often the launcher holds inputs and outputs at once, `beside` the bytes of its own buffers.
    Without a plan it needs all of it for itself.
    """
    needed = error.asked_bytes if plan is None else copies * _case_bytes(plan) + beside
    if plan is not None and needed <= error.free_bytes:
        message = f"the call asks for {error.asked_bytes} bytes of GPU memory, {error.free_bytes} are free"
        advice = f"Inputs and results take {_case_bytes(plan)} bytes; allocate less besides them."
        return ReplayFault(Fault("runtime_error", "kernel", message, error="CUDA_ERROR_OUT_OF_MEMORY", advice=advice))
    message = f"this case needs {needed} bytes of GPU memory, {error.free_bytes} are free"
    advice = "Close other programs that use the GPU, or run on a card with more memory."
    return ReplayFault(Fault("skipped", "kernel", message, error="CUDA_ERROR_OUT_OF_MEMORY", advice=advice))


def arguments_fault(kernel: str, given: Sequence[int], taken: Sequence[int]) -> ReplayFault:
    """A launch whose arguments do not hold what the kernel reads. Triton makes no such launch."""
    message = f"the launch of {kernel} gives {sum(given)} bytes of arguments, and the kernel takes {sum(taken)}"
    return ReplayFault(Fault("runtime_error", "kernel", message, advice="Launch kernels through Triton alone."))


def driver_fault(error: CudaError) -> ReplayFault:
    """A failure that no kernel of a submission explains. The context may be gone, so the process ends."""
    message = f"the GPU could not be used: {error}"
    fault = Fault("grader_error", "kernel", message, error=error.name, advice="Run `kata doctor`.")
    return ReplayFault(fault, context_lost=error.code != OUT_OF_MEMORY)


def request_fault(message: str) -> ReplayFault:
    """The request itself does not fit together; the controller made it."""
    return ReplayFault(Fault("grader_error", "protocol", message))


def _case_bytes(plan: LaunchPlan) -> int:
    """Bytes of the inputs' storages and of the results, without anything that a submission allocates besides."""
    inputs = sum(buffer.nbytes for buffer in plan.buffers[: plan.n_inputs])
    return inputs + sum(view.spec.elements * view.spec.itemsize for view in plan.outputs)


def _illegal_address(kernel: str, error: CudaError) -> Fault:
    return Fault(
        "out_of_bounds",
        "kernel",
        f"the kernel {kernel} accessed an address that belongs to no tensor (CUDA error {error.code})",
        error=error.name,
        advice="Look at the mask of each load and store and at the row offset; "
        "`kata check --engine interpreter` names the line and the element.",
    )
