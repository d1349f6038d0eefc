"""Whether bytes are an ELF file for a CUDA device whose standard tables point at nothing outside it.

The driver takes a cubin by its address, without a size, and reads wherever the tables in it point. Looked at are the
tables of segments and sections, and the names, symbols and relocations of ELF-64 object files, as the System V ABI
has them. Code and NVIDIA's own kinds of sections are not looked at; compilers for some devices let these share bytes.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

EM_CUDA = 190

_MAGIC = b"\x7fELF\x02\x01"  # 64-bit, little-endian
_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SEGMENT = np.dtype(
    [("type", "<u4"), ("flags", "<u4")]
    + [(name, "<u8") for name in ("offset", "vaddr", "paddr", "filesz", "memsz", "align")]
)
_SECTION = np.dtype(
    [("name", "<u4"), ("type", "<u4")]
    + [(name, "<u8") for name in ("flags", "addr", "offset", "size")]
    + [("link", "<u4"), ("info", "<u4"), ("addralign", "<u8"), ("entsize", "<u8")]
)
_SYMBOL = np.dtype(
    [("name", "<u4"), ("info", "u1"), ("other", "u1"), ("shndx", "<u2"), ("value", "<u8"), ("size", "<u8")]
)
_REL_ENTRY = np.dtype([("offset", "<u8"), ("info", "<u8")])
_RELA_ENTRY = np.dtype([("offset", "<u8"), ("info", "<u8"), ("addend", "<i8")])

_NULL, _PROGBITS, _SYMTAB, _STRTAB, _RELA, _NOBITS, _REL = 0, 1, 2, 3, 4, 8, 9
_TABLES = {_SYMTAB: _SYMBOL, _REL: _REL_ENTRY, _RELA: _RELA_ENTRY}
_FIRST_RESERVED_SECTION = 0xFF00
_NO_SECTION = (0xFFF1, 0xFFF2)  # absolute, and common
_COUNT_IS_ELSEWHERE = 0xFFFF
_MAX_TABLES = 1024
"""Compilers make a handful for each kernel."""

Table = NDArray[Any]


class NotACubin(ValueError):
    """The message says which rule is broken."""


def check_cubin(cubin: bytes, kernel: str) -> None:
    """Return if this is a CUDA device's ELF file with code for the kernel, whose tables stay inside it.

    Takes time in proportion to the size of the file.

    Raises:
        NotACubin: it is not. Nothing else is raised.
    """
    _require(len(cubin) >= _HEADER.size and cubin.startswith(_MAGIC), "not an ELF file")
    _, _, machine, _, _, segments_at, sections_at, _, header_size, *sizes = _HEADER.unpack_from(cubin)
    segment_size, segment_count, section_size, section_count, names = sizes
    _require(machine == EM_CUDA, "an ELF file, but not for a CUDA device")
    _require(header_size == _HEADER.size, "its ELF header has another size")
    _require(segment_count != _COUNT_IS_ELSEWHERE, "it has too many segments")
    _check_segments(cubin, _table(cubin, segments_at, segment_size, segment_count, _SEGMENT, "segments"))
    sections = _table(cubin, sections_at, section_size, section_count, _SECTION, "sections")
    _check_sections(cubin, sections)
    _require(names < section_count and sections[names]["type"] == _STRTAB, "its sections have no names")
    _check_names(sections["name"], sections[names])
    walked = sections[np.isin(sections["type"], list(_TABLES))]
    # Else a small file could make this take for ever.
    _require(len(walked) <= _MAX_TABLES, f"it has more than {_MAX_TABLES} tables")
    _require(int(walked["size"].sum(dtype=object)) <= len(cubin), "its tables overlap")
    for section in walked:
        _check_entries(_entries(cubin, section), section, sections)
    _check_code(cubin, sections, names, kernel)


def _require(holds: Any, rule: str) -> None:
    if not holds:
        raise NotACubin(rule)


def _table(cubin: bytes, at: int, size: int, count: int, entry: np.dtype[Any], what: str) -> Table:
    if not count:
        return np.zeros(0, entry)
    _require(size == entry.itemsize, f"its {what} have another size")
    _require(at + size * count <= len(cubin), f"the table of {what} lies outside the file")
    return np.frombuffer(cubin, entry, count, at)


def _are_inside(offsets: Table, sizes: Table, nbytes: int) -> bool:
    """Whether pieces of a file lie inside it; as differences, since sums of 64 bits could wrap around."""
    return bool(np.all((sizes <= nbytes) & (offsets <= nbytes - np.minimum(sizes, np.uint64(nbytes)))))


def _check_segments(cubin: bytes, segments: Table) -> None:
    _require(_are_inside(segments["offset"], segments["filesz"], len(cubin)), "a segment lies outside the file")
    _require(np.all(segments["filesz"] <= segments["memsz"]), "a segment is larger in the file than in memory")


def _check_sections(cubin: bytes, sections: Table) -> None:
    """Places in the file, and references from one to another."""
    held = sections[~np.isin(sections["type"], (_NULL, _NOBITS))]
    _require(_are_inside(held["offset"], held["size"], len(cubin)), "a section lies outside the file")
    relocations = sections[np.isin(sections["type"], (_REL, _RELA))]
    referred = np.concatenate([sections["link"], relocations["info"]])
    _require(np.all(referred < len(sections)), "a section refers to one that is not there")
    for strings in sections[(sections["type"] == _STRTAB) & (sections["size"] > 0)]:
        _require(cubin[int(strings["offset"] + strings["size"]) - 1] == 0, "a table of names has no end")


def _entries(cubin: bytes, section: Any) -> Table:
    entry = _TABLES[int(section["type"])]
    _require(section["entsize"] == entry.itemsize, "a table has entries of another size")
    _require(section["size"] % entry.itemsize == 0, "a table ends within an entry")
    return np.frombuffer(cubin, entry, int(section["size"]) // entry.itemsize, int(section["offset"]))


def _check_entries(entries: Table, section: Any, sections: Table) -> None:
    linked = sections[section["link"]]
    if section["type"] == _SYMTAB:
        _check_names(entries["name"], linked)
        _require(section["info"] <= len(entries), "a table of symbols refers to one that is not there")
        where = entries["shndx"]
        _require(
            np.all((where < len(sections)) & (where < _FIRST_RESERVED_SECTION) | np.isin(where, _NO_SECTION)),
            "a symbol is of a section that is not there",
        )
        return
    _require(linked["type"] == _SYMTAB, "relocations refer to no table of symbols")
    symbols, patched = int(linked["size"]) // _SYMBOL.itemsize, sections[section["info"]]["size"]
    _require(np.all(entries["offset"] < patched), "a relocation lies outside its section")
    _require(np.all(entries["info"] >> 32 < symbols), "a relocation is for a symbol that is not there")


def _check_names(names: Table, table: Any) -> None:
    """Names begin within a table of names, which has an end."""
    _require(table["type"] == _STRTAB and np.all(names < table["size"]), "a name lies outside its table")


def _check_code(cubin: bytes, sections: Table, names: int, kernel: str) -> None:
    """Some section has a name that is the kernel's, and bytes."""
    wanted = f".text.{kernel}\0".encode()
    begin, end = int(sections[names]["offset"]), int(sections[names]["offset"] + sections[names]["size"])
    code = set(sections["name"][(sections["type"] == _PROGBITS) & (sections["size"] > 0)].tolist())
    at = cubin.find(wanted, begin, end)
    while at >= 0 and at - begin not in code:
        at = cubin.find(wanted, at + 1, end)
    _require(at >= 0, f"it has no code of {kernel}")
