"""Downloads made to do harm: each is refused or left out with its reason, and an honest neighbour comes through."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import os
import stat
import struct
import tarfile
import tempfile
import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from packing import SLUG, SOURCE, folder, left, sources, taken, tar_bytes, tarred, zip_bytes, zipped

from tritonkata.boundary.messages import MAX_SOURCE_BYTES
from tritonkata.intake import IntakeProblem, MemberProblem, open_download, take_in
from tritonkata.intake import download as downloads
from tritonkata.intake.members import ContainerProblem
from tritonkata.intake.zips import Zip

HONEST = {"zed/safe_softmax.py": SOURCE}


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (tarfile.SYMTYPE, "symbolic link"),
        (tarfile.LNKTYPE, "is a link"),
        (tarfile.FIFOTYPE, "pipe"),
        (tarfile.CHRTYPE, "device"),
    ],
)
def test_what_is_no_file_in_a_tar_becomes_an_attempt_with_a_problem(tmp_path, kind, words):
    info = tarfile.TarInfo("ann/safe_softmax.py")
    info.type, info.linkname = kind, "zed/safe_softmax.py"
    path = tmp_path / "in.tar"
    with tarfile.open(path, "w") as archive:
        honest = tarfile.TarInfo("zed/safe_softmax.py")
        honest.size = len(SOURCE)
        archive.addfile(honest, io.BytesIO(SOURCE))
        archive.addfile(info)
    assert_only_zed_can_be_read(path, words)


def test_links_and_encrypted_files_in_a_zip_become_attempts_with_a_problem(tmp_path):
    link = zipfile.ZipInfo("ann/safe_softmax.py")
    link.create_system, link.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
    path = tmp_path / "in.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(link, "zed/safe_softmax.py")
        archive.writestr("zed/safe_softmax.py", SOURCE)
    assert_only_zed_can_be_read(path, "symbolic link")
    plain = bytearray(zip_bytes({"ann/safe_softmax.py": b"ann", **HONEST}))
    for signature, flags_at in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        plain[plain.index(signature) + flags_at] |= 1
    path.write_bytes(plain)
    assert_only_zed_can_be_read(path, "encrypted")


def test_links_pipes_and_folders_in_a_folder_are_not_followed(tmp_path):
    secret = folder(tmp_path / "elsewhere", {"safe_softmax.py": b"secret"})
    root = folder(tmp_path / "in", HONEST)
    (root / "ann").mkdir()
    (root / "ann" / "safe_softmax.py").symlink_to(secret / "safe_softmax.py")
    (root / "bo").symlink_to(secret)
    (root / "cy").mkdir()
    os.mkfifo(root / "cy" / "safe_softmax.py")
    (root / "di" / "safe_softmax.py").mkdir(parents=True)
    with open_download(root) as download:
        intake = take_in(download, SLUG)
        found = {attempt.student.id: attempt for attempt in intake.attempts}
        assert sorted(found) == ["ann", "cy", "di", "zed"]
        assert "symbolic link" in found["ann"].problem
        assert "pipe" in found["cy"].problem
        assert "empty folder" in found["di"].problem
        assert download.source(found["zed"]) == SOURCE
        for student in ("ann", "cy"):
            with pytest.raises(MemberProblem):
                download.source(found[student])
    assert "symbolic link" in left(intake, "bo").reason


def test_a_file_that_becomes_a_link_after_it_was_listed_is_not_followed(tmp_path):
    secret = folder(tmp_path / "elsewhere", {"safe_softmax.py": b"secret"}) / "safe_softmax.py"
    root = folder(tmp_path / "in", {"ann/safe_softmax.py": b"ann"})
    with open_download(root) as download:
        (attempt,) = take_in(download, SLUG).attempts
        (root / "ann" / "safe_softmax.py").unlink()
        (root / "ann" / "safe_softmax.py").symlink_to(secret)
        with pytest.raises(MemberProblem):
            download.source(attempt)


@pytest.mark.parametrize("make", [zipped, tarred])
def test_a_file_that_is_too_large_is_read_no_further_than_it_takes_to_say_so(tmp_path, make):
    path = make(tmp_path / "in.archive", {"ann/safe_softmax.py": b" " * (50 << 20), **HONEST})
    found = sources(path)
    assert len(found["ann"]) == MAX_SOURCE_BYTES + 1
    assert found["zed"] == SOURCE


def test_a_file_that_turns_out_to_be_damaged_is_named_to_its_student(tmp_path):
    packed = bytearray(zip_bytes({"ann/safe_softmax.py": os.urandom(99), **HONEST}))
    packed[packed.index(b"ann/safe_softmax.py") + 40] ^= 1
    (tmp_path / "in.zip").write_bytes(packed)
    with open_download(tmp_path / "in.zip") as download:
        ann, zed = take_in(download, SLUG).attempts
        assert download.source(zed) == SOURCE
        with pytest.raises(MemberProblem, match=r"ann/safe_softmax.py: is damaged.*hand it in again"):
            download.source(ann)


def test_a_zip_that_declares_the_wrong_size_harms_only_that_file(tmp_path):
    packed = bytearray(zip_bytes({"ann/safe_softmax.py": b"ann" * 99, **HONEST}))
    struct.pack_into("<L", packed, packed.index(b"PK\1\2") + 24, 1 << 30)
    path = tmp_path / "in.zip"
    path.write_bytes(packed)
    with open_download(path) as download:
        intake = take_in(download, SLUG)
        assert [attempt.student.id for attempt in intake.attempts] == ["ann", "zed"]
        assert download.source(intake.attempts[1]) == SOURCE


def test_a_tar_that_unpacks_to_far_more_is_refused(tmp_path):
    bomb = gzip.compress(tar_bytes({"ann/safe_softmax.py": bytes(64 << 20)}))
    (tmp_path / "in.tar.gz").write_bytes(bomb)
    with pytest.raises(IntakeProblem, match="200 times its size"):
        open_download(tmp_path / "in.tar.gz")
    root = folder(tmp_path / "in", {"ann/work.tar.gz": bomb, **HONEST})
    assert sources(root) == {"zed": SOURCE}
    assert "200 times" in left(taken(root), "ann").reason


def test_an_archive_with_too_many_files_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(downloads, "MAX_MEMBERS", 5)
    monkeypatch.setattr(downloads, "MAX_NESTED_MEMBERS", 3)
    many = {f"s{number}/safe_softmax.py": b"" for number in range(6)}
    with pytest.raises(IntakeProblem, match="more than 5 files"):
        taken(zipped(tmp_path / "many.zip", many))
    texts = {f"{number}.txt": b"" for number in range(3)}
    packed = zip_bytes({**texts, "safe_softmax.py": b"beyond"})
    root = folder(tmp_path / "in", {"ann/work.zip": packed, **HONEST, "bo.zip": zip_bytes({"a.py": b"bo"})})
    assert sources(root) == {"zed": SOURCE, "bo": b"bo"}
    assert "more than 3 files" in left(taken(root), "ann").reason


def test_a_list_of_contents_that_would_fill_the_memory_is_refused_before_it_is_read():
    packed = bytearray(zip_bytes({f"{number}" * 200: b"" for number in range(100)}))
    with pytest.raises(ContainerProblem, match="more than 2 files"):
        Zip(io.BytesIO(packed), 2)
    assert len(list(Zip(io.BytesIO(packed), 100).entries())) == 100


def test_ways_of_packing_whose_output_has_no_bound_are_not_opened(tmp_path):
    path = tmp_path / "in.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("ann/safe_softmax.py", SOURCE, zipfile.ZIP_BZIP2)
        archive.writestr("zed/safe_softmax.py", SOURCE, zipfile.ZIP_DEFLATED)
    assert_only_zed_can_be_read(path, "other than deflate")


@pytest.mark.parametrize("packing", ["gz", "xz", "bz2", ""])
def test_every_packing_of_a_tar_is_read(tmp_path, packing):
    files = {"./ann/safe_softmax.py": b"ann", "./zed/safe_softmax.py": SOURCE}
    assert sources(tarred(tmp_path / "in.bin", files, packing)) == {"ann": b"ann", "zed": SOURCE}


def test_of_a_truncated_archive_the_beginning_is_used(tmp_path):
    noise = os.urandom(300_000)
    whole = tar_bytes({"ann/safe_softmax.py": SOURCE, "zed/safe_softmax.py": noise})
    path = tmp_path / "in.tar.gz"
    path.write_bytes(gzip.compress(whole)[:200_000])
    intake = taken(path)
    assert "ann" in [attempt.student.id for attempt in intake.attempts]
    assert "not downloaded to its end" in left(intake, "in").reason
    (tmp_path / "in.zip").write_bytes(zip_bytes({"ann/a.py": noise})[:100_000])
    with pytest.raises(IntakeProblem, match="download it again"):
        open_download(tmp_path / "in.zip")


def test_a_student_whose_own_archive_is_broken_is_named(tmp_path):
    files = {
        "ann/work.zip": zip_bytes({"a.py": os.urandom(999)})[:500],
        "bo/work.tar.bz2": bz2.compress(b"no tar"),
        "cy/work.zip": b"\x7fELF",
        "di/work.zip": zip_bytes({"inner.zip": zip_bytes({"a.py": b""})}),
        "ed/work.zip": zip_bytes({"../a.py": b""}),
        "fy/work.zip": zip_bytes({"a.py": b"fy"}),
        **HONEST,
    }
    root = folder(tmp_path / "in", files)
    assert sources(root) == {"fy": b"fy", "zed": SOURCE}
    reasons = {one.student.id: one.reason for one in taken(root).left_out if one.student}
    assert sorted(reasons) == ["ann", "bo", "cy", "di", "ed"]
    assert "damaged" in reasons["ann"]
    assert "neither a zip nor a tar" in reasons["cy"]
    assert "archive inside an archive" in reasons["di"]


def test_a_tar_member_of_negative_size_does_not_go_round_in_circles(tmp_path):
    info = tarfile.TarInfo("ann/safe_softmax.py")
    info.pax_headers = {"size": "-1024"}
    path = tmp_path / "in.tar"
    with tarfile.open(path, "w", format=tarfile.PAX_FORMAT) as archive:
        honest = tarfile.TarInfo("zed/safe_softmax.py")
        honest.size = len(SOURCE)
        archive.addfile(honest, io.BytesIO(SOURCE))
        archive.addfile(info)
    assert sources(path) == {"zed": SOURCE}
    assert any("damaged" in one.reason for one in taken(path).left_out)


def test_leavings_of_systems_and_editors_are_counted_and_ignored(tmp_path):
    noise = ("__MACOSX/ann/._safe_softmax.py", "ann/.DS_Store", "ann/._x.py", "ann/__pycache__/a.py", ".git/config")
    files = dict.fromkeys((*noise, "ann/.ipynb_checkpoints/safe_softmax.py"), b"x")
    intake = taken(zipped(tmp_path / "in.zip", {**files, "ann/safe_softmax.py": b"ann", "bo/a._b.py": b"bo"}))
    assert intake.ignored == 6
    assert not intake.left_out
    assert [attempt.student.id for attempt in intake.attempts] == ["ann", "bo"]


def test_a_folder_that_cannot_be_listed_is_named(tmp_path, monkeypatch):
    root = folder(tmp_path / "in", {"ann/safe_softmax.py": b"", **HONEST})
    listed = os.scandir

    def refusing(path):
        if os.fspath(path).endswith("ann"):
            raise PermissionError(13, "Permission denied")
        return listed(path)

    monkeypatch.setattr(os, "scandir", refusing)
    intake = taken(root)
    assert [attempt.student.id for attempt in intake.attempts] == ["zed"]
    assert "Permission denied" in left(intake, "ann").reason


def test_a_download_that_cannot_be_listed_is_refused(tmp_path, monkeypatch):
    def refusing(path):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "scandir", refusing)
    with pytest.raises(IntakeProblem, match="in: cannot be listed: Permission denied"):
        open_download(folder(tmp_path / "in", HONEST))


@pytest.mark.parametrize("content", [b"", b"7z\xbc\xaf\x27\x1c", b"print()\n"])
def test_what_is_no_archive_is_refused_with_what_to_do(tmp_path, content):
    (tmp_path / "in.7z").write_bytes(content)
    with pytest.raises(IntakeProblem, match="unpack it"):
        open_download(tmp_path / "in.7z")
    with pytest.raises(IntakeProblem, match="no such folder"):
        open_download(tmp_path / "missing")


INNER = zip_bytes({"work/safe_softmax.py": SOURCE})

WHOLE = {
    "zip": zip_bytes({"ann/safe_softmax.py": SOURCE, "bo/work.zip": INNER, **HONEST}),
    "tar": tar_bytes({"ann/safe_softmax.py": SOURCE, "bo/work.zip": INNER, **HONEST}),
    "gz": tar_bytes({"ann/safe_softmax.py": SOURCE, "bo/work.zip": INNER, **HONEST}, "gz"),
    "xz": tar_bytes({"ann/safe_softmax.py": SOURCE, "bo/work.zip": INNER, **HONEST}, "xz"),
}


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from(sorted(WHOLE)),
    st.lists(st.tuples(st.floats(0, 1), st.integers(0, 255)), max_size=6),
    st.floats(0, 1),
)
def test_damage_anywhere_is_named_and_never_an_error_of_the_grader(kind, flips, end):
    damaged = bytearray(WHOLE[kind])
    for place, value in flips:
        damaged[int(place * (len(damaged) - 1))] = value
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "in.archive"
        path.write_bytes(damaged[: len(damaged) - int(end * 64)])
        with contextlib.suppress(IntakeProblem), open_download(path) as download:
            for attempt in take_in(download, SLUG, layout="plain").attempts:
                with contextlib.suppress(MemberProblem):
                    assert isinstance(download.source(attempt), bytes)


def assert_only_zed_can_be_read(path, words):
    with open_download(path) as download:
        intake = take_in(download, SLUG)
        found = {attempt.student.id: attempt for attempt in intake.attempts}
        assert sorted(found) == ["ann", "zed"]
        assert words in found["ann"].problem
        assert download.source(found["zed"]) == SOURCE
        with pytest.raises(MemberProblem, match=words):
            download.source(found["ann"])
