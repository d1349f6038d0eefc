"""Which bytes may be given to the driver as a cubin, made up field by field and as Triton makes them."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
from elf import cubin_of
from hypothesis import given
from hypothesis import strategies as st

from tritonkata.boundary.cubin import NotACubin, check_cubin

FAR = 1 << 20
BROKEN: dict[str, tuple[dict[str, dict[str, Any]], str]] = {
    "32 bits": ({"header": {"ident": b"\x7fELF\x01\x01\x01"}}, "ELF"),
    "the other order of bytes": ({"header": {"ident": b"\x7fELF\x02\x02\x01"}}, "ELF"),
    "a processor's": ({"header": {"machine": 62}}, "CUDA device"),
    "another header": ({"header": {"ehsize": 52}}, "header"),
    "sections of another size": ({"header": {"shentsize": 40}}, "sections"),
    "no sections": ({"header": {"shnum": 0}}, "sections"),
    "sections outside": ({"header": {"shoff": FAR}}, "table of sections"),
    "sections at the very end": ({"header": {"shoff": (1 << 64) - 1}}, "table of sections"),
    "more sections than there are": ({"header": {"shnum": 60000}}, "table of sections"),
    "names in a section that is not there": ({"header": {"shstrndx": 6}}, "names"),
    "names in no table of names": ({"header": {"shstrndx": 4}}, "names"),
    "segments of another size": ({"header": {"phentsize": 32}}, "segments"),
    "segments outside": ({"header": {"phoff": FAR}}, "table of segments"),
    "more segments than there are": ({"header": {"phnum": 60000}}, "table of segments"),
    "a segment outside": ({"segment": {"offset": FAR}}, "segment"),
    "a segment that reaches outside": ({"segment": {"filesz": FAR}}, "segment"),
    "code outside": ({"_text": {"offset": FAR}}, "a section lies outside"),
    "code that reaches outside": ({"_text": {"size": FAR}}, "a section lies outside"),
    "code that is everything": ({"_text": {"offset": 0, "size": 700}}, "overlap"),
    "a name outside": ({"_text": {"name": FAR}}, "name"),
    "names without an end": ({"_names": {"size": 12}}, "name"),
    "symbols of a section that is not there": ({"_symtab": {"link": 6}}, "not there"),
    "relocations of a section that is not there": ({"_rela": {"info": 6}}, "not there"),
    "names of symbols in code": ({"_symtab": {"link": 4}}, "name"),
    "half a symbol": ({"_symtab": {"size": 36}}, "within an entry"),
    "a symbol's name outside": ({"symbol": {"name": FAR}}, "name"),
    "a symbol in a section that is not there": ({"symbol": {"shndx": 6}}, "symbol"),
    "a relocation outside": ({"relocation": {"offset": 128}}, "relocation"),
    "a relocation for a symbol that is not there": ({"relocation": {"info": 2 << 32}}, "relocation"),
    "half a relocation": ({"_rela": {"size": 12}}, "within an entry"),
    "code under another name": ({"_text": {"name": 1}}, "no code"),
}


@pytest.mark.parametrize(("changes", "rule"), BROKEN.values(), ids=BROKEN)
def test_a_table_that_points_outside_the_file_is_refused(changes: dict[str, dict[str, Any]], rule: str) -> None:
    with pytest.raises(NotACubin, match=rule):
        check_cubin(cubin_of("softmax", **changes), "softmax")


def test_each_of_them_is_fine_without_the_change() -> None:
    check_cubin(cubin_of("softmax"), "softmax")
    # Of a section without bytes in the file, neither size nor place says anything.
    check_cubin(cubin_of("softmax", _shared={"offset": FAR, "size": 1 << 60}), "softmax")
    check_cubin(cubin_of("softmax", symbol={"shndx": 0xFFF1}), "softmax")


@pytest.mark.parametrize("kernel", ["softma", "softmax2", "oftmax", "", "soft\0max"])
def test_the_code_must_be_the_kernels(kernel: str) -> None:
    with pytest.raises(NotACubin, match="no code"):
        check_cubin(cubin_of("softmax"), kernel)


@given(st.data())
def test_whatever_it_is_it_is_a_cubin_or_none(data: st.DataObject) -> None:
    """Cut short, and with bytes changed: nothing else is raised."""
    whole = bytearray(cubin_of("softmax"))
    for _ in range(data.draw(st.integers(0, 4))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    with contextlib.suppress(NotACubin):
        check_cubin(bytes(whole[: data.draw(st.integers(0, len(whole)))]), "softmax")
