"""How one tensor lies in memory, without its values."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

DType = Literal["float32", "float16", "bfloat16", "int8", "uint8", "int16", "int32", "int64", "bool"]

ITEMSIZE: dict[str, int] = {
    "float32": 4,
    "float16": 2,
    "bfloat16": 2,
    "int8": 1,
    "uint8": 1,
    "int16": 2,
    "int32": 4,
    "int64": 8,
    "bool": 1,
}

MAX_DIMENSIONS = 8
MAX_ELEMENTS = 1 << 40

Extent = Annotated[int, msgspec.Meta(ge=0, le=MAX_ELEMENTS)]
Extents = Annotated[tuple[Extent, ...], msgspec.Meta(max_length=MAX_DIMENSIONS)]


class TensorSpec(msgspec.Struct, frozen=True):
    """A strided view of a storage.

    Shape, strides, `offset` and `storage_elements` count elements of `dtype`,
    not bytes. Strides are never negative (torch has no such tensors).
    """

    dtype: DType
    shape: Extents
    strides: Extents
    offset: Extent = 0
    storage_elements: Extent = 0

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return ITEMSIZE[self.dtype]

    @property
    def elements(self) -> int:
        """Number of elements of the view."""
        count = 1
        for extent in self.shape:
            count *= extent
        return count

    @property
    def span(self) -> int:
        """Elements from the start of the storage to the end of the view."""
        if self.elements == 0:
            return self.offset
        reach = sum((n - 1) * s for n, s in zip(self.shape, self.strides, strict=True))
        return self.offset + reach + 1

    @property
    def is_contiguous(self) -> bool:
        """Whether the view is dense in row-major order (torch's rule: extents of 1 do not count)."""
        expected = 1
        for extent, stride in zip(reversed(self.shape), reversed(self.strides), strict=True):
            if extent != 1 and stride != expected:
                return self.elements == 0
            expected *= extent
        return True


class Run(msgspec.Struct, frozen=True, array_like=True):
    """`length` consecutive elements of a storage, starting at element `start`."""

    start: Extent
    length: Extent


class TensorData(msgspec.Struct, frozen=True):
    """A tensor whose values travel beside the message, as one blob.

    The blob is the bytes of all runs, one after another. Elements of the
    storage that lie in no run are zero and need not be touched: that is how a
    view over gigabytes of guard crosses a pipe.
    """

    spec: TensorSpec
    runs: Annotated[tuple[Run, ...], msgspec.Meta(max_length=4096)]
