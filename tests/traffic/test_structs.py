"""The parameter structs against the headers of every CUPTI on this machine: Triton's wheel has them, too."""

from __future__ import annotations

import ctypes
import re
from pathlib import Path

import pytest

from tritonkata.launcher.traffic import library, structs
from tritonkata.launcher.traffic.cupti import CuptiError

FOLDERS = library.header_folders()
C_TYPES = {
    "size_t": ctypes.c_size_t,
    "uint8_t": ctypes.c_uint8,
    "uint16_t": ctypes.c_uint16,
    "uint32_t": ctypes.c_uint32,
    "CUpti_ProfilerRange": ctypes.c_int,
    "CUpti_ProfilerReplayMode": ctypes.c_int,
    "CUpti_ProfilerType": ctypes.c_int,
    "CUpti_MetricType": ctypes.c_int,
    "CUcontext": ctypes.c_void_p,
}


def declared(text: str) -> dict[str, list[tuple[str, int]]]:
    """Name and size of each field of each struct of a header."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    text = re.sub(r"//[^\n]*", "", text)
    found = {}
    for body, name in re.findall(r"typedef struct \w+\s*\{(.*?)\}\s*(\w+);", text, re.S):
        fields = re.findall(r"\s*(?:const\s+|struct\s+)*(\w+)\s*([\s*]|const)*?(\w+)\s*;", body)
        stars = [line for line in body.split(";") if line.strip()]
        found[name] = [
            (field, ctypes.sizeof(ctypes.c_void_p if "*" in line else C_TYPES[kind]))
            for (kind, _, field), line in zip(fields, stars, strict=True)
            if "*" in line or kind in C_TYPES
        ]
    return found


@pytest.mark.parametrize("folder", FOLDERS, ids=str)
def test_the_structs_are_laid_out_as_the_installed_headers_say(folder: Path) -> None:
    names = ("cupti_range_profiler.h", "cupti_profiler_host.h", "cupti_profiler_target.h", "cupti_target.h")
    headers: dict[str, list[tuple[str, int]]] = {}
    for name in names:
        headers.update(declared((folder / name).read_text()))
    for name, kind in structs.TYPES.items():
        ours = [(field, getattr(kind, field).size) for field, _ in kind._fields_]
        assert ours == headers[name][: len(ours)], name


def test_triton_brings_a_library_and_its_headers() -> None:
    assert any("triton" in str(folder) for folder in FOLDERS)
    assert any("triton" in path for path in library.candidates())


@pytest.mark.parametrize("name", sorted(structs.TYPES))
def test_the_size_is_counted_to_the_end_of_the_last_field(name: str) -> None:
    short = name.removeprefix("CUpti_").removesuffix("_Params")
    made = structs.params(short)
    last = made._fields_[-1][0]
    field = getattr(type(made), last)
    assert made.structSize == field.offset + field.size
    assert made.structSize <= ctypes.sizeof(made)
    assert all(not getattr(made, name) for name, _ in made._fields_[1:])


def test_a_machine_without_the_library_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "candidates", list)
    with pytest.raises(library.CuptiMissing, match="nvidia-cuda-cupti"):
        library.load()


def test_a_file_that_is_no_library_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "libcupti.so"
    path.write_text("nothing")
    monkeypatch.setattr(library, "candidates", lambda: [str(path)])
    with pytest.raises(library.CuptiMissing, match=re.escape(str(path))):
        library.load()


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (35, ("NVreg_RestrictProfilingToAdminUsers=0", "cap-add=SYS_ADMIN")),
        (40, ("NVreg_RestrictProfilingToAdminUsers=0",)),
        (26, ("another profiler", "ncu")),
        (39, ("another profiler",)),
        (999, ("cuptiRangeProfilerEnable", "999", "unknown")),
    ],
)
def test_what_cupti_refuses_says_what_to_change(code: int, words: tuple[str, ...]) -> None:
    message = str(CuptiError("cuptiRangeProfilerEnable", code, "unknown"))
    for word in words:
        assert word in message
    assert str(code) in message
