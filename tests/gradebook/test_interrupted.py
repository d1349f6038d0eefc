"""Writers that are killed, and disks that are full: what was kept stays."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from pathlib import Path

from disks import on_a_small_disk
from gradebook_samples import KATA, run_of, waiting

from tritonkata.gradebook.opening import FILE_NAME, open_gradebook

HERE = Path(__file__).parent


def killed_after(folder: Path, lines: int) -> list[str]:
    """What the writer had said by its end; SIGKILL comes after so many lines."""
    command = [sys.executable, "-B", str(HERE / "write_reports.py"), str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        told = [child.stdout.readline() for _ in range(lines)]
        child.kill()
        return [*told, *child.stdout.read().splitlines(keepends=True)]


def test_a_killed_writer_loses_no_report_that_it_had_kept(tmp_path: Path) -> None:
    graded: dict[str, float] = {}
    for lines in (1, 6, 18):
        first, *rest = killed_after(tmp_path, lines)
        assert first == "taken in\n"
        for number, score in (line.split() for line in rest if line.endswith("\n")):
            assert number not in graded, "a report was made twice"
            graded[number] = float(score)
        connection = sqlite3.connect(tmp_path / FILE_NAME)
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        kept = dict(connection.execute("SELECT CAST(submission AS TEXT), score FROM report"))
        connection.close()
        # The last one may have been kept and not been told.
        assert graded.items() <= kept.items()
        assert len(kept) <= len(graded) + 1
        graded = kept
        with open_gradebook(tmp_path) as book:
            assert len(waiting(book, run_of(book))) == book.count(KATA) - len(graded)
    assert len(graded) >= 22


def test_a_full_disk_is_told_and_costs_no_report(tmp_path: Path) -> None:
    folder = tmp_path / "disk"
    folder.mkdir()
    done = on_a_small_disk(folder, 2048, 'exec "$@"', sys.executable, "-B", HERE / "fill_disk.py", folder)
    assert done.stderr == ""
    before, after = map(json.loads, done.stdout.splitlines())
    assert "disk is full; make room, and give the same command again" in before["problem"]
    assert str(folder / FILE_NAME) in before["problem"]
    assert after["kept"] == before["graded"] != []
    assert after["more"] != []
    assert not set(after["more"]) & set(after["kept"])
