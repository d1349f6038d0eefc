"""Which bytes may be given to the driver as a cubin: made up field by field, and as Triton makes them."""

from __future__ import annotations

import contextlib
import re
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from elf import cubin_of, places_of
from hypothesis import given
from hypothesis import strategies as st

from tritonkata.boundary.cubin import NotACubin, check_cubin

FINE = cubin_of("softmax")
END = len(FINE)
NAMES, NAMES_BYTES = places_of(FINE, ".names")
TEXT, TEXT_BYTES = places_of(FINE, ".text")
REL = {"type": 9, "entsize": 16, "size": 16}

Changes = dict[str, dict[str, Any]]
BROKEN: dict[str, tuple[Changes, str]] = {
    "32 bits": ({"header": {"ident": b"\x7fELF\x01\x01\x01"}}, "not an ELF file"),
    "the other order of bytes": ({"header": {"ident": b"\x7fELF\x02\x02\x01"}}, "not an ELF file"),
    "a processor's": ({"header": {"machine": 62}}, "an ELF file, but not for a CUDA device"),
    "another header": ({"header": {"ehsize": 52}}, "its ELF header has another size"),
    "sections of another size": ({"header": {"shentsize": 40}}, "its sections have another size"),
    "no sections": ({"header": {"shnum": 0}}, "its sections have no names"),
    "sections outside": ({"header": {"shoff": END}}, "the table of sections lies outside the file"),
    "sections at the very end": ({"header": {"shoff": (1 << 64) - 1}}, "the table of sections lies outside the file"),
    "a section too many": (
        {"header": {"shnum": 7, "phnum": 0, "shoff": END - 56 - 6 * 64}},
        "the table of sections lies outside the file",
    ),
    "names in a section that is not there": ({"header": {"shstrndx": 6}}, "its sections have no names"),
    "names in no table of names": ({"header": {"shstrndx": 4}}, "its sections have no names"),
    "segments of another size": ({"header": {"phentsize": 32}}, "its segments have another size"),
    "segments a byte outside": ({"header": {"phoff": END - 55}}, "the table of segments lies outside the file"),
    "more segments than there are": ({"header": {"phnum": 2}}, "the table of segments lies outside the file"),
    "segments counted elsewhere": ({"header": {"phnum": 0xFFFF}}, "it has too many segments"),
    "a segment outside": (
        {"segment": {"offset": END + 1, "filesz": 0, "memsz": 0}},
        "a segment lies outside the file",
    ),
    "a segment a byte outside": (
        {"segment": {"offset": 64, "filesz": END - 63, "memsz": END}},
        "a segment lies outside the file",
    ),
    "a segment that wraps around": (
        {"segment": {"offset": (1 << 64) - 64, "filesz": 128, "memsz": 128}},
        "a segment lies outside the file",
    ),
    "a segment larger than its memory": ({"segment": {"memsz": 63}}, "a segment is larger in the file than in memory"),
    "code outside": ({"_text": {"offset": END + 1, "size": 0}}, "a section lies outside the file"),
    "code a byte outside": ({"_text": {"size": END - TEXT + 1}}, "a section lies outside the file"),
    "code that wraps around": ({"_text": {"offset": (1 << 64) - 64}}, "a section lies outside the file"),
    "relocations of the whole file": (
        {"_rela": {"offset": 0, "size": END - END % 24}},
        "its tables overlap",
    ),
    "a name a byte outside": ({"_text": {"name": NAMES_BYTES}}, "a name lies outside its table"),
    "names without an end": ({"_names": {"size": NAMES_BYTES - 1}}, "a table of names has no end"),
    "symbols of a section that is not there": ({"_symtab": {"link": 6}}, "a section refers to one that is not there"),
    "relocations of a section that is not there": (
        {"_rela": {"info": 6}},
        "a section refers to one that is not there",
    ),
    "short relocations of a section that is not there": (
        {"_rela": REL | {"info": 6}},
        "a section refers to one that is not there",
    ),
    "code that refers to a section that is not there": (
        {"_text": {"link": 6}},
        "a section refers to one that is not there",
    ),
    "names of symbols in code": ({"_symtab": {"link": 4}}, "a name lies outside its table"),
    "local symbols that are not there": (
        {"_symtab": {"info": 3}},
        "a table of symbols refers to one that is not there",
    ),
    "half a symbol": ({"_symtab": {"size": 36}}, "a table ends within an entry"),
    "symbols of another size": ({"_symtab": {"entsize": 1 << 40}}, "a table has entries of another size"),
    "a symbol's name outside": ({"symbol": {"name": NAMES_BYTES}}, "a name lies outside its table"),
    "a symbol in a section that is not there": (
        {"symbol": {"shndx": 6}},
        "a symbol is of a section that is not there",
    ),
    "a symbol in a section far away": (
        {"symbol": {"shndx": 0x4000}},
        "a symbol is of a section that is not there",
    ),
    "a symbol in a section that stands elsewhere": (
        {"symbol": {"shndx": 0xFFFF}},
        "a symbol is of a section that is not there",
    ),
    "a relocation outside": ({"relocation": {"offset": TEXT_BYTES}}, "a relocation lies outside its section"),
    "a short relocation outside": (
        {"relocation": {"offset": TEXT_BYTES}, "_rela": REL},
        "a relocation lies outside its section",
    ),
    "a relocation for a symbol that is not there": (
        {"relocation": {"info": 2 << 32}},
        "a relocation is for a symbol that is not there",
    ),
    "half a relocation": ({"_rela": {"size": 12}}, "a table ends within an entry"),
    "half a short relocation": ({"_rela": REL | {"size": 24}}, "a table ends within an entry"),
    "relocations of another size": ({"_rela": {"entsize": 16}}, "a table has entries of another size"),
    "relocations for what are no symbols": ({"_rela": {"link": 4}}, "relocations refer to no table of symbols"),
    "code under another name": ({"_text": {"name": 1}}, "it has no code of softmax"),
    "code without a byte": ({"_text": {"type": 8}}, "it has no code of softmax"),
    "code of no length": ({"_text": {"size": 0}, "_rela": {"size": 0}}, "it has no code of softmax"),
}


@pytest.mark.parametrize(("changes", "rule"), BROKEN.values(), ids=BROKEN)
def test_a_table_that_points_outside_the_file_is_refused(changes: Changes, rule: str) -> None:
    with pytest.raises(NotACubin, match=f"^{re.escape(rule)}$"):
        check_cubin(cubin_of("softmax", **changes), "softmax")


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"_shared": {"offset": END + 1, "size": 1 << 60}},  # of what takes no place in the file neither says anything
        {"null": {"offset": END + 1, "size": 1}},
        {"symbol": {"shndx": 0xFFF1}},
        {"_rela": REL},
        {
            "_rela": {"type": 0x70000082, "offset": TEXT, "size": TEXT_BYTES, "info": 99}
        },  # shares bytes, as on Blackwell
        {"_text": {"info": 1 << 30}},  # flags of registers, say
        {"header": {"phnum": 0, "phentsize": 0}},
        {"segment": {"offset": END, "filesz": 0}},
        {"_symtab": {"info": 2}},
        {"relocation": {"offset": TEXT_BYTES - 1, "info": 1 << 32}},
    ],
)
def test_what_compilers_may_do_is_fine(changes: Changes) -> None:
    check_cubin(cubin_of("softmax", **changes), "softmax")


@pytest.mark.parametrize("kernel", ["softma", "softmax2", "oftmax", "", "soft\0max"])
def test_the_code_must_be_the_kernels(kernel: str) -> None:
    with pytest.raises(NotACubin, match="no code"):
        check_cubin(FINE, kernel)


def with_more_sections(count: int) -> bytes:
    """The table of sections again at the end, with the one of relocations, without any, so many times more."""
    changed = bytearray(cubin_of("softmax", _rela={"size": 0}))
    (begin,) = struct.unpack_from("<Q", changed, 40)
    sections = changed[begin : begin + 6 * 64]
    struct.pack_into("<Q", changed, 40, len(changed))
    struct.pack_into("<H", changed, 60, 6 + count)
    return bytes(changed + sections + sections[3 * 64 : 4 * 64] * count)


def test_more_tables_than_compilers_make_are_refused() -> None:
    """Each takes a while to be looked at."""
    check_cubin(with_more_sections(1000), "softmax")
    with pytest.raises(NotACubin, match="more than 1024 tables"):
        check_cubin(with_more_sections(1024), "softmax")


@given(st.data())
def test_whatever_it_is_it_is_a_cubin_or_none(data: st.DataObject) -> None:
    """Cut short, and with bytes changed: nothing else is raised."""
    whole = bytearray(FINE)
    for _ in range(data.draw(st.integers(0, 4))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    with contextlib.suppress(NotACubin):
        check_cubin(bytes(whole[: data.draw(st.integers(0, len(whole)))]), "softmax")


COMPILED = """
import sys
from pathlib import Path

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

@triton.jit
def product(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)[:, None] * BLOCK + tl.arange(0, BLOCK)[None, :]
    x = tl.load(x_ptr + at, mask=at < n, other=0.0)
    tl.device_assert(x == x, "no number")
    tl.store(y_ptr + at, tl.dot(x, tl.trans(x)), mask=at < n)

@triton.jit
def row_sums(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    row = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row, mask=row < n, other=0.0)
    tl.store(y_ptr + row, tl.cumsum(x) / tl.sum(x), mask=row < n)

for capability in (80, 90, 100, 120):
    for kernel, block in ((product, 64), (row_sums, 1024)):
        signature = {"x_ptr": "*fp32", "y_ptr": "*fp32", "n": "i32", "BLOCK": "constexpr"}
        source = ASTSource(kernel, signature, {"BLOCK": block})
        compiled = triton.compile(source, target=GPUTarget("cuda", capability, 32), options={"debug": True})
        name = f"{capability}.{compiled.metadata.name}"
        (Path(sys.argv[1]) / name).write_bytes(compiled.asm["cubin"])
"""


def test_what_triton_compiles_is_a_cubin_whatever_the_card(tmp_path: Path) -> None:
    script = tmp_path / "compiled.py"
    script.write_text(COMPILED)
    cubins = tmp_path / "cubins"
    cubins.mkdir()
    subprocess.run([sys.executable, str(script), str(cubins)], check=True, timeout=300)
    found = sorted(cubins.iterdir())
    assert len(found) == 8
    for path in found:
        check_cubin(path.read_bytes(), path.name.partition(".")[2])
