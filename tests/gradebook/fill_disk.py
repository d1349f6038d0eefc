"""A script for `on_a_small_disk`: grades into a gradebook until the disk is full, makes room, and goes on.

Prints one line for each thing that happened, as JSON.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from gradebook_samples import KATA, handed_in, report, run_of, take_in

from tritonkata.gradebook.opening import open_gradebook
from tritonkata.gradebook.store import Gradebook
from tritonkata.gradebook.types import GradebookProblem, Run

STUDENTS = 200
BALLAST_BYTES = 1 << 20


def grade_while_there_is_room(book: Gradebook, run: Run) -> tuple[list[str], str]:
    """Whose reports were kept, and the problem that ended it."""
    found = report(diagnosis="d" * 20_000)
    graded: list[str] = []
    try:
        for one in book.pending(run):
            book.put_report(one.id, run, found)
            graded.append(one.student)
    except GradebookProblem as problem:
        return graded, str(problem)
    return graded, ""


def main(folder: Path) -> None:
    with open_gradebook(folder, create=True) as book:
        run = run_of(book)
        take_in(book, *(handed_in(f"s{number:03}") for number in range(STUDENTS)))
        (folder / "ballast").write_bytes(b"x" * BALLAST_BYTES)
        graded, problem = grade_while_there_is_room(book, run)
    (folder / "ballast").unlink()
    print(json.dumps({"graded": graded, "problem": problem}))
    with open_gradebook(folder) as book:
        kept = [record.student.id for record in book.records(KATA)]
        more, problem = grade_while_there_is_room(book, run_of(book))
        print(json.dumps({"kept": kept, "more": more, "problem": problem}))


main(Path(sys.argv[1]))
