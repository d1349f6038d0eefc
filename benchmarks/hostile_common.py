"""What the table of attacks and the soak share: attacks graded in a crew, with a course whose limits are short."""

from __future__ import annotations

import shutil
import sys
from functools import cache
from pathlib import Path
from typing import Any

from tritonkata.check import grade
from tritonkata.courses import load_course
from tritonkata.crew.member import station
from tritonkata.engine.engines import EngineName
from tritonkata.model.course import Kata
from tritonkata.model.report import Report

ROOT = Path(__file__).resolve().parents[1]
HOSTILE = ROOT / "tests" / "hostile"
SEED = 20_250_101
_LIMITS = {"load_seconds": 4.0, "compile_seconds": 20.0, "case_seconds": 5.0}


def catalogue() -> Any:
    """The module that lists the attacks."""
    if str(HOSTILE) not in sys.path:
        sys.path.insert(0, str(HOSTILE))
    import catalogue as found

    return found


@cache
def kata_of(slug: str, root: Path) -> Kata:
    """A kata of the copied courses below `root`."""
    return load_course(root / slug).kata(slug)


def copy_courses(root: Path, *, shorter: float = 1.0) -> None:
    """The courses that attacks answer, below `root`; time limits divided by `shorter`."""
    for slug, source in (("doubled", ROOT / "tests" / "course"), ("safe_softmax", ROOT)):
        target = root / slug
        for folder in ("katas", "reference"):
            skip = shutil.ignore_patterns("__pycache__", "wrong")
            shutil.copytree(source / folder / slug, target / folder / slug, ignore=skip)
        (target / "skeletons").mkdir()
        shutil.copy(source / "skeletons" / f"{slug}.py", target / "skeletons")
        (target / "katas" / "course.toml").write_text(f'format_version = 1\ntitle = "One kata"\nkatas = ["{slug}"]\n')
        if slug == "doubled":
            toml = target / "katas" / slug / "kata.toml"
            text = toml.read_text()
            for name, seconds in _LIMITS.items():
                text = text.replace(f"{name} = {seconds}", f"{name} = {seconds / shorter}")
            toml.write_text(text)


def graded(path: Path, slug: str, root: Path, engine: EngineName) -> Report:
    """The report of one file."""
    return grade(kata_of(slug, root), path, engine=engine, seed=SEED, station=station(), discreet=True)
