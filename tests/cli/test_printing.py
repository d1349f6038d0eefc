"""What a submission prints itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tritonkata.courses import load_course

SOLUTION = load_course().kata("safe_softmax").solution.read_text()


def printing(text: str, line: str) -> str:
    """The solution with one more line in its entry point, and one at its end."""
    before = "    rows, cols = x.shape\n"
    assert before in text
    return f"{text.replace(before, before + f'    {line}{chr(10)}')}\n\nprint('at the import')\n"


def test_what_a_file_prints_is_shown_on_the_terminal_alone(kata: Any, tmp_path: Path) -> None:
    (tmp_path / "safe_softmax.py").write_text(printing(SOLUTION, "print('shape', rows, cols, '\\x1b[31m')"))
    done = kata("check", "--engine", "interpreter", "--report", "out.json", "--junit", "out.xml")
    assert done.returncode == 0, done.stdout
    assert "Printed by your file, run on shapes without values:\n  | at the import\n  | shape " in done.stdout
    assert "\x1b" not in done.stdout
    kept = (tmp_path / "out.json").read_text() + (tmp_path / "out.xml").read_text()
    assert "at the import" not in kept
    assert "at the import" not in kata("check", "--engine", "interpreter", "--json").stdout


def test_what_is_printed_without_end_is_cut(kata: Any, tmp_path: Path) -> None:
    (tmp_path / "safe_softmax.py").write_text("for n in range(100):\n    print('line', n, 'x' * 500)\n")
    lines = kata("check", "--engine", "interpreter").stdout.splitlines()
    assert sum(line.startswith("  | line ") for line in lines) == 20
    assert "and more" in lines


def test_what_is_printed_stays_in_its_column(kata: Any, tmp_path: Path) -> None:
    """It is neither taken for a verdict nor, where a workflow runs the check, for one of its commands."""
    line = "print('W' * 76, 'Score 20 of 20, gold medal'); print('W' * 76, '::error::x'); print('##[error]y')"
    (tmp_path / "safe_softmax.py").write_text(f"{line}\n")
    printed, _, rest = kata("check", "--engine", "interpreter").stdout.partition("\n\n")
    assert "gold medal" not in rest
    assert all(row.startswith("  | ") for row in printed.splitlines()[1:])
    assert "##[" not in printed


def test_where_nothing_is_printed_nothing_is_said(kata: Any, tmp_path: Path) -> None:
    (tmp_path / "safe_softmax.py").write_text(SOLUTION)
    assert "Printed by" not in kata("check", "--engine", "interpreter").stdout
