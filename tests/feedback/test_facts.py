"""The lines of what was measured, in every state of a report."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest
from feedback_samples import UNIT, evidence, full_check, make_kata, moved, passed, report, speed_report, traffic_report
from rich.console import Console

from tritonkata.feedback import junit
from tritonkata.feedback.facts import fact_lines, note_lines, speed_line, tensors_line, traffic_lines
from tritonkata.feedback.markdown import to_markdown
from tritonkata.feedback.render import explain
from tritonkata.feedback.terminal import print_report
from tritonkata.model.observation import Level
from tritonkata.model.report import Engine

KATA = make_kata(Path("nowhere"))
GPU = Engine("gpu", "NVIDIA H200", "sm_90")
DEEP = {"l2": Level(30_400, UNIT), "dram": Level(27_040, UNIT)}
NEEDS_GPU = {"speed": "needs a GPU", "traffic in L2 and DRAM": "needs a GPU"}


def traffic(**changes) -> list[str]:
    return list(traffic_lines(traffic_report(**changes), KATA))


def absent(result) -> list[str]:
    return [line for line in fact_lines(result, KATA) if line.startswith("Not measured")]


class TestTraffic:
    def test_the_interpreter_counts_requested_bytes(self):
        assert traffic() == [
            "Requested: 3 traversals of x (loads 2, stores 1; budget 4, par 2), counted by the interpreter"
        ]

    @pytest.mark.parametrize(
        ("source", "words"), [("cupti", "measured by CUPTI on the GPU"), ("ncu", "measured by Nsight Compute")]
    )
    def test_hardware_counts_every_level(self, source, words):
        requested, deeper = traffic(source=source, **DEEP)
        assert requested == f"Requested: 3 traversals of x (loads 2, stores 1; budget 4, par 2), {words}"
        assert deeper == "In L2: 2.9 (loads 1.9, stores 1); in DRAM: 2.69 (loads 1.69, stores 1)"

    @pytest.mark.parametrize(
        ("level", "line"),
        [("l2", "In L2: 2.9 (loads 1.9, stores 1)"), ("dram", "In DRAM: 2.69 (loads 1.69, stores 1)")],
    )
    def test_a_level_that_is_absent_leaves_the_other(self, level, line):
        assert traffic(source="cupti", **{level: DEEP[level]})[1:] == [line]

    def test_nothing_moved_in_dram_is_a_measurement(self):
        assert traffic(dram=Level(0, 0))[1:] == ["In DRAM: 0 (loads 0, stores 0)"]

    @pytest.mark.parametrize("value", [None, 0])
    def test_routes_without_bytes_are_not_told(self, value):
        routes = dict.fromkeys(("async_copied", "tma_loaded", "tma_stored", "spilled"), value)
        assert len(traffic(source="cupti", **routes)) == 1

    def test_routes_with_bytes_are(self):
        lines = traffic(async_copied=8000, tma_loaded=3 << 20, tma_stored=0, spilled=48_000)
        assert lines[1:] == [
            "Of the requested bytes: 8000 bytes by asynchronous copies, 3 MiB by TMA loads",
            "Spilled registers: 48,000 bytes more",
        ]

    @pytest.mark.parametrize(
        ("counted", "words"),
        [
            (None, ""),
            (Level(2 * UNIT, UNIT), ""),
            (Level(UNIT, 2 * UNIT), ""),
            (Level(4 * UNIT, UNIT), "; counted by the interpreter: 5"),
            (Level(2 * UNIT + 4, UNIT), "; counted by the interpreter: 3.0002"),
        ],
    )
    def test_the_interpreters_count_is_told_where_it_differs(self, counted, words):
        (line,) = traffic(source="cupti", counted=counted)
        assert line.partition("on the GPU")[2] == words

    def test_two_counts_that_differ_are_told_with_digits_enough_to_see_it(self):
        unit = 1 << 30
        huge = traffic_report(Level(unit, unit - 1), unit_bytes=unit, source="cupti", counted=Level(unit, unit))
        (line,) = traffic_lines(huge, KATA)
        assert "Requested: 1.999999999 traversals" in line
        assert line.endswith("interpreter: 2")

    def test_l2_and_dram_are_told_of_the_full_size_where_there_is_one(self):
        unit = 8192 * 4096 * 4
        whole = traffic_report(
            Level(2 * unit, unit), unit_bytes=unit, l2=Level(unit * 19 // 10, unit), dram=Level(unit, unit), spilled=7
        )
        small = traffic_report(l2=Level(UNIT, UNIT), dram=Level(), spilled=48_000)
        told = (
            "At full size (x of 128 MiB): requested 3, in L2 2.9 (loads 1.9, stores 1), in DRAM 2 (loads 1, stores 1)"
        )
        lines = traffic_lines(small, KATA, whole)
        assert [line.partition(":")[0] for line in lines[:2]] == ["Requested", "Spilled registers"]
        assert lines[2:] == (f"{told}, 7 bytes spilled",)
        assert traffic_lines(None, KATA, whole) == lines[2:]

    @pytest.mark.parametrize("level", ["l2", "dram"])
    def test_a_full_size_without_a_level_tells_the_other(self, level):
        (line,) = traffic_lines(None, KATA, traffic_report(**{level: DEEP[level]}))
        assert line.startswith("At full size (x of 16,000 bytes): requested 3, in ")
        assert ("L2" in line, "DRAM" in line) == (level == "l2", level == "dram")

    def test_no_traffic_no_line(self):
        assert traffic_lines(None, KATA) == ()
        assert tensors_line(None) == ""

    def test_passes_of_each_tensor(self):
        tensors = (moved("x", {12: 1, 17: 1}), moved("empty[0] (line 4)", {9: 1}, {8: 1}), moved("unused"))
        line = tensors_line(traffic_report(per_tensor=tensors))
        assert line == "Passes: x read 2x, empty[0] (line 4) read 1x and written 1x"

    def test_of_many_tensors_the_first_are_told(self):
        tensors = tuple(moved(f"x{number}", {1: 1}) for number in range(20))
        assert tensors_line(traffic_report(per_tensor=tensors)).endswith("x5 read 1x, 14 more")


class TestAbsent:
    def test_figures_of_one_reason_share_a_line(self):
        assert absent(report(passed(), absent=NEEDS_GPU)) == [
            "Not measured: speed, traffic in L2 and DRAM: needs a GPU"
        ]

    def test_what_report_and_traffic_both_say_is_said_once(self):
        levels = traffic_report(absent={"L2": "needs a GPU", "DRAM": "needs a GPU"})
        assert absent(report(passed(), traffic=levels, absent=NEEDS_GPU)) == [
            "Not measured: speed, traffic in L2 and DRAM: needs a GPU"
        ]

    @pytest.mark.parametrize("names", [("L2", "DRAM"), ("l2", "dram")])
    def test_both_levels_without_counters(self, names):
        levels = traffic_report(absent=dict.fromkeys(names, "no counters"))
        assert absent(report(passed(), traffic=levels)) == ["Not measured: traffic in L2 and DRAM: no counters"]

    def test_each_reason_has_its_line(self):
        levels = traffic_report(absent={"L2": "a", "DRAM": "b", "hardware counters": "c", "spilled": "a"})
        assert absent(report(passed(), traffic=levels)) == [
            "Not measured: traffic in L2, bytes of spilled registers: a",
            "Not measured: traffic in DRAM: b",
            "Not measured: hardware counters: c",
        ]

    def test_what_the_full_size_lacks_as_well_is_said_once(self):
        lacking = traffic_report(absent={"DRAM": "untrusted"})
        assert absent(report(passed(), traffic=lacking, traffic_at_full_size=lacking)) == [
            "Not measured: traffic in DRAM: untrusted"
        ]

    def test_no_traffic_report_at_all(self):
        assert absent(report(passed(), traffic=None, absent={"traffic": "not run"})) == [
            "Not measured: traffic: not run"
        ]

    def test_everything_measured(self):
        assert absent(report(passed(), engine=GPU, traffic=traffic_report(**DEEP), speed=speed_report())) == []


class TestSpeed:
    def test_share_times_bandwidth_and_input(self):
        assert speed_line(speed_report()) == (
            "Speed: 97 % of a copy on float32 (8192, 4096): 65.21 us, the copy 63.25 us; 4116 GB/s"
        )

    @pytest.mark.parametrize(("repeated", "words"), [(0, ""), (1, "; 1 round repeated"), (7, "; 7 rounds repeated")])
    def test_repeated_rounds(self, repeated, words):
        assert speed_line(speed_report(repeated=repeated)).partition("GB/s")[2] == words

    @pytest.mark.parametrize(
        ("changes", "line"),
        [
            ({"shape": (), "dtype": ""}, "Speed: 97 % of a copy: 65.21 us, the copy 63.25 us; 4116 GB/s"),
            ({"dtype": "", "copy_bytes": 0}, "Speed: 97 % of a copy on (8192, 4096): 65.21 us, the copy 63.25 us"),
            ({"shape": (), "kernel_us": 0.0}, "Speed: 97 % of a copy on float32: 0 us, the copy 63.25 us"),
        ],
    )
    def test_what_is_not_known_is_left_out(self, changes, line):
        assert speed_line(speed_report(**changes)) == line

    def test_no_speed_no_line(self):
        assert speed_line(None) == ""

    def test_what_disturbed_the_gpu_is_a_note_said_once(self):
        speed = speed_report(notes=("the GPU is hot", "the GPU is shared"))
        notes = note_lines(report(passed(), speed=speed, notes=("no sandbox", "the GPU is shared")))
        assert notes == ("Note: no sandbox", "Note: the GPU is shared", "Note: the GPU is hot")

    @pytest.mark.parametrize(("share", "gold"), [(0.9, ""), (0.85, "Gold asks for 90 % of a copy's speed (now 85 %).")])
    def test_gold_asks_for_speed(self, share, gold, capsys):
        at_par = traffic_report(Level(UNIT, UNIT))
        result = report(passed(), engine=GPU, traffic=at_par, speed=speed_report(fraction_of_copy=share))
        print_report(result, KATA, None, Console(width=100))
        assert ("Gold asks" in capsys.readouterr().out) == bool(gold)
        assert gold in to_markdown(result, KATA, None).replace("\\", "")


@pytest.mark.parametrize(
    ("requested", "source", "asked"), [(2.01, "cupti", False), (2.03, "cupti", True), (2.01, "interpreter", True)]
)
def test_what_hardware_counts_beside_the_tensors_keeps_par(requested, source, asked, capsys):
    traffic = traffic_report(Level(round(requested * UNIT), 0), source=source)
    print_report(report(passed(), engine=GPU, traffic=traffic, speed=speed_report()), KATA, None, Console(width=100))
    assert ("Gold asks for traffic at par" in capsys.readouterr().out) == asked


FULL = report(
    passed(),
    engine=GPU,
    traffic=traffic_report(**DEEP, spilled=48_000, async_copied=8000, tma_loaded=1, counted=Level(4 * UNIT, UNIT)),
    speed=speed_report(notes=("the GPU is hot",), repeated=3),
)


def test_no_line_is_longer_than_it_need_be():
    assert max(len(line) for line in fact_lines(FULL, KATA)) <= 130


def test_every_surface_tells_the_same_facts(capsys):
    print_report(FULL, KATA, None, Console(width=200))
    terminal = " ".join(capsys.readouterr().out.split())
    markdown = to_markdown(FULL, KATA, None).replace("\\", "")
    lines = fact_lines(FULL, KATA)
    assert len(lines) == 8
    assert all(line in markdown for line in lines)
    assert all(line in terminal for line in lines)


class TestJunit:
    def properties(self, result) -> dict[str, str]:
        root = ElementTree.fromstring(junit.to_xml(result))
        names = [one.attrib["name"] for one in root.iter("property")]
        assert len(names) == len(set(names))
        return {one.attrib["name"]: one.attrib["value"] for one in root.iter("property")}

    def test_bytes_of_every_level_that_was_measured(self):
        found = self.properties(FULL)
        assert found["traffic.source"] == "cupti"
        assert found["traffic.l2_traversals"] == "2.9"
        assert (found["traffic.requested_loaded_bytes"], found["traffic.requested_stored_bytes"]) == ("32000", "16000")
        assert (found["traffic.dram_loaded_bytes"], found["traffic.counted_loaded_bytes"]) == ("27040", "64000")
        assert (found["traffic.spilled_bytes"], found["traffic.async_copied_bytes"]) == ("48000", "8000")
        assert "traffic.tma_stored_bytes" not in found
        assert (found["speed.kernel_us"], found["speed.copy_us"]) == ("65.21", "63.25")
        assert float(found["speed.gb_per_s"]) == pytest.approx(4116.5, rel=1e-4)
        assert found["speed.note.1"] == "the GPU is hot"

    def test_what_was_not_measured_and_why(self):
        levels = traffic_report(absent={"L2": "a", "spilled": "a"})
        found = self.properties(report(passed(), traffic=levels, absent={"speed": "b"}))
        assert (found["not_measured.traffic in L2"], found["not_measured.speed"]) == ("a", "b")
        assert found["not_measured.bytes of spilled registers"] == "a"
        assert not any(name.startswith(("speed.", "traffic.l2", "traffic.dram")) for name in found)

    def test_the_full_size_has_properties_of_its_own(self):
        found = self.properties(report(passed(), traffic_at_full_size=traffic_report(**DEEP)))
        assert found["traffic.source"] == "interpreter"
        assert found["traffic_at_full_size.dram_loaded_bytes"] == "27040"

    def test_names_and_reasons_are_made_harmless(self):
        found = self.properties(report(passed(), traffic=traffic_report(absent={"\x1b[2J<x>": "\x00"})))
        assert found["not_measured.\\x1b[2J<x>"] == "\\x00"

    def test_a_failure_tells_count_and_lines(self):
        found = evidence(moved("x", {12: 1, 17: 1, 23: 1}), moved("result", {}, {24: 2}), spilled_bytes=48_000)
        result = full_check("over_budget", "extra_pass", traffic=found)
        (failure,) = ElementTree.fromstring(junit.to_xml(report(result))).iter("failure")
        lines = (failure.text or "").splitlines()
        assert "5 times the bytes of x, counted by the interpreter; budget 4, par 2" in lines
        assert "x is read 3 times (lines 12, 17 and 23)" in lines
        assert "registers spilled: 48000 bytes more" in lines


@pytest.mark.parametrize("spilled", [None, 0, 48_000])
@pytest.mark.parametrize("speed", [None, speed_report(fraction_of_copy=0.61)])
@pytest.mark.parametrize("has_traffic", [True, False])
def test_a_kernel_that_is_too_slow_has_words_in_every_state(spilled, speed, has_traffic):
    traffic = traffic_report(spilled=spilled) if has_traffic else None
    (words,) = explain(report(full_check("too_slow"), traffic=traffic, speed=speed), KATA, None)
    assert ("61 % of the copy's speed" in words.body) == (speed is not None)
    assert ("48,000 bytes more" in words.body) == bool(has_traffic and spilled)
    assert words.body.count("Next:") == 1
