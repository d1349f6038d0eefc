"""Bit patterns: kernel parameters for the driver, and the values of fills."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tritonkata.launcher.arena import Arena
from tritonkata.model.plan import Pointer, Scalar

_INTEGER_CELLS: dict[str, type[Any]] = {
    # Triton declares a boolean parameter as one byte.
    "i1": ctypes.c_int8,
    "u1": ctypes.c_uint8,
    "i8": ctypes.c_int8,
    "u8": ctypes.c_uint8,
    "i16": ctypes.c_int16,
    "u16": ctypes.c_uint16,
    "i32": ctypes.c_int32,
    "u32": ctypes.c_uint32,
    "i64": ctypes.c_int64,
    "u64": ctypes.c_uint64,
}
_BF16_NAN = 0x7FC0
_INTEGER_DTYPES = {"int8": "<i1", "uint8": "<u1", "int16": "<i2", "int32": "<i4", "int64": "<i8", "bool": "<u1"}


@dataclass(frozen=True)
class Parameters:
    """Kernel parameters in the driver's form. `cells` holds the values, `pointers` their addresses."""

    cells: tuple[Any, ...]
    pointers: Any

    @property
    def address(self) -> int:
        """Address of the array of pointers; valid as long as this object lives."""
        return ctypes.addressof(self.pointers)

    @property
    def sizes(self) -> list[int]:
        """Bytes of each parameter."""
        return [ctypes.sizeof(cell) for cell in self.cells]


def covers(given: Sequence[int], taken: Sequence[int]) -> bool:
    """Whether arguments of these sizes hold every byte that a kernel with such parameters reads."""
    return len(given) >= len(taken) and all(ours >= theirs for ours, theirs in zip(given, taken, strict=False))


def pack(arguments: Sequence[Pointer | Scalar], arena: Arena, scratch: tuple[int, int]) -> Parameters:
    """Parameters of a Triton kernel: the user's, then the addresses of the two scratch buffers (0 where not used)."""
    user = [_argument(argument, arena) for argument in arguments]
    cells = (*user, *(ctypes.c_uint64(address) for address in scratch))
    pointers = (ctypes.c_void_p * len(cells))(*(ctypes.addressof(cell) for cell in cells))
    return Parameters(cells, pointers)


def scalar_cell(scalar: Scalar) -> Any:
    """A C value of the parameter's type; half types are passed as their 16 bits."""
    kind, value = scalar.scalar_type, scalar.value
    if kind in _INTEGER_CELLS:
        return _INTEGER_CELLS[kind](int(value))
    if kind == "fp64":
        return ctypes.c_double(value)
    if kind in ("fp32", "f32"):
        return ctypes.c_float(value)
    return ctypes.c_uint16(float16_bits(value) if kind == "fp16" else bfloat16_bits(value))


def fill_bits(dtype: str, value: int | float | bool) -> int:
    """The bit pattern of one element that holds `value`, as an unsigned integer of the element's size."""
    if dtype in _INTEGER_DTYPES:
        return int.from_bytes(np.array(int(value), _INTEGER_DTYPES[dtype]).tobytes(), "little")
    if dtype == "float32":
        return float32_bits(value)
    return float16_bits(value) if dtype == "float16" else bfloat16_bits(value)


def float32_bits(value: float) -> int:
    """The bits of the nearest float32; values that round past the largest become infinity."""
    return ctypes.c_uint32.from_buffer_copy(ctypes.c_float(value)).value


def float16_bits(value: float) -> int:
    """The bits of the nearest float16."""
    with np.errstate(over="ignore"):
        return int(np.float16(value).view(np.uint16))


def bfloat16_bits(value: float) -> int:
    """The bits of the nearest bfloat16 (ties to even), by way of float32."""
    if math.isnan(value):
        return _BF16_NAN
    bits = float32_bits(value)
    return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16


def _argument(argument: Pointer | Scalar, arena: Arena) -> Any:
    if isinstance(argument, Pointer):
        return ctypes.c_uint64(arena.address(argument.buffer, argument.offset))
    return scalar_cell(argument)
