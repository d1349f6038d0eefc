"""Every solution, skeleton, wrong example and right kernel graded, on one or both engines.

Prints and keeps a table of verdicts and diagnoses, and says where two engines
disagree. Ends with code 1 if an expected verdict or diagnosis is missing.

    python benchmarks/verdict_table.py [--engines interpreter,gpu] [--kata SLUG] [--match TEXT] [--jobs N]
    [--name NAME]
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from common import RESULTS, environment, save
from tritonkata.check import grade
from tritonkata.courses import load_course
from tritonkata.crew.crew import open_crew
from tritonkata.crew.member import station
from tritonkata.engine.engines import EngineName
from tritonkata.engine.machine import gpus_for
from tritonkata.engine.workers import hidden_in
from tritonkata.model.report import Report, main_diagnosis

ROOT = Path(__file__).resolve().parents[1]
SEED = 20


@dataclass(frozen=True)
class Subject:
    """One file, and what must come of it: `solution`, `skeleton`, `right`, or the diagnosis."""

    kata: str
    path: Path
    expected: str


def main() -> None:
    """Check everything and keep the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engines", default="interpreter")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--kata", help="only the files of this kata")
    parser.add_argument("--match", default="", help="only files whose path has this in it")
    parser.add_argument("--name", default="verdicts")
    options = parser.parse_args()
    engines: list[EngineName] = options.engines.split(",")
    chosen = [
        subject for subject in subjects() if options.kata in (None, subject.kata) and options.match in str(subject.path)
    ]
    jobs = [(subject, engine) for subject in chosen for engine in engines]
    done: dict[int, dict[str, Any]] = {}
    facts = environment()
    began = time.monotonic()
    with open_crew(options.jobs, gpus=gpus_for("gpu") if "gpu" in engines else (), hidden=hidden_in(ROOT)) as crew:
        begun = [crew.submit(check, subject, engine) for subject, engine in jobs]
        for place, job in enumerate(begun):
            done[place] = row(*jobs[place], job.result())
            # A borrowed machine may be taken back at any moment.
            found = keep(options.name, facts, list(done.values()), len(jobs))
    taken = time.monotonic() - began
    print(f"{len(jobs)} files in {taken:.0f} s with {options.jobs} processes; GPU busy {crew.busy_seconds}")
    print(markdown(found))
    raise SystemExit(0 if all(entry["as_expected"] for entry in found["rows"]) else 1)


def keep(name: str, facts: dict[str, Any], rows: list[dict[str, Any]], wanted: int) -> dict[str, Any]:
    """Write the table as far as it has come."""
    found = {
        "environment": facts,
        "seed": SEED,
        "checks_wanted": wanted,
        "rows": rows,
        "disagreements": disagreements(rows),
    }
    save(name, found)
    (RESULTS / f"{name}.md").write_text(markdown(found), encoding="utf-8")
    return found


def subjects() -> list[Subject]:
    """All files of the course, in a fixed order."""
    found = []
    for folder in sorted((ROOT / "katas").iterdir()):
        if not (folder / "kata.toml").is_file():
            continue
        slug = folder.name
        found.append(Subject(slug, ROOT / "reference" / slug / "solution.py", "solution"))
        found.append(Subject(slug, ROOT / "skeletons" / f"{slug}.py", "skeleton"))
        found += [Subject(slug, path, path.parent.name) for path in sorted((folder / "wrong").glob("*/*.py"))]
        found += [Subject(slug, path, "right") for path in sorted((ROOT / "tests" / "right" / slug).glob("*.py"))]
    return found


def check(subject: Subject, engine: EngineName) -> Report:
    """The report of one file."""
    kata = load_course(ROOT).kata(subject.kata)
    return grade(kata, subject.path, engine=engine, seed=SEED, station=station())


def row(subject: Subject, engine: str, report: Report) -> dict[str, Any]:
    """One line of the table. The diagnosis is the most frequent one among the failed checks."""
    counted = Counter(check.diagnosis for check in report.checks if check.diagnosis)
    diagnosis = main_diagnosis(report)
    expected = {
        "solution": report.verdict == "pass",
        "right": report.verdict == "pass",
        "skeleton": report.verdict == "fail",
    }
    return {
        "kata": subject.kata,
        "file": str(subject.path.relative_to(ROOT)),
        "expected": subject.expected,
        "engine": engine,
        "verdict": report.verdict,
        "score": report.score,
        "max_score": report.max_score,
        "medal": report.medal,
        "diagnosis": diagnosis,
        "diagnoses": dict(counted),
        "verdicts": {check.name: check.verdict for check in report.checks},
        "seconds": report.seconds,
        "as_expected": expected.get(subject.expected, diagnosis == subject.expected),
    }


def disagreements(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Files on which two engines differ in the verdict or the diagnosis, and the checks that differ."""
    found = []
    by_file: dict[str, list[dict[str, Any]]] = {}
    for entry in rows:
        by_file.setdefault(entry["file"], []).append(entry)
    for file, entries in by_file.items():
        first, *others = entries
        for other in others:
            checks = {
                name: [verdict, other["verdicts"].get(name)]
                for name, verdict in first["verdicts"].items()
                if other["verdicts"].get(name) != verdict
            }
            same = first["verdict"] == other["verdict"] and first["diagnosis"] == other["diagnosis"]
            if checks or not same:
                found.append({"file": file, "same_verdict_and_diagnosis": same, "checks": checks})
    return found


def markdown(found: dict[str, Any]) -> str:
    """The table for reading."""
    facts = ", ".join(f"{name} {value}" for name, value in found["environment"].items() if value)
    complete = (
        ""
        if len(found["rows"]) == found["checks_wanted"]
        else f" {len(found['rows'])} of {found['checks_wanted']} done."
    )
    lines = [f"Files of the course, graded with seed {found['seed']} ({facts}).{complete}", ""]
    lines += ["| file | expected | engine | verdict | diagnosis | score | s |", "|---|---|---|---|---|---|---|"]
    for entry in found["rows"]:
        mark = "" if entry["as_expected"] else " **(unexpected)**"
        lines.append(
            f"| {entry['file']} | {entry['expected']} | {entry['engine']} | {entry['verdict']} | "
            f"{entry['diagnosis'] or ''}{mark} | {entry['score']:g}/{entry['max_score']:g} | {entry['seconds']:.1f} |"
        )
    lines += ["", f"Files whose verdict or diagnosis differs between engines: {count_different(found)}."]
    for one in found["disagreements"]:
        listed = ", ".join(f"{name}: {pair[0]} / {pair[1]}" for name, pair in one["checks"].items())
        lines.append(f"- {one['file']}: {listed or 'diagnosis'}")
    return "\n".join(lines) + "\n"


def count_different(found: dict[str, Any]) -> int:
    """How many files have another verdict or diagnosis on another engine."""
    return sum(not one["same_verdict_and_diagnosis"] for one in found["disagreements"])


if __name__ == "__main__":
    main()
