"""States that a template can meet: every kind of evidence is among them, and each is tried."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import get_args

import msgspec
import pytest

from tritonkata.authoring.states import render_problem, states, template_problems
from tritonkata.model.course import Kata
from tritonkata.model.faults import Fault
from tritonkata.model.observation import TrafficSource
from tritonkata.model.report import Engine, Evidence, MismatchKind, Report, Submission

KataOf = Callable[[], Kata]
REPORT = Report("doubled", Submission("x.py", ""), Engine("interpreter", "", "sm_90"), "fail", 0, 1, "none", 1)


def test_every_kind_of_evidence_stands_alone_and_with_the_others() -> None:
    found = list(states("x"))
    evidences = [state.evidence for state in found]
    for field in msgspec.structs.fields(Evidence):
        if field.name != "case":
            assert any(getattr(evidence, field.name) for evidence in evidences), field.name
    assert Evidence() in evidences
    assert {evidence.mismatch.kind for evidence in evidences if evidence.mismatch} == set(get_args(MismatchKind))
    assert {evidence.traffic.source for evidence in evidences if evidence.traffic} == set(get_args(TrafficSource))
    faults = next(field for field in msgspec.structs.fields(Fault) if field.name == "verdict").type
    assert {evidence.fault.verdict for evidence in evidences if evidence.fault} == set(get_args(faults))
    assert {state.diagnosis for state in found} == {"x"}


@pytest.mark.parametrize(
    "line",
    [
        "{{ mismatch.row }}",
        "{{ case.shapes }}",
        "{{ traffic.loads }}",
        "{{ fault.access.tensor }}",
        "{{ answer.name }}",
        "{% if mismatch %}{{ mismatch.row + 1 }}{% endif %}",
        "{% if mismatch %}{{ mismatch.columns[0] }}{% endif %}",
        "{% if fault %}{{ fault.line + 1 }}{% endif %}",
        "{{ unwritten[0].count }}",
    ],
)
def test_a_template_that_takes_evidence_for_granted_fails(course_root: Path, kata_of: KataOf, line: str) -> None:
    template = course_root / "katas" / "doubled" / "feedback" / "tripled.md.j2"
    template.write_text(f"# Headline\n\n{line}\n\nNext: go on.\n")
    (found,) = template_problems(kata_of())
    assert found.startswith(f"{template}: ")
    template.write_text(
        "# Headline\n\n{% if mismatch and case and fault and traffic %}\nAll\n{% endif %}\nNext: go on.\n"
    )
    assert list(template_problems(kata_of())) == []


def test_parts_of_templates_are_tried_with_what_includes_them(course_root: Path, kata_of: KataOf) -> None:
    feedback = course_root / "katas" / "doubled" / "feedback"
    (feedback / "_part.md.j2").write_text("{{ nothing }}\n")
    assert list(template_problems(kata_of())) == []
    (feedback / "tripled.md.j2").write_text('# Headline\n{% include "kata/_part.md.j2" %}\n\nNext: go on.\n')
    (found,) = template_problems(kata_of())
    assert "'nothing' is undefined" in found


def test_the_first_line_of_the_wrong_models_docstring_is_at_hand(course_root: Path, kata_of: KataOf) -> None:
    template = course_root / "katas" / "doubled" / "feedback" / "tripled.md.j2"
    template.write_text(
        '{% if known == "The values are multiplied by three" %}# {{ known }}{% endif %}\n\nNext: go on.\n'
    )
    assert list(template_problems(kata_of())) == []
    template.write_text('{% if check.diagnosis == "tripled" %}# Headline{% endif %}\n\nNext: go on.\n')
    assert list(template_problems(kata_of())) == []


def test_a_diagnosis_without_a_template_of_the_katas_own_has_no_problem(kata_of: KataOf) -> None:
    assert all(render_problem(kata_of(), state, REPORT) == "" for state in states("not_doubled"))
