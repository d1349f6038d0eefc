"""Whether bytes are an ELF file for a CUDA device that points at nothing outside itself.

The driver takes a cubin by its address, without a size, and reads wherever the tables in it point. The layout is that
of ELF-64 object files in the System V ABI; code and what NVIDIA's own sections hold is not looked at.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

EM_CUDA = 190

_MAGIC = b"\x7fELF\x02\x01"  # 64-bit, little-endian
_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SEGMENT = struct.Struct("<IIQQQQQQ")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_RELOCATION, _RELOCATION_WITH_ADDEND = struct.Struct("<QQ"), struct.Struct("<QQq")

_SYMTAB, _STRTAB, _RELA, _NOBITS, _REL = 2, 3, 4, 8, 9
_FIRST_RESERVED_SECTION = 0xFF00


class NotACubin(ValueError):
    """The message says which rule is broken."""


@dataclass(frozen=True)
class _Section:
    """One entry of the section table; `content` is empty for what takes no place in the file."""

    name: int
    kind: int
    content: memoryview
    link: int
    info: int


def check_cubin(cubin: bytes, kernel: str) -> None:
    """Return if this is a CUDA device's ELF file with code for the kernel, whose tables stay inside it.

    Raises:
        NotACubin: it is not. Nothing else is raised.
    """
    _require(len(cubin) >= _HEADER.size and cubin.startswith(_MAGIC), "not an ELF file")
    _, _, machine, _, _, segments_at, sections_at, _, header_size, *sizes = _HEADER.unpack_from(cubin)
    segment_size, segments, section_size, count, names = sizes
    _require(machine == EM_CUDA, "an ELF file, but not for a CUDA device")
    _require(header_size == _HEADER.size, "its ELF header has another size")
    view = memoryview(cubin)
    for at, nbytes in _segments(view, segments_at, segment_size, segments):
        _inside(view, at, nbytes, "a segment")
    sections = _sections(view, sections_at, section_size, count)
    _require(names < count and sections[names].kind == _STRTAB, "its sections have no names")
    # Else a small file could make this take for ever.
    _require(sum(len(section.content) for section in sections) <= len(cubin), "its sections overlap")
    for section in sections:
        _check_name(sections[names], section.name)
        _require(
            max(section.link, _section_of_relocations(section)) < count, "a section refers to one that is not there"
        )
        _check_content(section, sections)
    code = f".text.{kernel}\0".encode()
    table = sections[names].content
    _require(any(table[one.name : one.name + len(code)] == code for one in sections), f"it has no code of {kernel}")


def _require(holds: bool, rule: str) -> None:
    if not holds:
        raise NotACubin(rule)


def _inside(view: memoryview, at: int, nbytes: int, what: str) -> memoryview:
    _require(at + nbytes <= len(view), f"{what} lies outside the file")
    return view[at : at + nbytes]


def _segments(view: memoryview, at: int, size: int, count: int) -> list[tuple[int, int]]:
    """Where each segment's bytes in the file begin, and how many there are."""
    if not count:
        return []
    _require(size == _SEGMENT.size, "its segments have another size")
    table = _inside(view, at, size * count, "the table of segments")
    return [(entry[2], entry[5]) for entry in _SEGMENT.iter_unpack(table)]


def _sections(view: memoryview, at: int, size: int, count: int) -> list[_Section]:
    _require(size == _SECTION.size, "its sections have another size")
    table = _inside(view, at, size * count, "the table of sections")
    found = []
    for name, kind, _, _, offset, nbytes, link, info, _, _ in _SECTION.iter_unpack(table):
        content = view[:0] if kind in (0, _NOBITS) else _inside(view, offset, nbytes, "a section")
        found.append(_Section(name, kind, content, link, info))
    return found


def _section_of_relocations(section: _Section) -> int:
    return section.info if section.kind in (_RELA, _REL) else 0


def _check_content(section: _Section, sections: list[_Section]) -> None:
    if section.kind == _SYMTAB:
        _check_symbols(section, sections)
    elif section.kind in (_RELA, _REL):
        _check_relocations(section, sections)
    elif section.kind == _STRTAB:
        _require(bytes(section.content[-1:]) in (b"", b"\0"), "a table of names has no end")


def _check_symbols(section: _Section, sections: list[_Section]) -> None:
    for name, _, _, where, _, _ in _entries(section, _SYMBOL):
        _check_name(sections[section.link], name)
        _require(
            where < len(sections) or where >= _FIRST_RESERVED_SECTION, "a symbol is of a section that is not there"
        )


def _check_relocations(section: _Section, sections: list[_Section]) -> None:
    symbols = len(sections[section.link].content) // _SYMBOL.size
    patched = len(sections[section.info].content)
    for offset, information, *_ in _entries(section, _RELOCATION if section.kind == _REL else _RELOCATION_WITH_ADDEND):
        _require(offset < patched and information >> 32 < symbols, "a relocation lies outside what it is for")


def _entries(section: _Section, entry: struct.Struct) -> list[tuple[int, ...]]:
    _require(len(section.content) % entry.size == 0, "a table ends within an entry")
    return list(entry.iter_unpack(section.content))


def _check_name(table: _Section, at: int) -> None:
    """A name begins within a table of names; the table itself must have an end."""
    _require(table.kind == _STRTAB and at < len(table.content), "a name lies outside its table")
