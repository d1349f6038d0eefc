"""Checked calls of the CUDA driver API, for cuda-bindings 12 and 13.

Every function raises `CudaError` on a status other than success. Addresses are
plain integers, sizes are bytes unless a name says otherwise, and all work goes
to the legacy default stream, so operations happen in the order of the calls.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from cuda.bindings import driver
from numpy.typing import NDArray

from tritonkata.boundary.messages import DeviceFigures

OUT_OF_MEMORY = 2
_STATIC_SHARED_LIMIT = 48 << 10
_PORTABLE_CLUSTER = 8
_AFTER_WHICH_NOTHING_WORKS = frozenset({700, 702, 709, 710, 714, 715, 716, 717, 718, 719})


class CudaError(Exception):
    """A driver call failed: `code` and `name` are CUDA's, `call` is the function.

    `ends_context` says that the context can do nothing any more, whatever call reported it.
    """

    def __init__(self, code: int, name: str, call: str) -> None:
        super().__init__(f"{call} failed with {name} ({code})")
        self.code = code
        self.name = name
        self.call = call
        self.ends_context = code in _AFTER_WHICH_NOTHING_WORKS


def _call(name: str, *arguments: Any) -> Any:
    status, *values = getattr(driver, name)(*arguments)
    if int(status) != 0:
        raise CudaError(int(status), getattr(status, "name", "an unknown error"), name)
    return values[0] if len(values) == 1 else tuple(values)


def open_device(index: int) -> Any:
    """Make the primary context of device `index` current; the device handle."""
    _call("cuInit", 0)
    device = _call("cuDeviceGet", index)
    _call("cuCtxSetCurrent", _call("cuDevicePrimaryCtxRetain", device))
    return device


def current_context() -> int:
    """The handle of the current context, as an address."""
    return int(_call("cuCtxGetCurrent"))


def bus_id() -> str:
    """The PCI bus id of the current device, as NVML spells it."""
    raw: bytes = _call("cuDeviceGetPCIBusId", 32, _call("cuCtxGetDevice"))
    return raw.split(b"\0", 1)[0].decode("ascii")


def devices() -> list[Any]:
    """Handles of all devices, without making a context."""
    _call("cuInit", 0)
    return [_call("cuDeviceGet", index) for index in range(_call("cuDeviceGetCount"))]


def driver_version() -> str:
    """The newest CUDA version that the driver serves, such as `13.0`."""
    version = int(_call("cuDriverGetVersion"))
    return f"{version // 1000}.{version % 1000 // 10}"


def device_name(device: Any) -> str:
    """The card's name."""
    raw: bytes = _call("cuDeviceGetName", 256, device)
    return raw.split(b"\0", 1)[0].decode("utf-8", "replace")


def total_memory(device: Any) -> int:
    """Bytes of device memory."""
    return int(_call("cuDeviceTotalMem", device))


def attribute(device: Any, name: str) -> int:
    """One device attribute, by the part of its name after `CU_DEVICE_ATTRIBUTE_`."""
    key = getattr(driver.CUdevice_attribute, f"CU_DEVICE_ATTRIBUTE_{name}")
    return int(_call("cuDeviceGetAttribute", key, device))


def capability(device: Any) -> tuple[int, int]:
    """Compute capability, major and minor."""
    return attribute(device, "COMPUTE_CAPABILITY_MAJOR"), attribute(device, "COMPUTE_CAPABILITY_MINOR")


def figures(device: Any) -> DeviceFigures:
    """What host code may ask of this card."""
    return DeviceFigures(
        name=device_name(device),
        capability=capability(device),
        multiprocessors=attribute(device, "MULTIPROCESSOR_COUNT"),
        max_shared_bytes=attribute(device, "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN"),
        max_registers=attribute(device, "MAX_REGISTERS_PER_BLOCK"),
        max_threads_per_multiprocessor=attribute(device, "MAX_THREADS_PER_MULTIPROCESSOR"),
        warp_size=attribute(device, "WARP_SIZE"),
        total_memory=total_memory(device),
        l2_bytes=attribute(device, "L2_CACHE_SIZE"),
        clock_khz=attribute(device, "CLOCK_RATE"),
        memory_clock_khz=attribute(device, "MEMORY_CLOCK_RATE"),
        memory_bus_bits=attribute(device, "GLOBAL_MEMORY_BUS_WIDTH"),
    )


def allocate(nbytes: int) -> int:
    """Address of `nbytes` of device memory."""
    return int(_call("cuMemAlloc", nbytes))


def free(address: int) -> None:
    """Give memory back."""
    _call("cuMemFree", address)


def free_memory() -> int:
    """Bytes of device memory that are free now."""
    return int(_call("cuMemGetInfo")[0])


def fill(address: int, value: int, itemsize: int, count: int) -> None:
    """Set `count` elements of `itemsize` (1, 2 or 4) bytes to the bit pattern `value`."""
    if count:
        _call({1: "cuMemsetD8", 2: "cuMemsetD16", 4: "cuMemsetD32"}[itemsize], address, value, count)


def upload(address: int, data: NDArray[Any]) -> None:
    """Copy a contiguous host array to the device."""
    if data.nbytes:
        _call("cuMemcpyHtoD", address, data.ctypes.data, data.nbytes)


def download(data: NDArray[Any], address: int) -> None:
    """Fill a contiguous host array from the device."""
    if data.nbytes:
        _call("cuMemcpyDtoH", data.ctypes.data, address, data.nbytes)


def copy(target: int, source: int, nbytes: int) -> None:
    """Copy between two places of the device that do not overlap."""
    if nbytes:
        _call("cuMemcpyDtoD", target, source, nbytes)


def copy_rows(target: int, target_pitch: int, source: int, source_pitch: int, width: int, height: int) -> None:
    """Copy `height` rows of `width` bytes; a pitch is the distance of two rows in bytes, at least `width`."""
    move = driver.CUDA_MEMCPY2D()
    move.srcMemoryType = move.dstMemoryType = driver.CUmemorytype.CU_MEMORYTYPE_DEVICE
    move.srcDevice = driver.CUdeviceptr(source)
    move.dstDevice = driver.CUdeviceptr(target)
    move.srcPitch, move.dstPitch = source_pitch, target_pitch
    move.WidthInBytes, move.Height = width, height
    # The aligned form may refuse pitches that the driver's own allocator did not choose.
    _call("cuMemcpy2DUnaligned", move)


def synchronize() -> None:
    """Wait for all work; a fault of a kernel that ran before surfaces here."""
    _call("cuCtxSynchronize")


def load_module(cubin: bytes) -> Any:
    """Load a cubin."""
    image = np.frombuffer(cubin, np.uint8)
    return _call("cuModuleLoadData", image.ctypes.data)


def unload_module(module: Any) -> None:
    """Unload a cubin."""
    _call("cuModuleUnload", module)


def module_function(module: Any, name: str, *, shared_bytes: int, num_ctas: int) -> Any:
    """A kernel of a module, allowed the dynamic shared memory and the cluster size that it will be launched with."""
    function = _call("cuModuleGetFunction", module, name.encode())
    kinds = driver.CUfunction_attribute
    if shared_bytes > _STATIC_SHARED_LIMIT:
        kind = kinds.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
        _call("cuFuncSetAttribute", function, kind, shared_bytes)
    if num_ctas > _PORTABLE_CLUSTER:
        kind = kinds.CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED
        _call("cuFuncSetAttribute", function, kind, 1)
    return function


def parameter_sizes(function: Any) -> list[int]:
    """Bytes of each parameter of a kernel, in order; empty where the driver cannot tell (before CUDA 12.4)."""
    sizes: list[int] = []
    ask = getattr(driver, "cuFuncGetParamInfo", None)
    while ask is not None:
        try:
            status, _, size = ask(function, len(sizes))
        except (RuntimeError, TypeError):  # a driver older than its bindings
            return []
        if int(status) != 0:
            break
        sizes.append(int(size))
    return sizes


def launch(
    function: Any,
    grid: tuple[int, int, int],
    threads: int,
    shared_bytes: int,
    parameters: int,
    attributes: Sequence[Any] = (),
) -> None:
    """Launch `grid` thread blocks; `parameters` is the address of an array of pointers to the kernel's parameters."""
    config = driver.CUlaunchConfig()
    config.gridDimX, config.gridDimY, config.gridDimZ = grid
    config.blockDimX, config.blockDimY, config.blockDimZ = threads, 1, 1
    config.sharedMemBytes = shared_bytes
    config.hStream = driver.CUstream(0)
    config.numAttrs = len(attributes)
    if attributes:
        config.attrs = list(attributes)
    _call("cuLaunchKernelEx", config, function, parameters, 0)


def launch_attributes(*, num_ctas: int, cooperative: bool, programmatic: bool) -> list[Any]:
    """Launch attributes, as Triton's own launcher sets them: clusters along x, spread over the card."""
    kinds = driver.CUlaunchAttributeID
    attributes = []
    if programmatic:
        attributes.append(_attribute(kinds.CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION))
        attributes[-1].value.programmaticStreamSerializationAllowed = 1
    if cooperative:
        attributes.append(_attribute(kinds.CU_LAUNCH_ATTRIBUTE_COOPERATIVE))
        attributes[-1].value.cooperative = 1
    if num_ctas > 1:
        attributes.append(_attribute(kinds.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION))
        cluster = attributes[-1].value.clusterDim
        cluster.x, cluster.y, cluster.z = num_ctas, 1, 1
        attributes.append(_attribute(kinds.CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE))
        policy = driver.CUclusterSchedulingPolicy.CU_CLUSTER_SCHEDULING_POLICY_SPREAD
        attributes[-1].value.clusterSchedulingPolicyPreference = policy
    return attributes


def _attribute(kind: Any) -> Any:
    made = driver.CUlaunchAttribute()
    made.id = kind
    return made


def make_event() -> Any:
    """A timing event."""
    return _call("cuEventCreate", 0)


def start_profiler() -> None:
    """Tell an attached profiler that the launches from here on are of interest."""
    _call("cuProfilerStart")


def stop_profiler() -> None:
    """Tell an attached profiler that they are over."""
    _call("cuProfilerStop")


def record(event: Any) -> None:
    """Record an event after the work so far."""
    _call("cuEventRecord", event, driver.CUstream(0))


def destroy_event(event: Any) -> None:
    """Destroy an event."""
    _call("cuEventDestroy", event)


def milliseconds_between(start: Any, stop: Any) -> float:
    """Device time between two recorded events, after waiting for the second."""
    _call("cuEventSynchronize", stop)
    return float(_call("cuEventElapsedTime", start, stop))
