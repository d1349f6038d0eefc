"""A script that is killed: takes in a class and grades it, with a line for each report that was kept."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from gradebook_samples import handed_in, report, run_of, take_in

from tritonkata.gradebook.opening import open_gradebook

STUDENTS = 400

with open_gradebook(Path(sys.argv[1]), create=True, grading=True) as book:
    run = run_of(book)
    take_in(book, *(handed_in(f"s{number:03}") for number in range(STUDENTS)))
    print("taken in", flush=True)
    for one in book.pending(run):
        book.put_report(one.id, run, report(float(one.id)))
        print(one.id, float(one.id), flush=True)
