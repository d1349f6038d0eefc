"""Looking at device memory through one piece of host memory that is used again and again.

The pages of new host memory take longer to come than the bytes, above all in a virtual machine.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tritonkata.launcher import driver

PIECE_BYTES = 4 << 20
"""What is looked at in one go: it stays in the processor's caches, and the copy takes longer than its start."""

_piece: NDArray[np.uint8] = np.empty(PIECE_BYTES, np.uint8)

_memcmp = ctypes.CDLL(None).memcmp
_memcmp.argtypes = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)
_memcmp.restype = ctypes.c_int


def same_bytes(address: int, expected: NDArray[Any]) -> bool:
    """Whether device memory holds these bytes; `expected` is contiguous."""
    return all(
        _memcmp(piece.ctypes.data, expected.ctypes.data + offset, piece.nbytes) == 0
        for offset, piece in _pieces(address, expected.nbytes)
    )


def first_other(address: int, nbytes: int, byte: int) -> int | None:
    """Offset of the first byte of device memory that is not `byte`; None if there is none."""
    for offset, piece in _pieces(address, nbytes):
        # A byte that equals the next one, all the way, equals all of them.
        if piece[0] == byte and _memcmp(piece.ctypes.data, piece.ctypes.data + 1, piece.nbytes - 1) == 0:
            continue
        return offset + int((piece != byte).argmax())
    return None


def _pieces(address: int, nbytes: int) -> Iterator[tuple[int, NDArray[np.uint8]]]:
    """Device memory from `address`, as (offset, bytes). Each piece is gone with the next."""
    for offset in range(0, nbytes, PIECE_BYTES):
        piece = _piece[: min(PIECE_BYTES, nbytes - offset)]
        driver.download(piece, address + offset)
        yield offset, piece
