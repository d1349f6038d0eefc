"""What a wheel and an editable install put where."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tritonkata.courses import built_in_root, load_course

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (path,) = folder.glob("*.whl")
    return path


def test_the_wheel_holds_one_package_and_the_whole_course(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0].partition("-")[0] for name in names} == {"tritonkata"}
    for kata in load_course().katas:
        for path in (kata.brief, kata.skeleton, kata.oracle, kata.solution, kata.mistakes, kata.folder / "kata.toml"):
            assert f"tritonkata/{path.relative_to(ROOT)}" in names
    assert "tritonkata/katas/course.toml" in names
    strange = [name for name in names if "__pycache__" in name or name.endswith(".pyc") or "/." in name]
    assert strange == []
    assert len(names) == len(set(names))


def test_an_installed_wheel_uses_the_course_inside_it(wheel: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    zipfile.ZipFile(wheel).extractall(site)
    work = tmp_path / "work"
    work.mkdir()
    environment = {**os.environ, "PYTHONPATH": str(site), "PYTHONDONTWRITEBYTECODE": "1"}
    code = "from tritonkata.courses import built_in_root; print(built_in_root())"
    asked = subprocess.run(
        [sys.executable, "-P", "-c", code], cwd=work, env=environment, check=True, capture_output=True, text=True
    )
    assert asked.stdout.strip() == str(site / "tritonkata")
    command = [sys.executable, "-P", "-m", "tritonkata", "start", "safe_softmax"]
    subprocess.run(command, cwd=work, env=environment, check=True, capture_output=True)
    assert (work / "safe_softmax.py").is_file()


def test_an_editable_install_points_at_the_repository_and_copies_nothing(tmp_path: Path) -> None:
    build = f"import hatchling.build; print(hatchling.build.build_editable({str(tmp_path)!r}))"
    subprocess.run([sys.executable, "-c", build], cwd=ROOT, check=True, capture_output=True)
    (path,) = tmp_path.glob("*.whl")
    site = tmp_path / "site"
    zipfile.ZipFile(path).extractall(site)
    # A link to the package's parent, and metadata: no copy that could go stale.
    (link, metadata) = sorted(site.iterdir(), key=lambda entry: entry.is_dir())
    assert (link.suffix, metadata.suffix) == (".pth", ".dist-info")
    assert link.read_text().split() == [str(ROOT / "grader")]
    assert "kata = tritonkata.cli:main" in (metadata / "entry_points.txt").read_text()


def test_the_repository_is_the_built_in_course_of_an_editable_install() -> None:
    assert built_in_root() == ROOT
