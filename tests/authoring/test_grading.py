"""One file graded: what its role promises, and what is said of a promise that is broken."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tritonkata.authoring.gate import chosen_mutants
from tritonkata.authoring.grading import examples_of, graded_example, graded_mutant
from tritonkata.authoring.matrix import Example, Role
from tritonkata.authoring.mutants import Mutation, mutations
from tritonkata.authoring.problems import problems_of
from tritonkata.model.course import Kata
from tritonkata.model.report import UNDIAGNOSED

KataOf = Callable[[], Kata]


def graded(kata: Kata, role: Role, path: Path) -> Example:
    return graded_example(kata, role, path, "interpreter", 20)


def replace(path: Path, old: str, new: str) -> None:
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))


def test_the_files_of_a_kata_are_the_skeleton_the_solution_and_the_wrong_ones(kata_of: KataOf) -> None:
    roles = [role for role, _ in examples_of(kata_of())]
    assert roles[:2] == ["skeleton", "solution"]
    assert set(roles[2:]) == {"wrong"}
    assert all(path.is_file() for _, path in examples_of(kata_of()))


def test_a_solution_above_par_says_how_far_and_dtypes_are_those_of_calls_that_gave_a_result(
    course_root: Path, kata_of: KataOf
) -> None:
    folder = course_root / "katas" / "doubled"
    replace(folder / "kata.toml", "par = 2.0", "par = 1.5")
    replace(folder / "hidden" / "test_doubled.py", "normal(rng, (3, 8))", 'normal(rng, (3, 8), "bfloat16")')
    example = graded(kata_of(), "solution", kata_of().solution)
    assert example.verdict == "pass"
    assert example.problem == "passes without gold: 2 traversals, par is 1.5"
    assert example.dtypes == ("float16", "float32")


def test_a_solution_whose_traffic_is_never_measured_cannot_be_at_par(course_root: Path, kata_of: KataOf) -> None:
    hidden = course_root / "katas" / "doubled" / "hidden" / "test_doubled.py"
    replace(hidden, "assert_within_budget(candidate.traffic(x), unit=x)", "candidate.traffic(x)")
    assert "assert_within_budget" in graded(kata_of(), "solution", kata_of().solution).problem


def test_a_solution_that_fails_says_which_check(course_root: Path, kata_of: KataOf) -> None:
    replace(kata_of().solution, "2 * x", "2.5 * x")
    example = graded(kata_of(), "solution", kata_of().solution)
    assert example.problem.startswith("does not pass: values (")
    assert example.dtypes == ()


def test_a_wrong_example_that_passes_or_gets_another_diagnosis_is_told(course_root: Path, kata_of: KataOf) -> None:
    path = course_root / "katas" / "doubled" / "wrong" / "tripled" / "times_three.py"
    replace(path, "3 * x", "x")
    assert graded(kata_of(), "wrong", path).problem == "must get the diagnosis tripled, and got not_doubled"
    path.write_text(kata_of().solution.read_text())
    assert graded(kata_of(), "wrong", path).problem == "passes, and must fail"


def test_a_wrong_example_without_a_diagnosis_says_what_failed(kata_of: KataOf) -> None:
    path = kata_of().folder / "wrong" / "tripled" / "times_three.py"
    replace(path, "3 * x", "x + NOTHING")
    problem = graded(kata_of(), "wrong", path).problem
    assert problem.startswith("must get the diagnosis tripled, and got none: compiles (compile_error: ")
    assert "NOTHING" in problem


def test_a_skeleton_must_run_as_it_is(kata_of: KataOf) -> None:
    replace(kata_of().skeleton, "tl.arange(0, BLOCK)", "tl.arange(0, NOTHING)")
    assert graded(kata_of(), "skeleton", kata_of().skeleton).problem.startswith(
        "must run as it is, and does not: compiles"
    )


def test_what_the_authors_code_raises_is_told_with_its_place(course_root: Path, kata_of: KataOf) -> None:
    replace(course_root / "katas" / "doubled" / "mistakes.py", "* 3", "* 3 + exit(3)")
    example = graded(kata_of(), "skeleton", kata_of().skeleton)
    assert example.problem == f"{UNDIAGNOSED}: katas/doubled/mistakes.py, line 13: SystemExit: 3; correct it"
    assert example.verdict == "fail"


ENDINGS = ("raise SystemExit(0)", "import pytest; pytest.skip('no')", "import pytest; pytest.fail('no')")


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_model_that_ends_a_process_or_a_test_is_told_and_names_nothing(
    course_root: Path, kata_of: KataOf, tmp_path: Path, ending: str
) -> None:
    mistakes = course_root / "katas" / "doubled" / "mistakes.py"
    mistakes.write_text(f'def tripled(x):\n    """Three times."""\n    {ending}\n')
    example = graded(kata_of(), "skeleton", kata_of().skeleton)
    assert example.problem.startswith(f"{UNDIAGNOSED}: katas/doubled/mistakes.py, line 3")
    done = checked(course_root, kata_of().skeleton, tmp_path)
    assert (done.returncode, done.stderr) == (1, "")
    assert "katas/doubled/mistakes.py, line 3: " in done.stdout


@pytest.mark.parametrize("name", ["mistakes", "oracle"])
@pytest.mark.parametrize("ending", ["raise SystemExit(0)", "import pytest; pytest.importorskip('no_such_library')"])
def test_a_file_of_the_course_that_ends_the_process_is_named(
    course_root: Path, kata_of: KataOf, tmp_path: Path, name: str, ending: str
) -> None:
    kata = kata_of()
    path = {"mistakes": kata.mistakes, "oracle": kata.oracle}[name]
    path.write_text(f"{ending}\n{path.read_text()}")
    assert any(f"{path} cannot be imported" in problem for problem in problems_of(kata_of()))
    done = checked(course_root, kata.skeleton, tmp_path)
    assert done.returncode == 3
    assert f"{name}.py cannot be imported" in done.stdout


def checked(course_root: Path, path: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [
        sys.executable,
        "-m",
        "tritonkata",
        "--course",
        str(course_root),
        "check",
        str(path),
        "--kata",
        "doubled",
    ]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_a_slip_in_a_hidden_test_is_told(course_root: Path, kata_of: KataOf) -> None:
    hidden = course_root / "katas" / "doubled" / "hidden" / "test_doubled.py"
    replace(hidden, "x = normal(rng, (3, 37), dtype)", "x = normal(rng, (3, 37), undefined)")
    problem = graded(kata_of(), "solution", kata_of().solution).problem
    line = next(n for n, text in enumerate(hidden.read_text().splitlines(), 1) if "undefined" in text)
    place = f"katas/doubled/hidden/test_doubled.py, line {line}"
    assert problem.startswith(f"could not be graded: values: {place}: NameError")


def test_an_oracle_that_raises_is_told_with_its_line(course_root: Path, kata_of: KataOf) -> None:
    kata_of().oracle.write_text("def doubled(x):\n    raise RuntimeError('not yet')\n")
    problem = graded(kata_of(), "solution", kata_of().solution).problem
    assert "reference/doubled/oracle.py, line 2: RuntimeError: not yet" in problem


def test_a_file_that_cannot_be_loaded_was_not_graded(kata_of: KataOf) -> None:
    replace(kata_of().skeleton, "import torch\n", "import torch\nimport nothing_of_that_name\n")
    assert graded(kata_of(), "skeleton", kata_of().skeleton).problem.startswith("could not be graded: ")


def test_a_template_that_fails_on_the_real_evidence_is_told(course_root: Path, kata_of: KataOf) -> None:
    template = course_root / "katas" / "doubled" / "feedback" / "tripled.md.j2"
    template.write_text("# A\n{{ nothing }}\nNext: b\n")
    path = course_root / "katas" / "doubled" / "wrong" / "tripled" / "times_three.py"
    assert "'nothing' is undefined" in graded(kata_of(), "wrong", path).problem


def test_a_mutant_is_killed_by_the_first_check_that_fails_or_by_the_import(kata_of: KataOf) -> None:
    source = kata_of().solution.read_text()
    found = {"values": ("2 * x", "2 + x"), "import": ("import torch", "import torsch"), "": ("2 * x", "x + x")}
    for killed, (old, new) in found.items():
        mutant = graded_mutant(kata_of(), Mutation(1, 1, "a change", source.replace(old, new)), "interpreter", 20)
        assert (mutant.killed_by, mutant.problem) == (killed, "")


def test_a_mutant_that_upsets_the_grader_is_neither_killed_nor_a_survivor(course_root: Path, kata_of: KataOf) -> None:
    replace(course_root / "katas" / "doubled" / "mistakes.py", "* 3", "* 3 + x.nothing")
    source = kata_of().solution.read_text().replace("2 * x", "2 + x")
    mutant = graded_mutant(kata_of(), Mutation(1, 1, "a change", source), "interpreter", 20)
    assert mutant.killed_by == ""
    assert "mistakes.py, line 13" in mutant.problem


def test_a_part_of_the_mutants_is_drawn_with_the_seed(kata_of: KataOf) -> None:
    everything = mutations(kata_of().solution.read_text())
    assert chosen_mutants(kata_of(), 1, None) == chosen_mutants(kata_of(), 1, 1000) == everything
    some = chosen_mutants(kata_of(), 1, 5)
    assert len(set(some)) == 5
    assert list(some) == [one for one in everything if one in some]
    assert some == chosen_mutants(kata_of(), 1, 5)
    assert chosen_mutants(kata_of(), 1, 0) == ()
