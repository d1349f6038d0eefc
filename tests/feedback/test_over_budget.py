"""What a learner reads of a kernel over its traffic budget: who counted, which pass, by which lines, what to do."""

from __future__ import annotations

import itertools
import logging

import pytest
from feedback_samples import CASE, UNIT, check, evidence, make_kata, moved, passed, report
from rich.console import Console

from tritonkata.feedback.prose import plain, wrapped
from tritonkata.feedback.render import Explanation, explain
from tritonkata.model.report import TrafficEvidence

HOST = 0
EMPTY = "empty[0] (line 40)"
X = moved("x", {12: 1})
RESULT = moved("result", {}, {30: 1})
MASK = moved("mask", {11: 1, 16: 1, 22: 1, 31: 1})

STATES = {
    "no_tensors": (),
    "nothing_suspect": (X, RESULT),
    "two_lines": (moved("x", {12: 1, 17: 1}), RESULT),
    "three_lines": (moved("x", {12: 1, 17: 1, 23: 1}), RESULT),
    "two_tensors": (moved("x", {12: 1, 17: 1, 23: 1}), MASK, RESULT),
    "two_tensors_unlike": (moved("x", {12: 1, 17: 1}), MASK, RESULT),
    "lines_unknown": (moved("x", {HOST: 3}), RESULT),
    "one_line": (moved("x", {12: 3}), RESULT),
    "one_line_and_more": (moved("x", {12: 3, 14: 2, 20: 1}), RESULT),
    "scratch": (moved("x", {12: 1, 17: 1}), moved(EMPTY, {28: 1}, {24: 1}), RESULT),
    "scratch_result": (X, moved("result", {28: 1}, {24: 1, 30: 1})),
    "updated": (X, moved("result", {30: 1}, {HOST: 1, 30: 1})),
    "copied": (moved("x", {HOST: 1}), moved("contiguous[0] (line 40)", {12: 1, 17: 1}, {HOST: 1}), RESULT),
    "filled": (moved("x", {12: 1, 17: 1}), moved("result", {}, {HOST: 1, 30: 1})),
    "stored_again": (X, moved("result", {}, {24: 1, 30: 1})),
    "many_lines": (moved("x", dict.fromkeys(range(1, 60), 1)), RESULT),
}
OPTIONS = [
    {"source": source, "counted": counted, "spilled_bytes": spilled}
    for source, counted, spilled in itertools.product(
        ("interpreter", "cupti", "ncu"), (None, 2.0, 9.0), (None, 0, 3 << 20)
    )
]


@pytest.fixture(autouse=True)
def _no_template_problem(caplog):
    with caplog.at_level(logging.WARNING, "tritonkata.feedback"):
        yield
    assert not caplog.records


def words(traffic: TrafficEvidence, folder, diagnosis: str | None = "extra_pass") -> Explanation:
    failed = check("over_budget", diagnosis, traffic=traffic, case=CASE)
    (explanation,) = explain(report(passed(), failed), make_kata(folder), None)
    return explanation


def state(name: str, folder, diagnosis: str | None = "extra_pass", **options) -> Explanation:
    return words(evidence(*STATES[name], **options), folder, diagnosis)


@pytest.mark.parametrize("diagnosis", ["extra_pass", None])
@pytest.mark.parametrize("name", STATES)
def test_every_state_has_words_of_the_same_form(name, diagnosis, tmp_path):
    for options in OPTIONS:
        told = state(name, tmp_path, diagnosis, **options)
        assert "the budget allows" in told.headline
        assert "-" not in told.body
        assert 1 <= len([line for line in told.body.splitlines() if line.strip()]) <= 8
        assert told.body.count("Next:") == 1
        assert 100 < len(told.body) < 1000
        assert "\\`" not in told.body + told.seen
        lines = list(wrapped(Console(width=200), f"{told.seen}\n\n{told.body}", 80))
        assert all(line.cell_len <= 80 for line in lines)
        assert len(lines) <= 18


@pytest.mark.parametrize(
    ("source", "who"),
    [
        ("interpreter", "counted by the interpreter"),
        ("cupti", "measured by CUPTI on the GPU"),
        ("ncu", "measured by Nsight Compute"),
    ],
)
def test_seen_says_count_budget_par_and_who_counted(source, who, tmp_path):
    seen = plain(state("three_lines", tmp_path, source=source, loads=3.0, stores=1.5).seen)
    assert f"loads 3 + stores 1.5 = 4.5 times the bytes of x (16,000 bytes), {who}; budget 4, par 2" in seen


@pytest.mark.parametrize("diagnosis", ["extra_pass", None])
def test_the_bytes_that_par_would_save(diagnosis, tmp_path):
    assert f"move {2 * UNIT:,} bytes less" in state("three_lines", tmp_path, diagnosis).body


def test_the_default_says_how_far_over_the_budget(tmp_path):
    body = plain(state("three_lines", tmp_path, None, budget=2.5).body)
    assert "That is 1.5 times the bytes of x over the budget." in body


@pytest.mark.parametrize(
    ("name", "seen", "body"),
    [
        ("nothing_suspect", (), ("Each pass that reads", "carry the maximum and the sum together")),
        ("two_lines", ("x is read 2 times (lines 12 and 17)",), ("load x once", "lines 12 and 17 load now")),
        (
            "three_lines",
            ("x is read 3 times (lines 12, 17 and 23)",),
            ("let lines 12 and 17 share one sweep over x: carry the maximum",),
        ),
        (
            "two_tensors",
            ("mask is read 4 times (lines 11, 16, 22 and 31)", "x is read 3 times (lines 12, 17 and 23)"),
            ("let lines 11, 16 and 22 share one sweep over mask, and lines 12 and 17 one over x: carry",),
        ),
        (
            "two_tensors_unlike",
            ("x is read 2 times (lines 12 and 17)",),
            ("Lines 12 and 17 each sweep over x.", "let lines 11, 16 and 22 share one sweep over mask: carry"),
        ),
        ("lines_unknown", ("x is read 3 times\n",), ("keep the row in registers if it fits",)),
        ("one_line", ("x is read 3 times (line 12)",), ("Line 12 alone reads x 3 times: perhaps tiles overlap",)),
        (
            "one_line_and_more",
            ("x is read 6 times (line 12: 3 times, line 14: 2 times, line 20: once)",),
            ("Lines 12 and 14 alone read x", "Lines 12 and 14 could share a sweep over x."),
        ),
        (
            "scratch",
            ("the tensor that torch.empty made in line 40 is written once (line 24) and read once (line 28)",),
            ("Scratch that need not exist: the tensor that", "is stored in line 24 and loaded again in line 28"),
        ),
        (
            "scratch_result",
            ("the result is written 2 times (lines 24 and 30) and read once (line 28)",),
            ("Used as scratch: the result is stored in lines 24 and 30", "keep these values in registers"),
        ),
        ("updated", (), ("Line 30 updates the result in memory", "let one program own a row")),
        ("copied", (), ("host code makes the tensor that torch.contiguous made in line 40", "pass the strides")),
        ("filled", ("the result is written 2 times (line 30 and host code)",), ("host code stores to the result",)),
        ("stored_again", (), ("the result is stored 2 times, in lines 24 and 30", "store each element once")),
        ("many_lines", (), ("let lines 1, 2, 3, 4, 5, 6 and 52 more share",)),
    ],
)
def test_the_suspect_pass_and_the_next_step(name, seen, body, tmp_path):
    told = state(name, tmp_path)
    for part in seen:
        assert part in plain(told.seen) + "\n"
    for part in body:
        assert part in plain(told.body)


@pytest.mark.parametrize(("counted", "merged"), [(None, False), (4.0, False), (3.0, False), (6.0, True)])
def test_loads_that_the_compiler_merged(counted, merged, tmp_path):
    body = state("three_lines", tmp_path, source="cupti", counted=counted).body
    assert ("the compiler merged loads" in body) == merged
    assert ("asks for 6 times the bytes of `x`" in body) == merged


@pytest.mark.parametrize(("spilled", "told"), [(None, ""), (0, ""), (48_000, "48,000 bytes"), (3 << 20, "3 MiB")])
def test_spilled_registers_are_named_with_what_to_do(spilled, told, tmp_path):
    body = state("three_lines", tmp_path, source="cupti", spilled_bytes=spilled).body
    assert ("Registers spilled" in body) == bool(told)
    assert told in body
    assert ("smaller block, or more warps (`num_warps`)" in body) == bool(told)


def test_names_of_a_hostile_submission_stay_data(tmp_path):
    hostile = "{{ 7 * 7 }} **b** <script>`\x1b[31m"
    told = words(evidence(moved(hostile, {12: 2}), moved(f"{hostile}[0]", {3: 1}, {4: 1})), tmp_path)
    text = plain(told.seen + "\n\n" + told.body)
    assert "{{ 7 * 7 }} **b** <script>'\\x1b[31m" in text
    assert "\x1b" not in told.seen + told.body


def test_of_two_checks_over_the_budget_the_one_that_knows_its_lines_is_told(tmp_path):
    whole = check("over_budget", "extra_pass", name="whole", traffic=evidence(loads=3.0, stores=1.0), case=CASE)
    small = check("over_budget", "extra_pass", name="small", traffic=evidence(*STATES["three_lines"]), case=CASE)
    for checks in ((whole, small), (small, whole)):
        (told,) = explain(report(*checks), make_kata(tmp_path), None)
        assert len(told.checks) == 2
        assert "lines 12 and 17" in told.body
