"""The launcher's own kernels: the copy that everything is measured against, a read that flushes the L2, a compare.

They are PTX, compiled by the driver for the card at hand: the launcher has no compiler of its own.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from tritonkata.launcher import driver, modules

VECTOR_BYTES = 16
THREADS = 256
VECTORS = 1
"""Vectors that each thread moves. Of 128 to 1024 threads with 1 to 8 vectors each, this was the fastest on an H200:
4.19 TB/s for 256 MiB, the driver's own copy 4.19, the others 4.00 to 4.20."""

_NAMES = ("copy", "read", "compare")


@dataclass(frozen=True)
class OwnKernels:
    """The loaded kernels. Sizes are bytes, multiples of 16; addresses are aligned to 16."""

    functions: dict[str, Any]
    threads: int
    vectors: int

    def copy(self, target: int, source: int, nbytes: int) -> None:
        """Start a copy of `nbytes`: as many bytes are read, and as many written."""
        self._launch("copy", target, source, 0, nbytes)

    def read(self, sink: int, source: int, nbytes: int) -> None:
        """Start a read of `nbytes`. `sink` is 16 bytes that are written only if the data says so."""
        self._launch("read", sink, source, 0, nbytes)

    def compare(self, result: int, one: int, other: int, nbytes: int) -> None:
        """Start a comparison of `nbytes` at two places. The 32-bit word at `result` becomes 1 where they differ."""
        self._launch("compare", result, one, other, nbytes)

    def _launch(self, name: str, target: int, source: int, other: int, nbytes: int) -> None:
        vectors = nbytes // VECTOR_BYTES
        blocks = -(-vectors // (self.threads * self.vectors))
        if blocks == 0:
            return
        cells = [ctypes.c_uint64(value) for value in (target, source, other, vectors)]
        pointers = (ctypes.c_void_p * len(cells))(*(ctypes.addressof(cell) for cell in cells))
        driver.launch(self.functions[name], (blocks, 1, 1), self.threads, 0, ctypes.addressof(pointers))


@contextmanager
def loaded(threads: int = THREADS, vectors: int = VECTORS) -> Iterator[OwnKernels]:
    """Compile and load the kernels; their module may go at the end."""
    module = driver.load_module(ptx(threads, vectors).encode() + b"\0")
    try:
        functions = {name: driver.module_function(module, name, shared_bytes=0, num_ctas=1) for name in _NAMES}
        yield OwnKernels(functions, threads, vectors)
    finally:
        # After a kernel's fault the context is gone, and its modules with it.
        with suppress(driver.CudaError):
            modules.unload(module)


def ptx(threads: int, vectors: int) -> str:
    """All kernels. Each block takes a tile of `threads * vectors` vectors; its threads' loads are adjacent."""
    kernels = "".join(_kernel(name, threads, vectors) for name in _NAMES)
    return f".version 7.0\n.target sm_70\n.address_size 64\n{kernels}"


def _kernel(name: str, threads: int, vectors: int) -> str:
    loads = "".join(_load(index, threads, "v", "source") for index in range(vectors))
    if name == "copy":
        ends = "".join(_store(index) for index in range(vectors))
    elif name == "read":
        ends = _fold(vectors)
    else:
        loads += "".join(_load(index, threads, "w", "other") for index in range(vectors))
        ends = _differ(vectors)
    return f"""
.visible .entry {name}(.param .u64 target, .param .u64 source, .param .u64 other, .param .u64 count)
{{
    .reg .pred %p<{vectors + 1}>;
    .reg .b32 %t<4>, {_registers("v", vectors)}, {_registers("w", vectors)};
    .reg .b64 %target, %source, %other, %count, %index, %at<{vectors + 1}>, %from, %to;
    ld.param.u64 %target, [target];
    ld.param.u64 %source, [source];
    ld.param.u64 %other, [other];
    ld.param.u64 %count, [count];
    mov.u32 %t0, %ctaid.x;
    mov.u32 %t1, %tid.x;
    mul.wide.u32 %index, %t0, {threads * vectors};
    cvt.u64.u32 %from, %t1;
    add.u64 %index, %index, %from;
{loads}{ends}    ret;
}}
"""


def _words(letter: str, index: int) -> list[str]:
    return [f"%{letter}{index}_{part}" for part in range(4)]


def _registers(letter: str, vectors: int) -> str:
    return ", ".join(word for index in range(vectors) for word in _words(letter, index))


def _load(index: int, threads: int, letter: str, source: str) -> str:
    words = _words(letter, index)
    zeros = "".join(f"    mov.b32 {word}, 0;\n" for word in words)
    return (
        f"    add.u64 %at{index}, %index, {index * threads};\n"
        f"    setp.lt.u64 %p{index}, %at{index}, %count;\n"
        f"{zeros}    mad.lo.u64 %from, %at{index}, {VECTOR_BYTES}, %{source};\n"
        f"    @%p{index} ld.global.v4.u32 {{{', '.join(words)}}}, [%from];\n"
    )


def _store(index: int) -> str:
    return (
        f"    mad.lo.u64 %to, %at{index}, {VECTOR_BYTES}, %target;\n"
        f"    @%p{index} st.global.v4.u32 [%to], {{{', '.join(_words('v', index))}}};\n"
    )


def _fold(vectors: int) -> str:
    """Mix what was read into one word, and store it only if it has a value that data hardly has."""
    first, *others = [word for index in range(vectors) for word in _words("v", index)]
    mixed = "".join(f"    xor.b32 {first}, {first}, {word};\n" for word in others)
    return f"{mixed}    setp.eq.u32 %p0, {first}, 0x5EED5EED;\n    @%p0 st.global.u32 [%target], {first};\n"


def _differ(vectors: int) -> str:
    """Gather the bits in which both inputs differ, and store 1 if there are any."""
    gathered = "    mov.b32 %t2, 0;\n    mov.b32 %t3, 1;\n"
    for index in range(vectors):
        for one, other in zip(_words("v", index), _words("w", index), strict=True):
            gathered += f"    xor.b32 {one}, {one}, {other};\n    or.b32 %t2, %t2, {one};\n"
    return f"{gathered}    setp.ne.u32 %p0, %t2, 0;\n    @%p0 st.global.u32 [%target], %t3;\n"
