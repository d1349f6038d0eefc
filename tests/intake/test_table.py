"""The table of an intake: everything is there, nothing can mislead, and it fits."""

from __future__ import annotations

import io

import pytest
from packing import SOURCE, folder, taken, zipped
from rich.console import Console

from tritonkata.intake import print_intake
from tritonkata.intake.table import last_line


def printed(intake, width=100):
    out = io.StringIO()
    print_intake(intake, Console(file=out, width=width, force_terminal=False))
    return out.getvalue()


def test_every_attempt_and_everything_left_out_is_shown(tmp_path):
    files = {
        "leeann_LATE_4021_900_safe_softmax.py": SOURCE,
        "bobo_4022_901_a.py": SOURCE,
        "cyc_4023_902_nb.ipynb": b"",
        ".DS_Store": b"",
    }
    intake = taken(zipped(tmp_path / "c.zip", files))
    text = " ".join(printed(intake).split())
    for words in ("4021 (leeann)", "late", "4022 (bobo)", "no", "4023 (cyc)", "handed in a notebook"):
        assert words in text
    assert text.endswith(last_line(intake))
    assert last_line(intake) == (
        "layout canvas: 2 submissions of 2 students, 1 left out, 1 file of operating systems and editors ignored"
    )


@pytest.mark.parametrize("width", [60, 100, 200])
def test_lines_are_shorter_than_a_hundred_columns(tmp_path, width):
    long = "x" * 120
    intake = taken(
        folder(tmp_path / "in", {f"{long}/{long}.py": SOURCE, f"{long}a/x.txt": b"", "日本" * 20 + ".py": b""})
    )
    lines = printed(intake, width).splitlines()
    assert max(map(len, lines)) < min(width + 1, 100)
    assert "".join(printed(intake, width).split()).count("x") >= 240


def test_names_cannot_change_the_terminal_or_the_markup(tmp_path):
    files = {"a\x1b[2Jb/safe_softmax.py": SOURCE, "[bold]c/safe_softmax.py": SOURCE, "\u202ed/x.txt": b""}
    text = printed(taken(folder(tmp_path / "in", files)))
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert r"\x1b[2Jb" in text
    assert "[bold]c" in text


def test_an_attempt_that_cannot_be_read_says_why(tmp_path):
    root = folder(tmp_path / "in", {"bo.py": SOURCE})
    (root / "ann.py").symlink_to("bo.py")
    assert "is a symbolic link" in " ".join(printed(taken(root)).split())
