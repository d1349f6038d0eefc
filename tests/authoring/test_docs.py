"""docs/authoring.md names everything that an author can use, and nothing that is not there."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path
from types import ModuleType

import msgspec
import pytest

from tritonkata.authoring.states import states
from tritonkata.courses import ENTRY_POINT_GROUP, load_course
from tritonkata.feedback import templates
from tritonkata.feedback.render import context_of
from tritonkata.hidden import answers, asserts, budget, inputs
from tritonkata.hidden.candidate import Candidate
from tritonkata.hidden.marks import CheckMark
from tritonkata.model.course import CourseFile, Entry, KataFile, Limits, TrafficBudget
from tritonkata.model.report import Engine, Report, Submission

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs" / "authoring.md").read_text(encoding="utf-8")
CODE = set(re.findall(r"[A-Za-z_][A-Za-z_0-9]*", " ".join(re.findall(r"```.*?```|`[^`]+`", TEXT, re.DOTALL))))
DOCUMENTS = (KataFile, Entry, TrafficBudget, Limits, CourseFile)
SCAFFOLD = ROOT / "grader" / "tritonkata" / "authoring" / "scaffold"


def functions(module: ModuleType, prefix: str = "") -> set[str]:
    return {
        name
        for name, function in vars(module).items()
        if inspect.isfunction(function) and function.__module__ == module.__name__ and name.startswith(prefix)
    }


@pytest.mark.parametrize(
    "names",
    [
        {field.name for document in DOCUMENTS for field in msgspec.structs.fields(document)},
        {name for name, _ in inspect.getmembers(Candidate, inspect.isfunction) if not name.startswith("_")},
        functions(asserts, "assert_") - {"assert_form"},
        functions(budget, "assert_") | functions(answers, "assert_") | functions(inputs),
        set(inspect.signature(CheckMark).parameters),
        set(templates._FILTERS),
        {path.name.removesuffix(templates.SUFFIX) for path in (templates.TEMPLATES / "diagnosis").iterdir()},
    ],
    ids=["keys", "candidate", "assertions", "more assertions and inputs", "marker", "filters", "diagnoses"],
)  # fmt: skip
def test_everything_is_named(names: set[str]) -> None:
    assert names
    assert names - CODE == set()


def test_every_name_in_a_template_is_told() -> None:
    kata = load_course(ROOT / "tests" / "course").kata("doubled")
    report = Report("k", Submission("x.py", ""), Engine("interpreter", "", "sm_90"), "fail", 0, 1, "none", 1)
    assert set(context_of(next(iter(states("x"))), report, kata)) - CODE == set()


def test_the_group_of_entry_points_is_the_one_that_is_read() -> None:
    assert f'[project.entry-points."{ENTRY_POINT_GROUP}"]' in TEXT


def test_excerpts_are_those_of_the_scaffold() -> None:
    files = {path.suffixes[-2]: "" for path in SCAFFOLD.rglob("*.in")}
    for path in SCAFFOLD.rglob("*.in"):
        files[path.suffixes[-2]] += path.read_text().replace("@SLUG@", "row_shift").replace("@TITLE@", "Row shift")
    blocks = re.findall(r"```(python|jinja)\n(.*?)```", TEXT, re.DOTALL)
    assert len(blocks) == 5
    for language, block in blocks:
        if "far_rows" in block:
            ast.parse(block)
            continue
        # A docstring may be left out.
        lines = files[".py" if language == "python" else ".j2"].splitlines()
        assert [line for line in block.splitlines() if line not in lines] == []
