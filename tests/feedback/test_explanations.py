"""Every verdict and every mistake has words, whatever evidence there is."""

from __future__ import annotations

import logging
from pathlib import Path

import msgspec
import numpy as np
import pytest
from feedback_samples import (
    CASE,
    DIAGNOSES,
    FAILING,
    KINDS,
    PHASES,
    SOURCE,
    check,
    fault,
    full_check,
    make_kata,
    mismatch,
    passed,
    report,
)

from tritonkata.feedback.prose import plain
from tritonkata.feedback.render import explain
from tritonkata.feedback.templates import SUFFIX
from tritonkata.hidden.asserts import CheckFailed, assert_form
from tritonkata.model.course import Entry
from tritonkata.model.faults import Access
from tritonkata.model.observation import Unwritten


def only(result, folder, source=SOURCE):
    explanations = explain(report(passed(), result), make_kata(folder), source)
    assert len(explanations) == 1
    return explanations[0]


@pytest.fixture(autouse=True)
def _no_template_problem(caplog):
    with caplog.at_level(logging.WARNING, "tritonkata.feedback"):
        yield
    assert not caplog.records


@pytest.mark.parametrize(
    ("verdict", "phase"),
    [(verdict, phase) for verdict in FAILING for phase in PHASES if (verdict, phase) != ("skipped", "protocol")],
)
def test_every_verdict_with_full_evidence(verdict, phase, tmp_path):
    words = only(full_check(verdict, phase=phase), tmp_path)
    assert words.headline
    assert 1 <= len([line for line in words.body.splitlines() if line.strip()]) <= 8
    assert words.body.count("Next:") == (0 if verdict == "skipped" else 1)


@pytest.mark.parametrize("verdict", [verdict for verdict in FAILING if verdict != "skipped"])
def test_every_verdict_without_evidence(verdict, tmp_path):
    words = only(check(verdict), tmp_path)
    assert words.headline
    assert "one plain line" in words.seen


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("verdict", ["wrong_output", "invalid_output"])
def test_every_kind_of_mismatch(verdict, kind, tmp_path):
    full = only(full_check(verdict, kind=kind), tmp_path)
    bare = only(check(verdict, mismatch=mismatch(kind, columns=(), row=None, worst=None, total=0)), tmp_path)
    assert full.headline == bare.headline
    assert "Next" in bare.body


@pytest.mark.parametrize("diagnosis", DIAGNOSES)
def test_every_diagnosis_with_and_without_evidence(diagnosis, tmp_path):
    for verdict in ("wrong_output", "out_of_bounds", "over_budget"):
        full = only(full_check(verdict, diagnosis), tmp_path)
        bare = only(check(verdict, diagnosis), tmp_path)
        assert full.headline.startswith(bare.headline)
        assert "Next" in bare.body
        assert "\\`" not in full.body
        assert 100 < len(full.body) < 700


def test_the_frameworks_own_diagnoses_have_words():
    from_evidence = {
        "store_without_mask",
        "load_without_mask",
        "rows_not_stored",
        "columns_dropped",
        "int32_offset_overflow",
        "missing_other",
        "wrong_output_dtype",
        "torch_does_the_work",
        "empty_input",
        "extra_pass",
        "input_changed",
    }
    assert from_evidence <= set(DIAGNOSES)


def test_unknown_numbers_are_admitted(tmp_path):
    words = only(full_check("wrong_output"), tmp_path)
    assert "None of the known mistakes matches" in words.body


@pytest.mark.parametrize(
    ("relative", "said"),
    [(8e-3, "right to about 2 digits"), (9.9e-4, "right to about 3 digits"), (0.05, "right to about 1 digit,")],
)
def test_numbers_that_are_nearly_right_point_to_lost_precision(relative, said, tmp_path):
    body = only(check("wrong_output", mismatch=mismatch(worst=1160.0, relative=relative)), tmp_path).body
    assert said in body
    assert "16-bit" in body
    assert "by hand" not in body
    assert body.count("Next:") == 1


@pytest.mark.parametrize(
    ("kind", "diagnosis", "relative"), [("values", None, 0.3), ("values", None, None), ("nan", None, 1e-3)]
)
def test_numbers_that_are_wrong_in_their_first_digit_do_not(kind, diagnosis, relative, tmp_path):
    found = mismatch(kind, worst=1160.0, relative=relative)
    assert "16-bit" not in only(check("wrong_output", diagnosis, mismatch=found), tmp_path).body


def test_a_known_mistake_without_a_template_takes_the_sentence_of_its_model(tmp_path):
    (tmp_path / "mistakes.py").write_text('def no_max(x):\n    """the maximum is not subtracted."""\n    return x\n')
    words = only(full_check("wrong_output", "no_max"), tmp_path)
    assert words.headline == "The maximum is not subtracted"
    assert "None of the known" not in words.body


def test_seen_says_where_and_right_and_got(tmp_path):
    seen = only(check("wrong_output", mismatch=mismatch()), tmp_path).seen
    assert "row 3" in seen
    assert "| 0 | 0.73106 | 0.731061 |" in seen  # digits enough to tell them apart
    assert "| 4 | nan | 1e-8 |" in seen
    assert "35.1 times the tolerance" in seen


def test_out_of_bounds_says_tensor_element_and_program(tmp_path):
    words = only(check("out_of_bounds", fault=fault("out_of_bounds")), tmp_path)
    for part in ("`y`", "element 7000", "(6, 0, 0)", "line 5", "without a mask"):
        assert part in words.seen
    assert "writes" in words.headline


def test_an_operation_at_the_top_level_is_no_host_code(tmp_path):
    """Where a self-test would be, the advice is where to put it, and not how to allocate."""

    def words(phase):
        refused = fault("forbidden_host_op", phase, access=None, operation="torch.randn")
        return only(check("forbidden_host_op", fault=refused), tmp_path)

    assert "__main__" in words("load").body
    assert "host function" not in words("load").headline
    assert "__main__" not in words("host").body
    assert "host function" in words("host").headline


@pytest.mark.parametrize("phase", ["load", "host", "compile", "kernel", "protocol"])
def test_what_took_too_long_is_placed_in_its_phase_and_line(phase, tmp_path):
    def words(line):
        ended = fault("timeout", phase, line=line, access=None, operation="")
        return only(check("timeout", fault=ended), tmp_path)

    placed, unplaced = words(5), words(None)
    assert placed.headline == f"{unplaced.headline}: line 5"
    assert placed.excerpt is not None
    other = {"host": "The kernel", "kernel": "host function", "compile": "host function"}.get(phase)
    assert other is None or other not in placed.headline + placed.body
    assert "That line" in placed.body
    assert "hat line" not in unplaced.body


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("empty[0]", "the tensor that `torch.empty` made"),
        ("empty[1]", "the tensor that `torch.empty` made in call 2 of it"),
        ("new_empty[0] (line 23)", "the tensor that `new_empty` made in line 23"),
        ("result", "the result"),
        ("x", "`x`"),
        ("x[0", "`x[0`"),
        ("x\\u202e[0]", "`x\\u202e[0]`"),
    ],
)
def test_an_allocation_is_called_by_what_made_it(name, words, tmp_path):
    stray = Access("store", name, 7000, 7000, (6, 0, 0), "softmax_kernel", 5)
    seen = only(check("out_of_bounds", fault=fault("out_of_bounds", access=stray)), tmp_path).seen
    assert f"store to {words}, element 7000" in seen


@pytest.mark.parametrize("diagnosis", ["rows_not_stored", "columns_dropped", None])
@pytest.mark.parametrize(
    ("hole", "said"),
    [
        (
            Unwritten(0, 1000, (6, 0), (6, 999)),
            "1000 elements of the result, the first at (6, 0), the last at (6, 999)",
        ),
        (Unwritten(0, 12_000, (0, 0), (6, 999)), "12,000 elements of the result, the first"),
        (Unwritten(0, 1, (6, 999), (6, 999)), "1 element of the result, at (6, 999)"),
    ],
)
def test_what_was_never_written_is_counted_once(hole, said, diagnosis, tmp_path):
    found = check("uninitialised_read", diagnosis, unwritten=(hole,), case=CASE)
    words = only(msgspec.structs.replace(found, message=f"{hole.count} elements were never written"), tmp_path)
    text = plain(f"{words.headline}\n{words.seen}\n{words.body}")
    assert said in text
    assert text.count(f"{hole.count:,} element" if hole.count > 9999 else f"{hole.count} element") == 1
    assert "output 0" not in text
    assert "reads an element" not in text


def test_a_result_without_any_element_written_is_told_from_a_part(tmp_path):
    def headline(count):
        hole = Unwritten(0, count, (0, 0), (6, 999))
        return only(check("uninitialised_read", unwritten=(hole,), case=CASE), tmp_path).headline

    assert headline(7000) == "The result was never written"
    assert headline(6999) == "Part of the result was never written"


@pytest.mark.parametrize(
    ("worst", "said"),
    [(1.02, "1.02 times"), (35.123, "35.1 times"), (5.29e36, "more than a million times")],
)
def test_the_worst_error_is_a_number_that_says_something(worst, said, tmp_path):
    seen = only(check("wrong_output", mismatch=mismatch(worst=worst)), tmp_path).seen
    assert f"the worst error is {said} the tolerance" in seen


def test_an_input_that_was_changed_is_named(tmp_path):
    changed = mismatch("input_changed", result="mask", expected_text="unchanged", got_text="written to", columns=())
    seen = only(check("wrong_output", "input_changed", mismatch=changed), tmp_path).seen
    assert "`mask` was written to" in seen
    assert "got:" not in seen


@pytest.mark.parametrize("advice", ["", "Write the recursion as a loop."])
def test_usual_causes_are_listed_only_where_the_cause_is_not_known(advice, tmp_path):
    refused = fault("compile_error", "compile", access=None, advice=advice)
    body = only(check("compile_error", fault=refused), tmp_path).body
    assert ("Usual causes" in body) == (not advice)
    assert advice in body


def test_a_missing_gpu_is_no_fault_to_report(tmp_path):
    lacking = fault("grader_error", "protocol", message="no GPU can be used: none; run `kata doctor`", access=None)
    broken = fault("grader_error", "protocol", message="the launcher ended", access=None)
    (words,) = explain(report(verdict="grader_error", fault=lacking), make_kata(tmp_path), None)
    assert "--engine interpreter" in words.body
    assert "report" not in words.body
    (words,) = explain(report(verdict="grader_error", fault=broken), make_kata(tmp_path), None)
    assert "report what it says" in words.body


@pytest.mark.parametrize(
    ("message", "error", "operation", "headline"),
    [
        ("a.py: cannot be read: it is a directory, not a file", "", "read", "The file cannot be read"),
        ("a.py: is empty", "", "", "The file is empty"),
        ("a.py: is larger than 256 KiB", "", "", "The file is too large"),
        ("a.py: line 5 is not UTF-8 (byte 0xff)", "", "", "The file is not UTF-8 text"),
        ("the file defines no function f", "", "", "The function that the kata asks for is not there"),
        ("f is of type int, and the entry point must be a function", "", "", "The entry point is no plain function"),
        ("the list is empty", "ValueError", "", "The file cannot be imported: line 5"),
        ("no_such_library is not installed here", "ModuleNotFoundError", "", "The file cannot be imported: line 5"),
    ],
)
def test_what_ends_everything_has_a_title_of_its_own(message, error, operation, headline, tmp_path):
    ended = fault("runtime_error", "load", message=message, error=error, operation=operation, access=None)
    (words,) = explain(report(verdict="error", fault=ended), make_kata(tmp_path), SOURCE)
    assert words.headline.startswith(headline)
    assert words.body.count("Next:") == 1


def test_checks_of_one_mistake_share_an_explanation(tmp_path):
    checks = [check("wrong_output", "no_max", name=name) for name in ("a", "b", "c")]
    explanations = explain(report(*checks), make_kata(tmp_path), None)
    assert [[one.name for one in words.checks] for words in explanations] == [["a", "b", "c"]]


def test_most_telling_first(tmp_path):
    order = ("compile_error", "forbidden_host_op", "out_of_bounds", "wrong_output", "over_budget")
    checks = [full_check(verdict) for verdict in reversed(order)]
    explanations = explain(report(*checks), make_kata(tmp_path), None)
    assert tuple(words.verdict for words in explanations) == order


def test_a_mistake_behind_most_failures_goes_before_a_fault_at_the_edge(tmp_path):
    wrong = [check("wrong_output", name=name) for name in ("a", "b", "c")]
    explanations = explain(report(full_check("out_of_bounds"), *wrong), make_kata(tmp_path), None)
    assert [words.verdict for words in explanations] == ["wrong_output", "out_of_bounds"]


@pytest.mark.parametrize("verdict", ["compile_error", "forbidden_host_op", "runtime_error", "out_of_bounds"])
def test_what_costs_most_points_goes_before_what_one_input_meets(verdict, tmp_path):
    edge = check(verdict, "empty_input", name="empty", fault=fault(verdict, "compile"), case=CASE)
    edges = msgspec.structs.replace(edge, max_points=1.0)
    wrong = [check("wrong_output", "scores_copied", name=name) for name in ("a", "b")]
    assert [one.diagnosis for one in explain(report(edges, *wrong), make_kata(tmp_path), None)] == [
        "scores_copied",
        "empty_input",
    ]


def test_of_faults_of_a_kind_the_dearest_goes_first(tmp_path):
    cheap = [msgspec.structs.replace(check("wrong_output", "a", name=name), max_points=0.5) for name in ("c", "d")]
    dear = [check("wrong_output", "b", name=name) for name in ("e", "f")]
    other = [check("out_of_bounds", name="g", fault=fault("out_of_bounds")) for _ in range(3)]
    explanations = explain(report(*cheap, *dear, *other), make_kata(tmp_path), None)
    assert [words.diagnosis for words in explanations] == [None, "b", "a"]


def test_a_fault_of_the_whole_file_is_said_once(tmp_path):
    ended = fault("compile_error", "load", access=None)
    result = report(check("compile_error", fault=ended), verdict="error", fault=ended)
    (words,) = explain(result, make_kata(tmp_path), SOURCE)
    assert words.checks == ()
    assert "line 5" in words.headline


def test_a_check_skipped_for_another_needs_no_explanation(tmp_path):
    assert explain(report(passed(), check("skipped")), make_kata(tmp_path), None) == ()


def test_checks_given_up_after_those_that_took_too_long_are_no_limit_of_the_engine(tmp_path):
    ended = [check("timeout", name=f"t{line}", fault=fault("timeout", line=line, access=None)) for line in (5, 4)]
    given_up = check("skipped", fault=fault("skipped", "protocol", line=None, access=None))
    (words,) = explain(report(*ended, given_up), make_kata(tmp_path), SOURCE)
    assert [one.name for one in words.checks] == ["t5", "t4"]


def test_a_limit_of_the_engine_is_explained_as_such(tmp_path):
    words = only(check("skipped", fault=fault("skipped", operation="tl.foo", advice="tl.bar")), tmp_path)
    assert "not a mistake of yours" in words.body
    assert "tl.bar" in words.body


@pytest.mark.parametrize(
    ("line", "source", "expected"),
    [
        (5, SOURCE, ("5 | return torch.softmax(x, -1)", "  |        ^^^^^^^^^^^^^")),
        (5, SOURCE.replace("\n", "\r\n"), ("5 | return torch.softmax(x, -1)", "  |        ^^^^^^^^^^^^^")),
        (1, "\ufeff" + SOURCE, ("1 | import torch", "  | ^")),
        (2, SOURCE, None),
        (0, SOURCE, None),
        (99, SOURCE, None),
        (None, SOURCE, None),
        (5, None, None),
    ],
)
def test_the_learners_own_line(line, source, expected, tmp_path):
    found = only(check("runtime_error", fault=fault("runtime_error", line=line, access=None)), tmp_path, source).excerpt
    assert (tuple(line for line, _ in found.lines()) if found else None) == expected


COURSE = Path(__file__).parents[2] / "katas"


@pytest.mark.parametrize("template", sorted(COURSE.glob(f"*/feedback/*{SUFFIX}")), ids=lambda path: path.name)
def test_templates_of_the_course_render_with_and_without_evidence(template):
    diagnosis = template.name.removesuffix(SUFFIX)
    for result in (full_check("wrong_output", diagnosis), check("wrong_output", diagnosis)):
        words = only(result, template.parents[1])
        assert words.headline
        assert len(words.body.splitlines()) <= 16


class TestOwnTemplates:
    def write(self, folder: Path, name: str, text: str) -> None:
        (folder / "feedback").mkdir(exist_ok=True)
        (folder / "feedback" / f"{name}.md.j2").write_text(text)

    def test_override_the_default(self, tmp_path):
        self.write(
            tmp_path, "extra_pass", "# Mine\nSee row {{ mismatch.row if mismatch else '?' }} of {{ kata.slug }}."
        )
        words = only(full_check("over_budget", "extra_pass"), tmp_path)
        assert (words.headline, words.body) == ("Mine", "See row 3 of safe\\_softmax.")

    def test_without_a_headline(self, tmp_path):
        self.write(tmp_path, "no_max", "exp of {{ mismatch.got[0] }}")
        words = only(full_check("wrong_output", "no_max"), tmp_path)
        assert (words.headline, words.body) == ("No max", "exp of 0.73106")

    @pytest.mark.parametrize(
        "text", ["{{ nothing.here }}", "{% if %}", "{{ mismatch.__class__.__mro__ }}", "{{ 1 / 0 }}"]
    )
    def test_that_do_not_render_leave_the_default(self, text, tmp_path, caplog):
        self.write(tmp_path, "extra_pass", text)
        words = only(full_check("over_budget", "extra_pass"), tmp_path)
        assert words.headline == "More passes over the row than the budget allows"
        assert "extra_pass" in caplog.text
        caplog.clear()

    def test_code_marks_round_data_keep_it_as_it_is(self, tmp_path):
        self.write(tmp_path, "no_max", "a `{{ check.name }}` b {{ check.name }}")
        words = only(check("wrong_output", "no_max", name="x_`y"), tmp_path)
        assert words.body == "a `x_'y` b x\\_\\`y"

    def test_cannot_be_reached_through_the_diagnosis(self, tmp_path):
        (tmp_path / "secret.md.j2").write_text("# secret")
        words = only(check("wrong_output", "../secret"), tmp_path)
        assert "secret" not in words.body


@pytest.mark.parametrize(
    ("result", "said"),
    [
        (np.zeros((4, 8), np.float32)[:, :5], "the result has strides (8, 1), it must be contiguous"),
        (np.zeros((4, 6), np.float32), "the result has the shape (4, 6), it must be (4, 5)"),
        (np.zeros((4, 5), np.float16), "the result has the dtype float16, it must be float32"),
    ],
)
def test_a_result_of_another_form_is_named_once(result, said):
    with pytest.raises(CheckFailed) as failed:
        assert_form(result, (4, 5), np.dtype(np.float32))
    assert failed.value.message == said


def of_rows(folder: Path, found, *results: str):
    """The explanation in a kata whose results have one element a row."""
    kata = make_kata(folder)
    entry = Entry("safe_softmax", ("x",), results, result_shape="rows")
    kata = msgspec.structs.replace(kata, file=msgspec.structs.replace(kata.file, entry_points=(entry,)))
    (explanation,) = explain(report(found), kata, SOURCE)
    return explanation.seen


def test_of_several_results_the_wrong_one_is_named_and_one_element_a_row_has_no_column(tmp_path):
    one = mismatch(wrong=1, total=2, rows_wrong=1, row=1, columns=(0,), expected=(1.5,), got=(2.5,), result="s")
    seen = of_rows(tmp_path, check("wrong_output", mismatch=one, case=CASE), "m", "s")
    assert "1 of 2 elements of `s` wrong" in seen
    assert "row 1 (counted from 0): right is 1.5, got 2.5" in seen
    assert "column" not in seen


def test_a_single_result_needs_no_name(tmp_path):
    one = mismatch(columns=(0,), expected=(1.5,), got=(2.5,), result="s")
    assert "7 of 12 elements wrong" in of_rows(tmp_path, check("wrong_output", mismatch=one, case=CASE), "s")


@pytest.mark.parametrize(("output", "name"), [(0, "`m`"), (1, "`s`")])
def test_a_result_that_was_never_written_is_named_where_there_are_several(output, name, tmp_path):
    hole = Unwritten(output, 2, (0,), (1,))
    seen = of_rows(tmp_path, check("uninitialised_read", unwritten=(hole,), case=CASE), "m", "s")
    assert f"never written: 2 elements of {name}, the first at" in " ".join(seen.split())
