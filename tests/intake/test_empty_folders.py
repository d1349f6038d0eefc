"""A student's folder without a file is listed, however the class was packed."""

from __future__ import annotations

import io
import shutil
import tarfile
from pathlib import Path

import pytest

from tritonkata.intake import Download, IntakeProblem, open_download, take_in
from tritonkata.intake import members as module

PACKINGS = ("folder", "zip", "tar", "gztar")


@pytest.fixture(params=PACKINGS)
def download(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Ann has a file, ben nothing, cem only a folder in their folder; as `shutil` packs it, with `./` in a tar."""
    folder = tmp_path / "class"
    for name in ("ann", "ben", "cem/inner", "dan/inner"):
        (folder / name).mkdir(parents=True)
    for name in ("ann", "dan/inner"):
        (folder / name / "doubled.py").write_text("x = 1\n")
    if request.param == "folder":
        return folder
    return Path(shutil.make_archive(str(tmp_path / "packed"), request.param, folder))


def test_who_handed_in_an_empty_folder_is_told(download: Path) -> None:
    with open_download(download) as opened:
        found = take_in(opened, "doubled")
    assert [one.students[0].id for one in found.attempts] == ["ann", "dan"]
    told = {left.student.id: left.reason for left in found.left_out if left.student is not None}
    assert sorted(told) == ["ben", "cem"]
    assert all("is an empty folder" in reason for reason in told.values())


def tar_of(*names: str) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        for name in names:
            info = tarfile.TarInfo(name)
            info.type = tarfile.REGTYPE if name.endswith(".py") else tarfile.DIRTYPE
            tar.addfile(info)
    return packed.getvalue()


def opened(tmp_path: Path, content: bytes) -> Download:
    (tmp_path / "class.tar").write_bytes(content)
    return open_download(tmp_path / "class.tar")


@pytest.mark.parametrize(
    "names", [(".",), ("./",), ("..",), ("/",), ("",), ("__MACOSX",), ("ben", "ben"), ("ben/b", "ben")]
)
def test_odd_folders_harm_nothing(tmp_path: Path, names: tuple[str, ...]) -> None:
    with opened(tmp_path, tar_of("ann/doubled.py", *names)) as download:
        found = take_in(download, "doubled")
    assert [one.students[0].id for one in found.attempts] == ["ann"]
    # One that lies twice in the archive, or in another, is told once.
    assert len({left.path for left in found.left_out}) == len(found.left_out) <= 1


def test_a_flood_of_folders_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MOST_FOLDERS", 10)
    with pytest.raises(IntakeProblem, match="more than 10 folders"):
        opened(tmp_path, tar_of(*(f"s{number}" for number in range(11))))
