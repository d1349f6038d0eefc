"""How often tensors move, by which lines, and which pass is suspect."""

from __future__ import annotations

import msgspec
import pytest
from feedback_samples import UNIT, evidence, moved
from hypothesis import given
from hypothesis import strategies as st

from tritonkata.feedback.numbers import how_often, joined, lines
from tritonkata.feedback.passes import merged_loads, passed, passed_over
from tritonkata.feedback.suspects import suspects
from tritonkata.model.observation import LineTraffic, TensorTraffic

HOST = 0
X = moved("x", {12: 1})
RESULT = moved("result", {}, {30: 1})
EMPTY = "empty[0] (line 40)"


def found(*tensors: TensorTraffic, **changes):
    return suspects(evidence(*tensors, **changes))


def only(*tensors: TensorTraffic):
    (suspect,) = found(*tensors)
    return suspect


def told(suspect) -> tuple[object, ...]:
    return suspect.cause, suspect.tensor, suspect.loads, suspect.stores


class TestSuspects:
    def test_one_read_and_one_write_are_not_suspect(self):
        assert found(X, RESULT) == ()
        assert found(moved("x", {12: 0.5, 15: 0.5}), RESULT) == ()
        assert suspects(None) == ()

    @pytest.mark.parametrize(
        ("sweeps", "shareable"),
        [((12, 17), (12, 17)), ((12, 17, 23), (12, 17)), ((16, 23, 31, 38), (16, 23, 31))],
    )
    def test_a_tensor_read_on_several_lines(self, sweeps, shareable):
        suspect = only(moved("x", dict.fromkeys(sweeps, 1)), RESULT)
        assert told(suspect) == ("several_lines", "x", sweeps, ())
        assert suspect.shareable == shareable
        assert (suspect.times, suspect.saved) == (len(sweeps), (len(sweeps) - 1) * UNIT)

    def test_a_line_that_reads_hardly_anything_is_no_sweep(self):
        assert only(moved("x", {12: 1, 14: 0.03, 17: 1}), RESULT).loads == (12, 17)

    def test_one_line_that_reads_more_than_once(self):
        suspect = only(moved("x", {12: 3}), RESULT)
        assert told(suspect) == ("one_line", "x", (12,), ())
        assert (suspect.times, suspect.saved) == (3, 2 * UNIT)

    def test_one_line_that_repeats_beside_another_sweep(self):
        repeats, sweeps = found(moved("x", {12: 3, 20: 1}), RESULT)
        assert told(repeats) == ("one_line", "x", (12,), ())
        assert told(sweeps) == ("several_lines", "x", (12, 20), ())
        assert (repeats.saved, sweeps.saved) == (2 * UNIT, UNIT)

    def test_an_unknown_line_still_names_the_tensor(self):
        unknown = msgspec.structs.replace(moved("x", {12: 3}), lines=())
        assert told(only(unknown, RESULT)) == ("several_lines", "x", (), ())

    def test_scratch_that_is_stored_and_loaded_again(self):
        suspect = only(X, moved(EMPTY, {28: 1}, {24: 1}), RESULT)
        assert told(suspect) == ("scratch", EMPTY, (28,), (24,))
        assert suspect.saved == 2 * UNIT

    def test_a_result_that_serves_as_scratch_must_still_be_stored_once(self):
        suspect = only(X, moved("result", {28: 1}, {24: 1, 30: 1}))
        assert told(suspect) == ("scratch", "result", (28,), (24, 30))
        assert suspect.saved == 2 * UNIT
        assert only(X, moved("result[1]", {28: 1}, {24: 1, 30: 1})).saved == 2 * UNIT

    def test_statistics_of_rows_are_no_scratch_that_matters(self):
        small = {"unique_loaded": 16, "unique_stored": 16}
        assert found(X, moved(EMPTY, {28: 0.001}, {24: 0.001}, **small), RESULT) == ()

    def test_updates_in_memory(self):
        suspect = only(X, moved("result", {30: 1}, {HOST: 1, 30: 1}))
        assert told(suspect) == ("updated", "result", (30,), (30,))

    @pytest.mark.parametrize("name", ["contiguous[0] (line 40)", "clone[0] (line 40)", EMPTY])
    def test_a_copy_of_the_host(self, name):
        suspect = only(moved("x", {HOST: 1}), moved(name, {12: 1}, {HOST: 1}), RESULT)
        assert told(suspect) == ("copied", name, (12,), ())
        assert suspect.saved == 2 * UNIT

    def test_a_copy_that_is_swept_over_twice(self):
        causes = [one.cause for one in found(moved("contiguous[0]", {12: 1, 17: 1}, {HOST: 1}), RESULT)]
        assert causes == ["copied", "several_lines"]

    @pytest.mark.parametrize("name", ["zeros[0] (line 40)", "new_full[0] (line 40)", "ones_like[2] (line 40)"])
    def test_a_fill_that_is_read_is_no_copy(self, name):
        assert only(X, moved(name, {12: 1}, {HOST: 1}), RESULT).cause == "scratch"

    def test_a_result_that_the_host_filled_first(self):
        suspect = only(X, moved("result", {}, {HOST: 1, 30: 1}))
        assert told(suspect) == ("filled", "result", (), (30,))
        assert suspect.saved == UNIT

    def test_a_result_that_is_stored_twice(self):
        assert told(only(X, moved("result", {}, {24: 1, 30: 1}))) == ("stored_again", "result", (), (24, 30))
        assert only(X, moved("result", {}, {30: 2})).times == 2

    def test_what_costs_most_comes_first(self):
        mask, x = moved("mask", {11: 1, 21: 1, 31: 1, 41: 1}), moved("x", {12: 1, 22: 1, 32: 1})
        assert [one.tensor for one in found(x, mask, RESULT)] == ["mask", "x"]

    def test_of_64_lines_the_rest_is_not_the_hosts(self):
        many = dict.fromkeys(range(1, 65), 1 / 80)
        assert found(X, moved("result", {}, {HOST: 16 / 80, **many})) == ()
        assert found(X, moved("result", {}, {HOST: 1, **many}))[0].cause == "stored_again"


class TestPassedOver:
    @pytest.mark.parametrize(
        ("tensor", "text"),
        [
            (moved("x", {12: 1, 17: 1, 23: 1}), "read 3 times (lines 12, 17 and 23)"),
            (moved("x", {12: 3}), "read 3 times (line 12)"),
            (moved("x", {12: 1, 17: 0.5}), "read 1.5 times (line 12: once, line 17: 0.5 times)"),
            (moved("x", {12: 1, HOST: 1}), "read 2 times (line 12 and host code)"),
            (moved("x", {12: 2, HOST: 1}), "read 3 times (line 12: 2 times, host code: once)"),
            (moved("x", {HOST: 2}), "read 2 times"),
            (moved(EMPTY, {28: 1}, {24: 1}), "written once (line 24) and read once (line 28)"),
            (moved("clone[0]", {28: 2}, {HOST: 1}), "written once (host code) and read 2 times (line 28)"),
            (moved("result", {}, {24: 1, 30: 1}), "written 2 times (lines 24 and 30)"),
        ],
    )
    def test_words(self, tensor, text):
        assert str(passed(tensor)) == text
        assert [str(one) for one in passed_over(evidence(X, tensor))] == [text]

    def test_what_moves_once_is_not_told(self):
        assert passed_over(evidence(X, RESULT)) == ()
        assert passed_over(None) == ()

    def test_the_three_that_cost_most(self):
        tensors = [moved(name, {12: times}) for name, times in (("a", 2), ("b", 4), ("c", 3), ("d", 5))]
        assert [one.tensor for one in passed_over(evidence(*tensors))] == ["d", "b", "c"]

    def test_more_lines_than_are_told(self):
        many = moved("x", {HOST: 1, **dict.fromkeys(range(1, 65), 1 / 64)})
        assert str(passed(many)).endswith("line 6: 0.0156 times, 59 more)")

    def test_of_many_lines_the_first_are_told(self):
        assert str(passed(moved("x", dict.fromkeys(range(10, 19), 1)))).endswith(
            "(lines 10, 11, 12, 13, 14, 15 and 3 more)"
        )
        assert str(passed(moved("x", dict.fromkeys(range(10, 17), 1)))).endswith(
            "(lines 10, 11, 12, 13, 14, 15 and 16)"
        )


@pytest.mark.parametrize(
    ("counted", "merged"),
    [(None, False), (2.0, False), (2.01, False), (1.5, False), (3.0, True), (4.0, True)],
)
def test_loads_are_merged_where_the_hardware_counts_fewer_bytes(counted, merged):
    assert merged_loads(evidence(X, RESULT, source="cupti", counted=counted)) == merged
    assert not merged_loads(None)


SHARES = st.dictionaries(st.integers(0, 70), st.floats(0.01, 5), max_size=5)
NAMES = st.sampled_from(["x", "mask", "result", "result[1]", EMPTY, "contiguous[0]", "zeros[1] (line 3)", "\x1b[0]"])
BYTES = st.integers(0, 1 << 40)
ANY = st.builds(
    TensorTraffic,
    tensor=NAMES,
    loaded=BYTES,
    stored=BYTES,
    unique_loaded=BYTES,
    unique_stored=BYTES,
    lines=st.lists(st.builds(LineTraffic, line=st.integers(0, 99), loaded=BYTES, stored=BYTES), max_size=4).map(tuple),
)


@given(st.lists(st.one_of(ANY, st.builds(moved, NAMES, SHARES, SHARES)), max_size=4))
def test_any_traffic_has_words(tensors):
    traffic = evidence(*tensors)
    saved = [one.saved for one in suspects(traffic)]
    assert saved == sorted(saved, reverse=True)
    assert all(nbytes > 0 for nbytes in saved)
    assert all(str(one).startswith(("read", "written")) for one in passed_over(traffic))


@given(st.lists(st.builds(moved, NAMES, SHARES), max_size=4, unique_by=lambda one: one.tensor))
def test_a_suspect_names_lines_that_read_its_tensor(tensors):
    by_name = {one.tensor: one for one in tensors}
    for suspect in suspects(evidence(*tensors)):
        reading = {one.line for one in by_name[suspect.tensor].lines if one.loaded}
        assert set(suspect.loads) <= reading
        assert suspect.saved <= by_name[suspect.tensor].loaded


def test_words_for_lines_and_times():
    assert lines([12]) == "line 12"
    assert lines([12, 17]) == "lines 12 and 17"
    assert joined(["a", "b", "c"]) == "a, b and c"
    assert joined([]) == ""
    assert [how_often(times) for times in (1, 0.9999, 2, 2.5, 0.5)] == [
        "once",
        "once",
        "2 times",
        "2.5 times",
        "0.5 times",
    ]
