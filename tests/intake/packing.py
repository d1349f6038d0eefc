"""Folders and archives of submissions, made for a test."""

from __future__ import annotations

import io
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

from tritonkata.intake import Intake, LeftOut, open_download, take_in

SLUG = "safe_softmax"
SOURCE = b"import triton\n"

Files = Mapping[str, bytes]


def folder(root: Path, files: Files) -> Path:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return root


def zip_bytes(files: Files, **options) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, **options) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    return packed.getvalue()


def zipped(path: Path, files: Files) -> Path:
    path.write_bytes(zip_bytes(files))
    return path


def tar_bytes(files: Files, packing: str = "") -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode=f"w:{packing}") as archive:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return packed.getvalue()


def tarred(path: Path, files: Files, packing: str = "") -> Path:
    path.write_bytes(tar_bytes(files, packing))
    return path


def taken(path: Path, slug: str = SLUG, **options) -> Intake:
    with open_download(path) as download:
        return take_in(download, slug, **options)


def sources(path: Path, **options) -> dict[str, bytes]:
    """What each student handed in."""
    with open_download(path) as download:
        intake = take_in(download, SLUG, **options)
        return {attempt.student.id: download.source(attempt) for attempt in intake.attempts}


def left(intake: Intake, path: str) -> LeftOut:
    """The one thing left out at `path`."""
    found = [one for one in intake.left_out if one.path == path]
    assert len(found) == 1, intake.left_out
    return found[0]
