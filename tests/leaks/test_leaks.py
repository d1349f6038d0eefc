"""Nothing hidden is readable where a submission runs, and nothing of it reaches what a report shows.

Words are planted in every file of a course that learners must not see, in the seed and in the grader's environment. A
submission then searches files, processes, its own memory and objects for them, and raises what it found.
"""

from __future__ import annotations

import io
import secrets
import shutil
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from rich.console import Console

from tritonkata.boundary.sandbox import SandboxUnavailable, find_bubblewrap
from tritonkata.check import grade
from tritonkata.courses import load_course
from tritonkata.engine.engines import EngineName
from tritonkata.feedback.junit import to_xml
from tritonkata.feedback.markdown import to_markdown
from tritonkata.feedback.terminal import print_report
from tritonkata.model.course import Kata
from tritonkata.model.faults import Fault
from tritonkata.model.report import Report

SECOND_COURSE = Path(__file__).resolve().parents[1] / "course"
SPY = Path(__file__).parent / "spy.py"
HIDDEN = (
    "katas/doubled/hidden/test_doubled.py",
    "katas/doubled/mistakes.py",
    "katas/doubled/brief.md",
    "reference/doubled/oracle.py",
    "reference/doubled/solution.py",
    "skeletons/doubled.py",
)
ENGINES = ["interpreter", pytest.param("gpu", marks=pytest.mark.gpu)]


def word() -> str:
    return "zq" + "seven" + secrets.token_hex(8)


@pytest.fixture
def sandboxed() -> None:
    try:
        find_bubblewrap()
    except SandboxUnavailable as error:
        pytest.skip(str(error))


@pytest.fixture
def planted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """A course whose hidden files hold a word each; by file."""
    shutil.copytree(SECOND_COURSE, tmp_path / "course", ignore=shutil.ignore_patterns("__pycache__"))
    words = {file: word() for file in HIDDEN}
    for file, planted_word in words.items():
        path = tmp_path / "course" / file
        comment = f"\n# {planted_word}\n" if path.suffix == ".py" else f"\n{planted_word}\n"
        path.write_text(path.read_text() + comment)
    oracle = tmp_path / "course" / "reference/doubled/oracle.py"
    oracle.write_text(oracle.read_text() + f"\nWORD = {words['reference/doubled/oracle.py']!r}\n")
    toml = tmp_path / "course" / "katas/doubled/kata.toml"
    toml.write_text(toml.read_text().replace("_seconds = ", "_seconds = 30"))  # the spy has much to read
    words["environment"] = word()
    monkeypatch.setenv("GRADER_WORD", words["environment"])
    return words


@pytest.fixture
def kata(tmp_path: Path, planted: dict[str, str]) -> Kata:
    return load_course(tmp_path / "course").kata("doubled")


def shown(report: Report, kata: Kata) -> str:
    """Everything that a reader can get to see, one after another, but for the seed, which repeats a run."""
    report = msgspec.structs.replace(report, seed=0)
    console = Console(record=True, width=500, file=io.StringIO())
    print_report(report, kata, None, console, limit=1000)
    data = msgspec.json.encode(report).decode()
    return "\n".join([data, console.export_text(), to_markdown(report, kata, None), to_xml(report).decode()])


def spied(kata: Kata, tmp_path: Path, engine: EngineName, change: Callable[[str], str] = str) -> Report:
    path = tmp_path / "doubled.py"
    path.write_text(change(SPY.read_text()))
    return grade(kata, path, engine=engine, seed=int(secrets.token_hex(7), 16))


@pytest.mark.usefixtures("sandboxed")
@pytest.mark.parametrize("engine", ENGINES)
def test_nothing_planted_is_found_by_a_submission_or_shown(
    kata: Kata, planted: dict[str, str], tmp_path: Path, engine: EngineName
) -> None:
    report = spied(kata, tmp_path, engine)
    text = shown(report, kata)
    assert "looked" in text, report
    assert {where: planted_word for where, planted_word in planted.items() if planted_word in text} == {}


def test_the_spy_finds_what_is_there(kata: Kata, tmp_path: Path) -> None:
    """A word in the submission itself lies in its file, in its memory and among its objects."""
    own = word()
    report = spied(kata, tmp_path, "interpreter", lambda source: f"{source}\nNOTE = '{own}'\n")
    assert own in shown(report, kata)


@pytest.mark.usefixtures("sandboxed")
@pytest.mark.parametrize("engine", ENGINES)
def test_the_seed_is_nowhere_to_be_found(kata: Kata, tmp_path: Path, engine: EngineName) -> None:
    """In decimal, wherever a process of the submission can look."""
    seed = int("4455667788" + str(10**8 + secrets.randbelow(10**8)))
    path = tmp_path / "doubled.py"
    source = SPY.read_text().replace(
        '("zq" + "seven").encode() + rb"[0-9a-f]{16}"', '("44556" + "67788").encode() + rb"[0-9]{9}"'
    )
    assert source != SPY.read_text()
    path.write_text(source)
    text = shown(grade(kata, path, engine=engine, seed=seed), kata)
    assert "looked" in text
    assert str(seed) not in text


def test_words_of_a_process_with_hidden_values_are_not_passed_on(kata: Kata, tmp_path: Path) -> None:
    """An error in the interpreter can spell out the input; a report for others has the kind, the line and the name."""
    path = tmp_path / "doubled.py"
    path.write_text(
        SPY.read_text().replace("        look_everywhere()\n", "        raise ValueError(hidden_values())\n")
    )
    told = grade(kata, path, engine="interpreter", seed=5)
    discreet = grade(kata, path, engine="interpreter", seed=5, discreet=True)
    assert told.verdict == discreet.verdict == "fail"
    assert "[[" in faults(told)[0].message
    assert faults(discreet)[0].message == "no array"  # what the tracer says, which has none
    assert faults(discreet)[0].line == faults(told)[0].line


def faults(report: Report) -> list[Fault]:
    return [check.evidence.fault for check in report.checks if check.evidence.fault is not None]


def test_what_the_tracer_says_is_passed_on(kata: Kata, tmp_path: Path) -> None:
    """The tracer has no values, so an honest error of the host code keeps its text."""
    path = tmp_path / "doubled.py"
    path.write_text(
        SPY.read_text().replace("        look_everywhere()\n", "        raise ValueError('37 columns are odd')\n")
    )
    report = grade(kata, path, engine="interpreter", seed=5, discreet=True)
    assert "37 columns are odd" in shown(report, kata)
