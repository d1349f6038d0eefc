"""A kata as bytes, for machines that do not share a file system: packed here, unpacked once there."""

from __future__ import annotations

import hashlib
import io
import tarfile
import tempfile
from pathlib import Path

from tritonkata.courses import load_course
from tritonkata.model.course import Kata

_COURSE = 'format_version = 1\ntitle = "Sent to a cluster"\nkatas = ["{slug}"]\n'


def packed(kata: Kata) -> bytes:
    """The kata's folder without its wrong examples, its reference and its skeleton, as a course of one kata."""
    root = kata.root
    wrong = kata.folder / "wrong"
    files = [path for top in (kata.folder, kata.oracle.parent) for path in sorted(top.rglob("*")) if path.is_file()]
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w:gz", compresslevel=1) as archive:
        _add(archive, "katas/course.toml", _COURSE.format(slug=kata.slug).encode())
        for path in (*files, kata.skeleton):
            if "__pycache__" not in path.parts and not path.is_relative_to(wrong):
                _add(archive, str(path.relative_to(root)), path.read_bytes())
    return target.getvalue()


def unpacked(parcel: bytes, slug: str) -> Kata:
    """The kata, in a temporary folder of this process; unpacked the first time."""
    digest = hashlib.sha256(parcel).hexdigest()
    if digest not in _known:
        folder = tempfile.TemporaryDirectory(prefix="kata-course-")
        with tarfile.open(fileobj=io.BytesIO(parcel)) as archive:
            if hasattr(tarfile, "data_filter"):  # not before Python 3.11.4
                archive.extraction_filter = tarfile.data_filter
            archive.extractall(folder.name)
        # The folder is removed when the process ends.
        _known[digest] = (folder, load_course(Path(folder.name)).kata(slug))
    return _known[digest][1]


_known: dict[str, tuple[tempfile.TemporaryDirectory[str], Kata]] = {}


def _add(archive: tarfile.TarFile, name: str, data: bytes) -> None:
    info = tarfile.TarInfo(name)
    info.size = len(data)
    archive.addfile(info, io.BytesIO(data))
