"""Courses with a planted secret, and a folder for temporary files that nothing else uses."""

from __future__ import annotations

import secrets
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tritonkata.boundary.sandbox import SandboxUnavailable, find_bubblewrap
from tritonkata.check import grade
from tritonkata.courses import load_course
from tritonkata.engine.station import Station
from tritonkata.model.course import Kata

sys.path.insert(0, str(Path(__file__).parent))  # the modules beside the tests

ROOT = Path(__file__).resolve().parents[2]
COURSES = {"doubled": ROOT / "tests" / "course", "safe_softmax": ROOT}
KataOf = Callable[[str], Kata]
StationFor = Callable[[Kata], Station]


@pytest.fixture(scope="session")
def secret() -> str:
    """A word that stands in every hidden file of the courses below, and that no report may hold."""
    return f"planted-{secrets.token_hex(16)}"


@pytest.fixture(scope="session")
def kata_of(secret: str, tmp_path_factory: pytest.TempPathFactory) -> KataOf:
    """A kata by name, from a copy of its course in which every hidden file holds the secret."""
    made: dict[str, Kata] = {}

    def kata(slug: str) -> Kata:
        if slug not in made:
            root = tmp_path_factory.mktemp("course")
            _plant(COURSES[slug], root, slug, secret)
            made[slug] = load_course(root).kata(slug)
        return made[slug]

    return kata


@pytest.fixture(scope="session")
def station_for(station: Station) -> StationFor:
    """A station with templates for a kata, which a test then finds running. It has no GPU's launcher."""
    warm: set[str] = set()

    def for_kata(kata: Kata) -> Station:
        if kata.slug not in warm:
            grade(kata, kata.skeleton, engine="interpreter", station=station)
            warm.add(kata.slug)
        return station

    return for_kata


@pytest.fixture(autouse=True)
def own_temporary_folder(secret: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where the grader puts temporary files during a test; its environment holds the secret too."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setenv("KATA_PLANTED", secret)
    yield folder
    # Not by shutil: one attack leaves folders too deep for it, and pytest's own removal would end there later.
    subprocess.run(["/bin/rm", "-rf", str(folder)], check=True)


@pytest.fixture(scope="session")
def sandbox() -> None:
    """Nothing hostile runs without a sandbox: some of it would end or overwrite what belongs to others."""
    try:
        find_bubblewrap()
    except SandboxUnavailable as error:
        pytest.skip(str(error))


def _plant(course: Path, root: Path, slug: str, secret: str) -> None:
    for folder in ("katas", "reference"):
        shutil.copytree(course / folder / slug, root / folder / slug, ignore=shutil.ignore_patterns("__pycache__"))
        for path in (root / folder / slug).rglob("*.py"):
            path.write_text(f'{path.read_text()}\n_PLANTED = "{secret}"\n')
    (root / "skeletons").mkdir()
    shutil.copy(course / "skeletons" / f"{slug}.py", root / "skeletons")
    (root / "katas" / "course.toml").write_text(f'format_version = 1\ntitle = "One kata"\nkatas = ["{slug}"]\n')
