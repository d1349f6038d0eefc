"""What the table of attacks and the soak share: attacks graded in a crew, with a course whose limits are short."""

from __future__ import annotations

import shutil
import sys
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

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


def first_of(report: Report) -> tuple[str, str]:
    """The verdict and the words of the load fault, or of the first check that did not pass."""
    if report.fault is not None:
        return report.fault.verdict, report.fault.message
    for check in report.checks:
        if check.verdict != "pass":
            return check.verdict, check.message
    return "pass", ""


def as_expected(attack: Any, engine: str, report: Report) -> bool:
    """Whether an attack's report is what its table says."""
    if report.verdict == "grader_error":
        return False
    if attack.undefended == engine:
        return True
    expected = attack.expected[engine]
    verdicts = ("fail", "error") if expected.verdict == "any" else (expected.verdict,)
    return report.verdict in verdicts and first_of(report)[0] in expected.first


def lasting(report: Report) -> bytes:
    """A report without what differs from run to run: times, speed, and what caches made of the traffic."""
    checks = tuple(msgspec.structs.replace(check, seconds=0.0) for check in report.checks)
    traffic = report.traffic
    if traffic is not None:
        traffic = msgspec.structs.replace(
            traffic,
            traversals=msgspec.structs.replace(traffic.traversals, l2=None, dram=None),
            bytes=msgspec.structs.replace(traffic.bytes, l2=None, dram=None),
        )
    report = msgspec.structs.replace(
        report, checks=checks, seconds=0.0, started_at="", speed=None, traffic=traffic, traffic_at_full_size=None
    )
    return msgspec.json.encode(report)
