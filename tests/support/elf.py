"""The smallest cubin that holds code of a kernel, with any field of any part changed."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any

HEADER = ("ident", "type", "machine", "version", "entry", "phoff", "shoff", "flags", "ehsize")
HEADER += ("phentsize", "phnum", "shentsize", "shnum", "shstrndx")
SECTION = ("name", "type", "flags", "addr", "offset", "size", "link", "info", "addralign", "entsize")
SEGMENT = ("type", "flags", "offset", "vaddr", "paddr", "filesz", "memsz", "align")
SYMBOL = ("name", "info", "other", "shndx", "value", "size")
RELOCATION = ("offset", "info", "addend")

SECTIONS = ("", ".names", ".symtab", ".rela", ".text", ".shared")
"""The sections by the names that changes go by; the last takes no place in the file."""


def cubin_of(kernel: str, **changes: Mapping[str, Any]) -> bytes:
    """An ELF file for a CUDA device; `changes` are new values of fields, by `header`, `segment`, `symbol`, `relocation`
    or a section's name with `_` for the dot."""
    names = f"\0.names\0.symtab\0.rela.text.{kernel}\0.text.{kernel}\0.shared\0".encode()
    text_name = names.index(f"\0.text.{kernel}".encode()) + 1
    symbol = _fields(SYMBOL, {"name": text_name, "info": 3, "shndx": 4}, changes.get("symbol"))
    relocation = _fields(RELOCATION, {"info": 1 << 32}, changes.get("relocation"))
    contents = [
        b"",
        names,
        bytes(24) + struct.pack("<IBBHQQ", *symbol),
        struct.pack("<QQq", *relocation),
        bytes(128),
        b"",
    ]
    kinds = [0, 3, 2, 4, 1, 8]
    places = [0, 1, names.index(b".symtab"), names.index(b".rela"), text_name, names.index(b".shared")]
    body, table = b"", b""
    for index, (kind, content, name) in enumerate(zip(kinds, contents, places, strict=True)):
        plain = {
            "name": name,
            "type": kind,
            "offset": 64 + len(body),
            "size": len(content),
            "link": (0, 0, 1, 2, 0, 0)[index],
        }
        plain |= {"info": 4} if index == 3 else {"size": 1 << 40} if index == 5 else {}
        plain |= {"entsize": 24} if index in (2, 3) else {}
        change = changes.get(SECTIONS[index].replace(".", "_")) if index else changes.get("null")
        table += struct.pack("<IIQQQQIIQQ", *_fields(SECTION, plain, change))
        body += content
    segment = struct.pack(
        "<IIQQQQQQ", *_fields(SEGMENT, {"type": 1, "offset": 64, "filesz": 64, "memsz": 64}, changes.get("segment"))
    )
    header = _fields(
        HEADER,
        {
            "ident": b"\x7fELF\x02\x01\x01" + bytes(9),
            "machine": 190,
            "phoff": 64 + len(body) + len(table),
            "shoff": 64 + len(body),
            "ehsize": 64,
            "phentsize": 56,
            "phnum": 1,
            "shentsize": 64,
            "shnum": len(SECTIONS),
            "shstrndx": 1,
        },
        changes.get("header"),
    )
    return struct.pack("<16sHHIQQQIHHHHHH", *header) + body + table + segment


def places_of(cubin: bytes, section: str) -> tuple[int, int]:
    """Where a section's bytes lie in what `cubin_of` made: the first, and how many."""
    (table,) = struct.unpack_from("<Q", cubin, 40)
    offset, size = struct.unpack_from("<QQ", cubin, table + 64 * SECTIONS.index(section) + 24)
    return offset, size


def _fields(names: tuple[str, ...], plain: dict[str, Any], changes: Mapping[str, Any] | None) -> list[Any]:
    values = {**dict.fromkeys(names, 0), **plain, **(changes or {})}
    assert set(values) == set(names)
    return [values[name] for name in names]
