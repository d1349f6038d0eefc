"""Names in downloads, odd and hostile ones: none leads outside, and all can be printed."""

from __future__ import annotations

import os
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packing import SOURCE, folder, left, sources, taken, tarred, zip_bytes, zipped

from tritonkata.intake import IntakeProblem, open_download
from tritonkata.intake.names import misleading, parts_of, printable

HONEST = {"zed/safe_softmax.py": SOURCE}


@pytest.mark.parametrize(
    "name", ["../ann/safe_softmax.py", "ann/../../safe_softmax.py", "/ann/safe_softmax.py", "C:\\ann\\safe_softmax.py"]
)
@pytest.mark.parametrize("make", [zipped, tarred])
def test_names_that_point_outside_are_left_out(tmp_path, make, name):
    path = make(tmp_path / "in.archive", {name.replace("\\", "/"): b"out", **HONEST, "ann..lee/safe_softmax.py": b"in"})
    assert sources(path) == {"zed": SOURCE, "ann..lee": b"in"}
    assert [one for one in taken(path).left_out if "outside the archive" in one.reason]
    assert list(tmp_path.iterdir()) == [path]


def test_a_backslash_in_a_zip_separates_folders_and_in_a_folder_does_not(tmp_path):
    path = zipped(tmp_path / "in.zip", {"ann\\safe_softmax.py": b"ann", "..\\bo\\safe_softmax.py": b"bo", **HONEST})
    assert sources(path) == {"ann": b"ann", "zed": SOURCE}
    unpacked = folder(tmp_path / "in", {"ann\\x/safe_softmax.py": b"ann"})
    assert sources(unpacked) == {"ann\\x": b"ann"}


def test_names_that_windows_reserves_and_that_differ_in_case_are_names_like_others(tmp_path):
    files = {
        "con/safe_softmax.py": b"con",
        "Ann/safe_softmax.py": b"Ann",
        "ann/safe_softmax.py": b"ann",
        "nul.py": b"nul",
    }
    path = zipped(tmp_path / "in.zip", files)
    assert sources(path) == {"con": b"con", "Ann": b"Ann", "ann": b"ann", "nul": b"nul"}


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_of_two_members_with_one_name_the_later_counts_as_in_unpacking(tmp_path):
    path = tmp_path / "in.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for content in (b"first", b"second"):
            archive.writestr("ann/safe_softmax.py", content)
        archive.writestr("ann/SAFE_SOFTMAX.txt", b"another name")
    assert sources(path) == {"ann": b"second"}
    assert "later member" in left(taken(path), "ann/safe_softmax.py").reason


def test_names_in_utf8_without_the_flag_and_in_code_page_437(tmp_path):
    packed = zip_bytes({"j__rg/safe_softmax.py": b"utf-8", "b__/safe_softmax.py": b"437", **HONEST})
    packed = packed.replace(b"j__rg", "jörg".encode()).replace(b"b__", "b\xe9é".encode("cp437"))
    (tmp_path / "in.zip").write_bytes(packed)
    assert sources(tmp_path / "in.zip") == {"jörg": b"utf-8", "béé": b"437", "zed": SOURCE}


def test_a_zip_whose_names_are_not_what_they_claim_is_refused(tmp_path):
    packed = zip_bytes({"ä/a.py": b"", **HONEST}).replace("ä".encode(), b"\xff\xfe")
    (tmp_path / "in.zip").write_bytes(packed)
    with pytest.raises(IntakeProblem, match="UTF-8"):
        open_download(tmp_path / "in.zip")


def test_a_name_with_a_nul_byte_is_left_out(tmp_path):
    packed = zip_bytes({"ann/safe_softmax.py_x": b"", **HONEST}).replace(b".py_x", b".py\0x")
    (tmp_path / "in.zip").write_bytes(packed)
    intake = taken(tmp_path / "in.zip")
    assert [attempt.student.id for attempt in intake.attempts] == ["zed"]
    assert "NUL" in left(intake, r"ann/safe_softmax.py\x00x").reason


AWKWARD = [
    "a'b",
    'a"b',
    "a\nb",
    "a\x1b[2Jb",
    "\u202egnp",
    "-rf",
    "$(x)",
    "a b ",
    "%s",
    "[red]x",
    "\uff46",
    "a;b",
    "(+",
]


@pytest.mark.parametrize("name", AWKWARD)
def test_awkward_names_come_through_and_can_be_printed(tmp_path, name):
    for path in (
        folder(tmp_path / "in", {f"{name}/safe_softmax.py": b"x"}),
        zipped(tmp_path / "in.zip", {f"{name}/safe_softmax.py": b"x", **HONEST}),
        tarred(tmp_path / "in.tar", {f"{name}/safe_softmax.py": b"x", **HONEST}),
    ):
        intake = taken(path)
        assert printable(name) in [attempt.student.id for attempt in intake.attempts]
        assert all("\n" not in attempt.path and "\x1b" not in attempt.path for attempt in intake.attempts)


def test_names_that_are_not_utf8_on_disk(tmp_path):
    root = tmp_path / "in"
    os.makedirs(os.fsencode(root) + b"/a\xff")
    (root / os.fsdecode(b"a\xff") / "safe_softmax.py").write_bytes(b"x")
    assert sources(root) == {"a\\xff": b"x"}


@given(st.text(max_size=40))
def test_a_name_is_refused_or_takes_apart_into_parts_that_stay_inside(name):
    if not misleading(name):
        parts = parts_of(name)
        assert parts
        assert not {"", ".", ".."} & set(parts)
        assert not any("/" in part or "\0" in part for part in parts)
    assert "\n" not in printable(name.encode("utf-8", "replace").decode())
