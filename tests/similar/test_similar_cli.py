"""`kata similar` on a gradebook: the table, the JSON, and what it says of itself."""

from __future__ import annotations

import json
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from copying import edited, renamed
from page_samples import fill, graded, student

from tritonkata.cli.similar import similar
from tritonkata.gradebook.opening import open_gradebook
from tritonkata.model.record import Student

RIGHT = Path(__file__).parents[1] / "right" / "safe_softmax"
EVE = Student("eve", "Eve \x1b[31m[bold]\u202e" + "long " * 60)


@pytest.fixture
def grades(tmp_path):
    """Twenty independent kernels, a renamed copy of one, an edited copy of another, and a file that says nothing."""
    sources = [path.read_text(encoding="utf-8") for path in sorted(RIGHT.glob("*.py"))][:20]
    people = [student(place) for place in range(20)]
    texts = {one.id: text for one, text in zip(people, sources, strict=True)}
    texts |= {"eve": renamed(sources[4]), "zoe": edited(sources[7]), "max": "pass\n"}
    people += [EVE, Student("zoe", "Zoe"), Student("max")]
    folder = tmp_path / "grades"
    with open_gradebook(folder, create=True) as book:
        reports = [(one, graded(place)) for place, one in enumerate(people)]
        fill(book, reports, sources={name: text.encode() for name, text in texts.items()})
    return folder


def run(*arguments):
    result = CliRunner().invoke(similar, arguments, standalone_mode=False, env={"COLUMNS": "250"})
    if result.exception is not None:
        raise result.exception
    return result.output


def test_the_table_shows_the_copies_and_fits_the_screen(grades):
    output = run("--out", str(grades))
    lines = output.splitlines()
    assert max(map(len, lines)) < 100
    assert "100 %" in output
    assert "s00004" in output
    assert "s00007" in output
    assert "eve" in output
    assert "Zoe" in output
    assert "2 pairs of different students from 50 % on, among 22 submissions; 1 submission with too little" in " ".join(
        output.split()
    )
    assert "\x1b" not in output
    assert "\u202e" not in output


def test_it_says_that_it_is_no_verdict(grades):
    assert "no verdict" in run("--out", str(grades))
    assert "no verdict" in json.loads(run("--out", str(grades), "--json"))["caution"]


def test_the_json_has_both_sides_with_their_lines(grades):
    told = json.loads(run("--out", str(grades), "--json"))
    assert told["kata"] == "safe_softmax"
    first, second = told["pairs"]
    assert first["share"] == 1
    assert {*first["left"]["students"], *first["right"]["students"]} == {"s00004", "eve"}
    assert {*second["left"]["students"], *second["right"]["students"]} == {"s00007", "zoe"}
    assert 0.5 < second["share"] < 1
    for side in (first["left"], first["right"]):
        assert all(1 <= start <= end for start, end in side["lines"])
    assert (told["compared"], told["too_short"], told["cut"]) == (22, 1, False)


def test_least_takes_a_share_or_percent(grades):
    assert len(json.loads(run("--out", str(grades), "--least", "100%", "--json"))["pairs"]) == 1
    assert len(json.loads(run("--out", str(grades), "--least", "0.02", "--json"))["pairs"]) > 2


@pytest.mark.parametrize("share", ["0", "1.5", "200%", "much", "nan", "-0.5"])
def test_what_is_no_share_is_refused(grades, share):
    with pytest.raises(click.UsageError, match=r"write 0\.6 or 60%"):
        run("--out", str(grades), "--least", share)


def test_without_a_pair_it_says_so(grades):
    with open_gradebook(grades) as book:
        fill(book, [(student(0), graded(0))], sources={student(0).id: b"pass\n"})
    assert run("--out", str(grades)).startswith("No pair of different students")


def test_a_folder_without_a_gradebook_is_refused(tmp_path):
    with pytest.raises(click.ClickException, match="there is no gradebook"):
        run("--out", str(tmp_path))
