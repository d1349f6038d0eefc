"""Every attack of tests/hostile graded, and the table of what became of it written into docs/security.md.

Ends with code 1 if an attack gets another verdict than its table says.

    python benchmarks/hostile_table.py [--engine interpreter|gpu] [--jobs N] [--match TEXT] [--only-write]
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path
from typing import Any

from common import RESULTS, environment, save
from hostile_common import ROOT, catalogue, copy_courses, graded
from tritonkata.crew.crew import open_crew
from tritonkata.engine.machine import gpus_for
from tritonkata.feedback.clean import escape_markdown, one_line

DOCUMENT = ROOT / "docs" / "security.md"
BEGIN = "<!-- the table below is written by benchmarks/hostile_table.py -->"
END = "<!-- the table above is written by benchmarks/hostile_table.py -->"
_CHARACTERS = 110


def main() -> None:
    """Grade the attacks, keep the rows, write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engine", choices=["interpreter", "gpu"], default="interpreter")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--match", default="", help="only attacks with this in their name; the table is not written")
    parser.add_argument("--only-write", action="store_true", help="write the table from the results that are kept")
    options = parser.parse_args()
    if options.only_write:
        write_table()
        return
    rows = run(options.engine, options.jobs, options.match)
    unexpected = [row for row in rows if not row["as_expected"]]
    for row in unexpected:
        print("NOT AS EXPECTED:", row)
    print(f"{len(rows)} attacks on {options.engine}, {len(rows) - len(unexpected)} as expected")
    if not options.match:
        write_table()
    raise SystemExit(1 if unexpected else 0)


def run(engine: str, jobs: int, match: str) -> list[dict[str, Any]]:
    """Grade them side by side; the rows, kept as they come."""
    attacks = [attack for attack in catalogue().ATTACKS if match in attack.id]
    rows: list[dict[str, Any]] = []
    facts = environment()
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, open_crew(jobs, gpus=gpus_for(engine)) as crew:
        copy_courses(Path(folder))
        begun = [crew.submit(graded, attack.path, attack.kata, Path(folder), engine) for attack in attacks]
        for attack, job in zip(attacks, begun, strict=True):
            report = job.result()
            verdict, words = catalogue().first_of(report)
            rows.append(
                {
                    "attack": attack.id,
                    "title": attack.title,
                    "row": attack.row,
                    "learned_from": attack.learned_from,
                    "engine": engine,
                    "report": report.verdict,
                    "verdict": verdict,
                    "words": one_line(words)[:300],
                    "seconds": round(report.seconds, 1),
                    "undefended": attack.undefended == engine,
                    "as_expected": attack.is_met_by(report, engine),
                }
            )
            if not match:
                found = {"environment": facts, "wanted": len(attacks), "jobs": jobs, "rows": rows}
                save(f"hostile_{engine}", {**found, "seconds": round(time.monotonic() - began, 1)})
    return rows


def write_table() -> None:
    """Put the rows of both engines between the marks of the document."""
    kept = [json.loads(path.read_text()) for path in sorted(RESULTS.glob("hostile_*.json"))]
    text = DOCUMENT.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    DOCUMENT.write_text(f"{before}{BEGIN}\n\n{markdown(kept)}\n{END}{after}", encoding="utf-8")


def markdown(kept: list[dict[str, Any]]) -> str:
    """What ran where, and a line for each attack on each engine."""
    lines = [f"- {told(one)}" for one in kept]
    lines += ["", "| attack | learned from | engine | what happened | s |", "|---|---|---|---|---|"]
    rows = sorted((row for one in kept for row in one["rows"]), key=lambda row: (row["attack"], row["engine"]))
    lines += [line_of(row) for row in rows]
    return "\n".join(lines) + "\n"


def told(one: dict[str, Any]) -> str:
    """One run in one line."""
    facts = one["environment"]
    engine = one["rows"][0]["engine"]
    where = facts["card"] if engine == "gpu" else facts["processor"]
    good = sum(row["as_expected"] for row in one["rows"])
    versions = f"Triton {facts['triton']}, torch {facts['torch']}, {facts['date']}"
    return f"{engine}: {good} of {one['wanted']} as they must, on {where} ({versions})"


def line_of(row: dict[str, Any]) -> str:
    """One line of the table."""
    title = escape_markdown(row["title"]).replace("|", "\\|")
    if row["undefended"] and row["report"] == "pass":
        happened = "passes: not defended on this engine"
    else:
        words = escape_markdown(row["words"])[:_CHARACTERS].replace("|", "\\|")
        happened = f"{row['report']}, {row['verdict']}: {words}"
    return f"| {title} | {row['learned_from'] or ''} | {row['engine']} | {happened} | {row['seconds']:.0f} |"


if __name__ == "__main__":
    main()
