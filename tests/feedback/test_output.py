"""What reaches a terminal, a pipe, a Markdown page and a JUnit reader."""

from __future__ import annotations

import io
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import msgspec
import pytest
from feedback_samples import (
    DIAGNOSES,
    FAILING,
    HOSTILE,
    KINDS,
    PHASES,
    SOURCE,
    UNIT,
    check,
    fault,
    full_check,
    make_kata,
    mismatch,
    passed,
    report,
    traffic_report,
)
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from tritonkata.feedback import junit
from tritonkata.feedback.markdown import to_markdown
from tritonkata.feedback.terminal import print_report
from tritonkata.model.faults import Access, Fault
from tritonkata.model.observation import Level, Resources
from tritonkata.model.report import Case, Engine, Submission


def printed(result, folder, *, width=100, source=SOURCE, encoding="utf-8", terminal=False, **options):
    raw = io.BytesIO()
    with io.TextIOWrapper(raw, encoding=encoding, errors="strict", newline="\n") as file:
        console = Console(
            file=file, width=width, force_terminal=terminal or None, color_system="truecolor" if terminal else None
        )
        print_report(result, make_kata(folder), source, console, **options)
        file.flush()
        return raw.getvalue().decode(encoding)


def everything():
    """One failed check for each verdict, kind, phase and diagnosis."""
    checks = [full_check(verdict, kind=kind) for verdict in ("wrong_output", "invalid_output") for kind in KINDS]
    checks += [full_check(verdict, phase=phase) for verdict in FAILING for phase in PHASES]
    checks += [full_check("wrong_output", diagnosis) for diagnosis in DIAGNOSES]
    return report(passed(), *checks, absent={"speed": "needs a GPU"}, notes=("no sandbox",) * 2)


def hostile_report():
    """Hostile text everywhere the submission can put some."""
    access = Access("load", HOSTILE[:200], -3, 10, (0, 0, 0), HOSTILE[:200], 1)
    bad = fault(
        "runtime_error",
        message=HOSTILE,
        error=HOSTILE[:200],
        operation=HOSTILE[:200],
        advice=HOSTILE,
        line=1,
        access=access,
    )
    case = Case("f", ((1, 1),), ("float32",), ((1, 1),), HOSTILE)
    odd = mismatch("shape", expected_text="(1, 1)", got_text=HOSTILE, got=(HOSTILE,), expected=(1.0,), columns=(0,))
    checks = (
        check("runtime_error", fault=bad, case=case),
        check(
            "forbidden_host_op",
            "torch_does_the_work",
            fault=Fault("forbidden_host_op", "host", HOSTILE, operation=HOSTILE[:200], advice=HOSTILE),
        ),
        check("invalid_output", mismatch=odd),
    )
    return report(
        *checks, submission=Submission(HOSTILE, ""), resources=(Resources(HOSTILE, "sm_90", 4, 0),), notes=(HOSTILE,)
    )


@pytest.mark.parametrize("width", [60, 100, 300])
def test_lines_fit_and_carry_no_escape_in_a_pipe(width, tmp_path):
    text = printed(everything(), tmp_path, width=width, limit=None)
    assert "\x1b" not in text
    assert max(cell_len(line) for line in text.splitlines()) <= min(width, 100)


def test_colours_on_a_terminal_and_the_same_words(tmp_path):
    coloured = printed(everything(), tmp_path, limit=None, terminal=True)
    plain = printed(everything(), tmp_path, limit=None)
    assert "\x1b[" in coloured
    assert Text.from_ansi(coloured).plain.split() == plain.split()


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_an_output_that_is_not_unicode(encoding, tmp_path):
    result = report(
        check("runtime_error", fault=fault("runtime_error", message="gr\u00f6\u00dfer \u2026 \u2192 \u6f22"))
    )
    text = printed(result, tmp_path, encoding=encoding)
    assert "gr\\xf6\\xdfer ... -> \\u6f22" in text


def test_a_real_pipe(tmp_path):
    program = (
        "import sys; from pathlib import Path; sys.path.insert(0, sys.argv[1]); import feedback_samples as s\n"
        "from rich.console import Console; from tritonkata.feedback.terminal import print_report\n"
        "print_report(s.report(s.full_check('wrong_output')), s.make_kata(Path('.')), s.SOURCE, Console())"
    )
    here = str(Path(__file__).parent)
    done = subprocess.run(
        [sys.executable, "-c", program, here],
        capture_output=True,
        check=True,
        env={"TERM": "xterm-256color", "LC_ALL": "C"},
    )
    assert b"\x1b" not in done.stdout
    assert b"Wrong numbers" in done.stdout
    assert done.stdout.isascii()


def test_hostile_text_is_shown_and_harmless(tmp_path):
    for terminal in (False, True):
        text = printed(hostile_report(), tmp_path, limit=None, terminal=terminal, source=HOSTILE)
        bare = text if not terminal else Text.from_ansi(text).plain
        for part in ("{{ 7 * 7 }}", "[bold]b[/bold]", "<script>", "\\u202egnp.exe", "\\x1b[31mred"):
            assert part in " ".join(bare.split())
        assert "\u202e" not in text
        assert "\x9b" not in text
        assert "\x00" not in text
        assert "\x1b[31mred" not in text.replace("\\x1b[31mred", "")


def test_hostile_text_in_markdown(tmp_path):
    text = to_markdown(hostile_report(), make_kata(tmp_path), HOSTILE)
    outside = "\n".join(line for line in text.splitlines() if not line.startswith("    "))
    unspanned = "".join(part for place, part in enumerate(re.split(r"(?<!\\)`", outside)) if place % 2 == 0)
    assert "<script" not in unspanned.replace("\\<", "")
    assert "**b**" not in unspanned
    assert "\x1b" not in text
    assert "\u202e" not in text


def test_markdown_holds_every_explanation(tmp_path):
    text = to_markdown(everything(), make_kata(tmp_path), SOURCE)
    assert text.count("\n## ") > len(DIAGNOSES) + len(KINDS)
    assert "    5 | return torch.softmax(x, -1)" in text
    assert "| column | right | got |" in text


def test_left_out_explanations_are_counted(tmp_path):
    result = report(
        *(full_check(verdict) for verdict in ("timeout", "race", "wrong_output", "over_budget", "out_of_bounds"))
    )
    text = printed(result, tmp_path, see_all="kata check --all")
    assert "and 2 more: run `kata check --all`" in text
    assert "\n4. " not in text
    assert "and 2 more: Wrong numbers; Right, but" in printed(result, tmp_path)
    assert "more:" not in printed(result, tmp_path, limit=None)


class TestOutcome:
    def test_all_passed(self, tmp_path):
        text = printed(report(passed(), passed("b")), tmp_path)
        assert "All 2 checks passed." in text

    def test_skipped_checks_are_named_and_not_called_passed(self, tmp_path):
        result = report(passed(), check("skipped", name="wide"), verdict="fail")
        text = printed(result, tmp_path)
        assert "All" not in text
        assert "1 of 2 checks passed; 1 did not run: wide." in text
        assert "one plain line" in text

    def test_checks_the_engine_cannot_run_are_named(self, tmp_path):
        text = printed(report(passed(), passed("b"), unavailable={"Far rows": "needs the engine gpu"}), tmp_path)
        assert "All 2 checks that can run here passed." in text
        assert "Not run: Far rows: needs the engine gpu" in text

    def test_a_fault_of_the_grader_blames_nobody_else(self, tmp_path):
        broken = Fault("grader_error", "protocol", "the launcher ended")
        text = printed(report(verdict="grader_error", fault=broken), tmp_path)
        assert "The grader failed, not your code" in text
        assert "the launcher ended" in text
        assert "Score" not in text

    @pytest.mark.parametrize(
        "file", ["reference/{0}/oracle.py: line 3", "katas/{0}/mistakes.py", "{1}/hidden/test_a.py"]
    )
    def test_a_fault_of_the_course_is_for_its_author(self, tmp_path, file):
        kata = make_kata(tmp_path)
        message = f"{file.format(kata.slug, kata.folder)}: truth gives 3 results; correct it"
        broken = msgspec.structs.replace(check("grader_error"), message=message)
        text = " ".join(printed(report(broken, verdict="grader_error"), tmp_path).split())
        assert "A file of the course is at fault, not your code" in text
        assert f"kata verify {kata.slug}" in text
        assert "kata doctor" not in text

    def test_what_the_next_medal_needs(self, tmp_path):
        bronze = report(passed(), full_check("over_budget"), medal="bronze")
        assert "Silver asks for every check: values still to pass." in printed(bronze, tmp_path)
        assert "Gold asks for traffic at par (2, now 3)." in printed(report(passed()), tmp_path)
        card = Engine("gpu", "NVIDIA H200", "sm_90")
        at_par = traffic_report(Level(UNIT, UNIT), l2=Level(UNIT, 14_400), dram=Level(UNIT, 8000))
        text = printed(report(passed(), engine=card, traffic=at_par), tmp_path)
        assert "Gold asks for 90 % of a copy's speed (not measured)." in text
        assert "In L2: 1.9 (loads 1, stores 0.9); in DRAM: 1.5 (loads 1, stores 0.5)" in " ".join(text.split())
        assert "asks for" not in printed(report(passed(), medal="gold"), tmp_path)

    def test_checks_that_did_not_run_are_not_counted_as_done(self, tmp_path):
        result = report(full_check("compile_error"), check("skipped", name="a"), check("skipped", name="b"))
        assert "1 to go, and 2 not run yet." in " ".join(printed(result, tmp_path).split())

    def test_notes_are_said_once(self, tmp_path):
        assert printed(everything(), tmp_path).count("no sandbox") == 1


class TestJunit:
    def test_counts_agree_with_the_cases(self):
        result = report(passed(), *(full_check(verdict) for verdict in FAILING))
        root = ElementTree.fromstring(junit.to_xml(result))
        (suite,) = root
        assert (root.tag, suite.tag) == ("testsuites", "testsuite")
        for attribute, tag in (("tests", ""), ("failures", "/failure"), ("errors", "/error"), ("skipped", "/skipped")):
            assert int(suite.attrib[attribute]) == len(suite.findall(f"testcase{tag}"))
        errors = {error.attrib["type"] for error in suite.findall("testcase/error")}
        assert errors == {"compile_error", "runtime_error", "timeout", "grader_error"}
        assert suite.attrib["timestamp"] == "2025-01-01T00:00:00+00:00"
        properties = {one.attrib["name"]: one.attrib["value"] for one in suite.iter("property")}
        assert properties["traffic.requested_traversals"] == "3"

    def test_a_file_that_could_not_be_graded_is_an_error(self):
        root = ElementTree.fromstring(junit.to_xml(report(verdict="error", fault=fault("runtime_error", "load"))))
        assert [case.attrib["name"] for case in root.iter("testcase")] == ["submission"]
        assert root.find("testsuite/testcase/error") is not None

    def test_the_message_of_a_fault_is_said_once(self):
        ended = fault("runtime_error", message="one plain line", access=None)
        root = ElementTree.fromstring(junit.to_xml(report(check("runtime_error", fault=ended))))
        (error,) = root.iter("error")
        assert (error.text or "").count("one plain line") == 1
        assert "kernel, line 5" in (error.text or "")

    def test_hostile_text_stays_text(self):
        root = ElementTree.fromstring(junit.to_xml(hostile_report()))
        text = "".join(root.itertext())
        assert "<script>x</script>" in text
        assert "\\x1b[31mred" in text

    def test_write_replaces_whole_files_and_leaves_nothing_else(self, tmp_path):
        path = tmp_path / "junit.xml"
        path.write_text("old")
        junit.write(report(passed()), path)
        assert ElementTree.parse(path).getroot().tag == "testsuites"
        assert list(tmp_path.iterdir()) == [path]
        with pytest.raises(FileNotFoundError):
            junit.write(report(passed()), tmp_path / "missing" / "junit.xml")
