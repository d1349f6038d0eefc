"""What goes wrong in a course's own code is told as the course's, with its file, and never held against a learner."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tritonkata.authoring.grading import graded_example
from tritonkata.check import grade
from tritonkata.engine.station import Station
from tritonkata.model.course import Kata
from tritonkata.model.report import UNDIAGNOSED

Run = Callable[..., "subprocess.CompletedProcess[str]"]
KataOf = Callable[[], Kata]

ORACLE, MISTAKES = "reference/doubled/oracle.py", "katas/doubled/mistakes.py"

ODD_ORACLES = [
    ("return 2 * np.asarray(x, dtype=np.float64)[:, 1:]", "doubled gives y the shape"),
    ("return np.float64(2 * x.sum(dtype=np.float64))", "doubled gives y the shape ()"),
    ("return np.asarray(2 * x, dtype=np.float32)", "doubled gives y the dtype float32"),
    ("return np.asarray(2 * x, dtype=np.complex128)", "doubled gives y the dtype complex128"),
    ("return (2 * x.astype(float), x.astype(float))", "doubled gives 2 results, and kata.toml names 1"),
    ("return None", "doubled gives y the shape ()"),
    ("return [[1.0], [1.0, 2.0]]", "ValueError"),
    ("raise ValueError('no truth')", "line 7: ValueError: no truth; correct it"),
    ("assert x.shape == (1, 1), 'one only'", "line 7: AssertionError: one only; correct it"),
    ("assert x.shape == (1, 1)", "line 7: AssertionError; correct it"),
    ("import pytest; pytest.skip('not today')", "line 7: Skipped: not today; correct it"),
    ("raise SystemExit(0)", "line 7: SystemExit: 0; correct it"),
    ("x[...] = 0; return x.astype(float)", "line 7: doubled writes into its input"),
]
WRITES = (
    "x[...] = 0",
    "x[0] += 1",
    "x *= 2",
    "x.sort()",
    "x.fill(0)",
    "np.copyto(x, 0)",
    "np.exp(x, out=x)",
    "x.put(0, 1)",
)


def written(path: Path, *bodies: str) -> None:
    """A file of the course in which each body is that of a function."""
    names = ["doubled"] if path.name == "oracle.py" else [f"model_{number}" for number in range(len(bodies))]
    head = '"""It."""\n\nimport numpy as np\n\n'
    path.write_text(
        head
        + "\n".join(f'def {name}(x):\n    """It."""\n    {body}\n' for name, body in zip(names, bodies, strict=True))
    )


def graded_class(run: Run, course: Path, folder: Path, path: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """A class of one, who handed in a copy of the file."""
    (folder / "class" / "ann").mkdir(parents=True)
    (folder / "class" / "ann" / "doubled.py").write_bytes(path.read_bytes())
    command = ("--course", str(course), "grade", str(folder / "class"), "--kata", "doubled")
    return run(*command, "--engine", "interpreter", "--no-sandbox", *words)


@pytest.mark.parametrize(("body", "words"), ODD_ORACLES)
def test_an_oracle_that_gives_no_truth_is_the_courses_fault(
    kata_of: KataOf, station: Station, body: str, words: str
) -> None:
    kata = kata_of()
    written(kata.oracle, body)
    report = grade(kata, kata.solution, engine="interpreter", seed=1, station=station)
    assert report.verdict == "grader_error"
    assert {check.verdict for check in report.checks} == {"pass", "grader_error", "skipped"}
    told = next(check.message for check in report.checks if check.verdict == "grader_error")
    assert told.startswith(ORACLE)
    assert words in told
    assert "GraderError" not in told


def test_an_oracle_without_an_entry_point_is_the_courses_fault(kata_of: KataOf, station: Station) -> None:
    kata = kata_of()
    kata.oracle.write_text("def twice(x):\n    return x\n")
    report = grade(kata, kata.solution, engine="interpreter", seed=1, station=station)
    assert report.verdict == "grader_error"
    assert any(check.message.startswith(f"{ORACLE}: does not define doubled") for check in report.checks)


def test_every_command_names_the_oracle(run: Run, course_root: Path, kata_of: KataOf, tmp_path: Path) -> None:
    kata = kata_of()
    written(kata.oracle, ODD_ORACLES[0][0])
    course = ("--course", str(course_root))
    checked = run(*course, "check", str(kata.solution), "--kata", "doubled", "--engine", "interpreter")
    assert checked.returncode == 3
    assert ORACLE in checked.stdout
    verified = run(*course, "verify", "doubled")
    assert verified.returncode == 1
    assert f"could not be graded: values: {ORACLE}: doubled gives y the shape" in " ".join(verified.stdout.split())
    graded = graded_class(run, course_root, tmp_path, kata.solution)
    assert graded.returncode == 3
    assert ORACLE in graded.stdout


def test_every_command_tells_a_misspelt_fixture_as_the_courses_before_it_grades(
    run: Run, course_root: Path, kata_of: KataOf
) -> None:
    kata = kata_of()
    path = kata.hidden / "test_doubled.py"
    path.write_text(path.read_text().replace("test_strided(candidate, oracle", "test_strided(candidate, orcale"))
    words = f"{path}::test_strided: there is no fixture 'orcale'; it may take candidate, oracle, rng".replace(" ", "")
    course = ("--course", str(course_root))
    checked = run(*course, "check", str(kata.solution), "--kata", "doubled", "--engine", "interpreter")
    assert checked.returncode == 3
    assert "A file of the course is at fault" in checked.stdout
    assert words in "".join(checked.stdout.split())
    verified = run(*course, "verify", "doubled")
    assert verified.returncode == 2
    assert verified.stdout.count("orcale") == 1
    assert words in "".join(verified.stdout.split())


@pytest.mark.parametrize("how", WRITES)
def test_a_model_that_writes_into_its_input_is_told_to_the_author_and_spoils_nothing(
    kata_of: KataOf, station: Station, how: str
) -> None:
    kata = kata_of()
    written(kata.mistakes, f"{how}; return np.asarray(x, np.float64)")
    path = kata.folder / "wrong" / "tripled" / "times_three.py"
    example = graded_example(kata, "wrong", path, "interpreter", 20)
    assert re.search(
        rf"{MISTAKES}, line \d+: model_0 writes into its input \(.*\); let it change a copy", example.problem
    )


@pytest.mark.parametrize("body", ["raise OverflowError('too large')", "x[0] = 1; return x", "return x.no_such_name"])
def test_a_model_that_fails_costs_nobody_their_grade(
    run: Run, course_root: Path, kata_of: KataOf, station: Station, tmp_path: Path, body: str
) -> None:
    """What failed is known without it."""
    kata = kata_of()
    path = kata.folder / "wrong" / "tripled" / "times_three.py"
    before = grade(kata, path, engine="interpreter", seed=1, station=station)
    written(kata.mistakes, body)
    report = grade(kata, path, engine="interpreter", seed=1, station=station)
    assert (report.verdict, report.score) == (before.verdict, before.score)
    assert [check.verdict for check in report.checks] == [check.verdict for check in before.checks]
    assert any(note.startswith(f"{UNDIAGNOSED}: {MISTAKES}, line ") for note in report.notes)
    graded = graded_class(run, course_root, tmp_path, path)
    assert graded.returncode == 0
    assert f"The fault met by 1: {UNDIAGNOSED}: {MISTAKES}" in graded.stdout


def test_a_model_may_change_a_copy_and_give_its_input_back(kata_of: KataOf, station: Station) -> None:
    kata = kata_of()
    written(kata.mistakes, "return x", "y = np.array(x); y *= 3; return y")
    path = kata.folder / "wrong" / "tripled" / "times_three.py"
    report = grade(kata, path, engine="interpreter", seed=1, station=station)
    assert {check.diagnosis for check in report.checks if check.verdict == "wrong_output"} == {"model_1"}


ENDS = {"exit": "import os; os._exit(7)", "crash": "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)"}
HOW = {"exit": "ended with exit code 7", "crash": "crashed (Segmentation fault)"}


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize(("place", "name"), [(ORACLE, "doubled"), (MISTAKES, "model_0")])
def test_code_of_the_course_that_ends_its_process_is_named_by_verify_and_grade(
    run: Run, course_root: Path, kata_of: KataOf, tmp_path: Path, place: str, name: str, end: str
) -> None:
    kata = kata_of()
    written(course_root / place, ENDS[end])
    for folder in (kata.feedback, *(kata.folder / "wrong").iterdir()):
        shutil.rmtree(folder)
    words = f"{HOW[end]} during {name} of {place}; look there first"
    verified = run("--course", str(course_root), "verify", "--jobs", "1")
    assert verified.returncode == 1, verified.stderr
    assert f"could not be graded: the process that graded this {words}" in " ".join(verified.stdout.split())
    graded = graded_class(run, course_root, tmp_path, kata.skeleton, "--jobs", "1")
    assert graded.returncode == 3
    assert words in graded.stdout


def test_a_file_that_ends_the_process_as_it_is_imported_is_a_problem_of_its_kata(
    run: Run, course_root: Path, kata_of: KataOf
) -> None:
    path = kata_of().oracle
    path.write_text("import os\nos._exit(7)\n")
    done = run("--course", str(course_root), "verify", "--jobs", "1")
    assert done.returncode == 2
    assert f"ended with exit code 7 during the import of {path}" in done.stdout
