"""What follows from the verdicts of a kata's files, and how it reads."""

from __future__ import annotations

import re

import msgspec
import pytest

from tritonkata.authoring.matrix import Example, KataResult, Mutant, Verification, document
from tritonkata.authoring.terminal import SURVIVORS_SHOWN, WIDTH, kata_lines, last_line
from tritonkata.model.faults import Verdict

SOLUTION = Example(
    "solution",
    "reference/k/solution.py",
    "pass at par",
    "pass",
    verdicts={"compiles": "pass", "values": "pass"},
    dtypes=("float16", "float32"),
)
SKELETON = Example(
    "skeleton", "skeletons/k.py", "fail", "fail", "copied", {"compiles": "pass", "values": "wrong_output"}
)


def wrong(diagnosis: str, verdicts: dict[str, Verdict], problem: str = "", name: str = "a") -> Example:
    file = f"katas/k/wrong/{diagnosis}/{name}.py"
    return Example("wrong", file, diagnosis, "fail", diagnosis, verdicts, problem=problem)


GOOD = KataResult(
    "k",
    "A kata",
    ("float32", "float16"),
    examples=(
        SKELETON,
        SOLUTION,
        wrong("torch_does_the_work", {"compiles": "forbidden_host_op", "values": "skipped"}),
        wrong("tripled", {"compiles": "pass", "values": "wrong_output"}),
    ),
)


def without(kata: KataResult, place: int) -> KataResult:
    return msgspec.structs.replace(kata, examples=kata.examples[:place] + kata.examples[place + 1 :])


def plain(kata: KataResult) -> list[str]:
    return [re.sub(r"\x1b\[\d+m", "", line) for line in kata_lines(kata)]


def test_a_kata_that_keeps_its_promises_passes() -> None:
    assert GOOD.failures == ()
    assert GOOD.passes
    assert GOOD.failing == {"compiles": 1, "values": 1}


@pytest.mark.parametrize(("place", "check"), [(2, "compiles"), (3, "values")])
def test_a_check_that_no_wrong_example_fails_is_uncovered(place: int, check: str) -> None:
    found = without(GOOD, place)
    assert found.uncovered == (check,)
    assert not found.passes
    (failure,) = found.failures
    assert f"no example fails the check '{check}'" in failure
    assert "katas/k/wrong" in failure


def test_what_the_skeleton_fails_and_what_is_skipped_covers_nothing() -> None:
    found = without(without(GOOD, 3), 2)
    assert found.uncovered == ("compiles", "values")


def test_a_check_that_no_file_ran_on_this_engine_is_no_column() -> None:
    assert "full_size" not in GOOD.checks


def test_a_dtype_that_no_passed_check_tried_is_named() -> None:
    found = msgspec.structs.replace(GOOD, dtypes=("float32", "bfloat16"))
    assert found.untried_dtypes == ("bfloat16",)
    (failure,) = found.failures
    assert "katas/k/kata.toml: dtypes" in failure
    assert "bfloat16" in failure


def test_dtypes_are_not_asked_for_while_the_solution_fails() -> None:
    broken = msgspec.structs.replace(SOLUTION, problem="does not pass: values", dtypes=())
    found = msgspec.structs.replace(GOOD, examples=(SKELETON, broken, *GOOD.examples[2:]))
    assert found.failures == ("reference/k/solution.py: does not pass: values",)


def test_a_kata_that_was_not_graded_does_not_pass() -> None:
    assert not KataResult("k").passes
    assert not msgspec.structs.replace(GOOD, problems=("x: is missing",)).passes


def test_a_diagnosis_that_another_mistake_fits_as_well_is_noted_and_does_not_fail_the_kata() -> None:
    torn = msgspec.structs.replace(GOOD.examples[3], alternatives=("cubed", "halved"))
    found = msgspec.structs.replace(GOOD, examples=(*GOOD.examples[:3], torn))
    assert found.passes
    assert "  note katas/k/wrong/tripled/a.py: fits cubed, halved as well" in plain(found)


def test_survivors_are_listed_and_do_not_fail_the_kata() -> None:
    mutants = (
        Mutant(3, 5, "0 -> 1", "values"),
        Mutant(4, 1, "x + y -> x - y"),
        Mutant(5, 1, "a -> b", problem="could not be graded: no"),
        Mutant(6, 1, "c -> d", "import"),
    )
    found = msgspec.structs.replace(GOOD, mutants=mutants)
    assert found.passes
    assert (found.killed, found.survivors) == (2, (mutants[1],))
    text = "\n".join(plain(found))
    assert "2 of 4 failed a check (50%)" in text
    assert "line 4, column 1: x + y -> x - y" in text
    assert "line 5, column 1: could not be graded: no" in text


DAMAGED = KataResult("odd", problems=("x: is missing",))


@pytest.mark.parametrize(
    ("katas", "problems", "passes", "damaged", "outcome"),
    [
        ((GOOD,), (), True, False, "every promise is kept"),
        ((GOOD, without(GOOD, 2)), (), False, False, "a promise is broken in k"),
        ((GOOD, DAMAGED), (), False, True, "files must be put right in odd"),
        ((GOOD,), ("katas/stray: belongs to no kata",), False, True, "files must be put right in the course itself"),
        (
            (DAMAGED, without(GOOD, 2)),
            ("katas/stray: belongs to no kata",),
            False,
            True,
            "files must be put right in odd, the course itself; a promise is broken in k",
        ),
    ],
)
def test_a_course_passes_when_all_of_it_does(
    katas: tuple[KataResult, ...], problems: tuple[str, ...], passes: bool, damaged: bool, outcome: str
) -> None:
    found = Verification("C", "interpreter", 20, katas, problems)
    assert (found.passes, found.damaged) == (passes, damaged)
    assert document(found)["passes"] is passes
    assert last_line(found).partition("; ")[2] == f"{outcome}."


def test_json_has_what_follows_as_well_and_comes_back_as_it_was() -> None:
    found = Verification("C", "interpreter", 20, (without(GOOD, 2),))
    encoded = msgspec.json.encode(document(found))
    assert msgspec.json.decode(encoded, type=Verification) == found
    kata = msgspec.json.decode(encoded)["katas"][0]
    assert kata["uncovered"] == ["compiles"]
    assert kata["checks"] == ["compiles", "values"]
    assert kata["passes"] is False


def test_the_matrix_has_a_row_for_each_file_and_a_column_for_each_check() -> None:
    lines = plain(GOOD)
    header = lines[1]
    assert lines[0] == "k (A kata): ok"
    assert header.split() == ["a", "b"]
    rows = {line.split()[1]: line[header.index("a") :] for line in lines[2:6]}
    assert rows == {
        "skeleton": ". b",
        "solution": ". .",
        "torch_does_the_work/a": "a s",
        "tripled/a": ". b",
    }
    assert any("a compiles (1)  b values (1)" in line for line in lines)


def test_a_check_that_is_absent_for_one_file_has_its_own_mark() -> None:
    partial = wrong("loops", {"compiles": "pass"}, name="b")
    found = msgspec.structs.replace(GOOD, examples=(*GOOD.examples, partial))
    assert any(line.endswith("loops/b               . -") for line in plain(found))


@pytest.mark.parametrize("count", [1, 17, 30, 60])
def test_lines_are_at_most_a_hundred_columns_wide(count: int) -> None:
    verdicts: dict[str, Verdict] = {f"check_number_{n}": "wrong_output" for n in range(count)}
    long = wrong("a_mistake_with_a_name_that_is_" * 2, verdicts, "word " * 60)
    mutants = tuple(Mutant(n, 1, "x" * 300) for n in range(30))
    found = KataResult("k", "K", (), examples=(SOLUTION, long), mutants=mutants)
    lines = plain(found)
    assert max(map(len, lines)) <= WIDTH
    assert sum("x" * 50 in line for line in lines) == SURVIVORS_SHOWN
    assert any("and 10 more" in line for line in lines)


def test_what_files_hold_cannot_move_the_cursor() -> None:
    found = msgspec.structs.replace(GOOD, problems=("x\x1b[2J: is missing\nsecond line",))
    assert any("x\\x1b[2J: is missing second line" in line for line in plain(found))
