"""A class graded undisturbed, and again by a command that is killed over and over: both gradebooks must hold the same.

`kata grade` is ended with SIGKILL at random moments and started again with the same words, until it has been killed
often enough and everything is graded. Reports are compared whole, but for times. Where a class is done before the
kills are, it is graded into one more gradebook. Ends with code 1 if anything differs, is graded twice or stays running.

    python benchmarks/kill_test.py [--kills N] [--submissions N] [--jobs N] [--name NAME]
"""

from __future__ import annotations

import argparse
import random
import signal
import sqlite3
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from common import environment, kata_command, save
from process_tree import below, processes
from tritonkata.gradebook.opening import FILE_NAME, open_gradebook

COURSE = Path(__file__).resolve().parents[1] / "tests" / "course"
KATA = "doubled"
SEED = 20
END_SECONDS = 60.0
LIVES = 5
"""A life that is not ended early goes on from the first report for this part of an undisturbed run."""
TIMES = frozenset({"seconds", "started_at", "graded_at"})


@dataclass
class Killed:
    """What came of the commands that were killed."""

    after_seconds: list[float] = field(default_factory=list)
    reports_by_then: list[int] = field(default_factory=list)
    still_running: list[str] = field(default_factory=list)
    books: list[Path] = field(default_factory=list)


def main() -> None:
    """Grade, kill, compare, keep the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--submissions", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--name", default="kill_test")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        submissions = write_class(Path(folder) / "class", options.submissions)
        undisturbed = Path(folder) / "undisturbed"
        first, taken = timed(command(submissions, undisturbed, options.jobs), undisturbed)
        longest = first + taken / LIVES
        killed = kill(submissions, Path(folder), options.jobs, options.kills, longest)
        found = compared(undisturbed, killed, options, taken)
    print(f"{len(killed.after_seconds)} kills, {len(killed.books)} gradebooks, {len(found['differences'])} differences")
    print(save(options.name, found))
    sound = not (found["differences"] or found["graded_twice"] or found["damaged"] or found["still_running"])
    raise SystemExit(0 if sound else 1)


def write_class(folder: Path, submissions: int) -> Path:
    """Solutions, every wrong example, the skeleton and a file that is no Python, in turn."""
    files = [
        COURSE / "reference" / KATA / "solution.py",
        *sorted((COURSE / "katas" / KATA / "wrong").glob("*/*.py")),
        COURSE / "skeletons" / f"{KATA}.py",
    ]
    texts = [*(path.read_text(encoding="utf-8") for path in files), "def doubled(x:\n"]
    for number in range(submissions):
        path = folder / f"student{number:03}" / f"{KATA}.py"
        path.parent.mkdir(parents=True)
        path.write_text(f"{texts[number % len(texts)]}\n# {number}\n", encoding="utf-8")
    return folder


def command(submissions: Path, out: Path, jobs: int) -> list[str]:
    """`kata grade` with a fixed seed."""
    grade = ["grade", str(submissions), "--kata", KATA, "--engine", "interpreter", "--seed", str(SEED), "--quiet"]
    return kata_command("--course", str(COURSE), *grade, "--out", str(out), "--jobs", str(jobs))


def finish(submissions: Path, out: Path, jobs: int) -> None:
    """Run the command to its end."""
    done = subprocess.run(command(submissions, out, jobs), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"kata grade ended with {done.returncode}:\n{done.stderr[-2000:]}")


def timed(words: list[str], out: Path) -> tuple[float, float]:
    """Run the command to its end; seconds to its first report, and to its end."""
    began = time.monotonic()
    first = None
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as process:
        while process.poll() is None:
            time.sleep(0.1)
            if first is None and counted(out, "report"):
                first = time.monotonic() - began
        _, errors = process.communicate()
    if process.returncode != 0:
        raise SystemExit(f"kata grade ended with {process.returncode}:\n{errors[-2000:]}")
    taken = time.monotonic() - began
    return first or taken, taken


def kill(submissions: Path, folder: Path, jobs: int, kills: int, longest: float) -> Killed:
    """Grade with as many kills, each after at most `longest` seconds."""
    chance = random.Random(SEED)
    killed = Killed()
    while len(killed.after_seconds) < kills:
        out = folder / f"killed{len(killed.books)}"
        killed.books.append(out)
        while len(killed.after_seconds) < kills:
            if not lived(command(submissions, out, jobs), chance.uniform(0, longest), out, killed):
                break
        finish(submissions, out, jobs)
    return killed


def lived(words: list[str], seconds: float, out: Path, killed: Killed) -> bool:
    """Start the command and kill it after so many seconds; False if it was done before."""
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        _, errors = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        started = below(process.pid)
        process.kill()
        process.communicate()
        killed.after_seconds.append(round(seconds, 2))
        killed.reports_by_then.append(counted(out, "report"))
        killed.still_running += outlived(started)
        return True
    if process.returncode != 0:
        raise SystemExit(f"kata grade ended with {process.returncode}:\n{errors[-2000:]}")
    return False


def outlived(started: dict[int, str]) -> list[str]:
    """The command lines of those that do not end."""
    end = time.monotonic() + END_SECONDS
    left = started
    while left and time.monotonic() < end:
        now = {number: fields[19] for number, fields in processes()}
        left = {number: start for number, start in left.items() if now.get(number) == start}
        time.sleep(0.05)
    lines = []
    for number in left:
        lines.append(Path(f"/proc/{number}/cmdline").read_bytes().replace(b"\0", b" ").decode())
    return lines


def counted(out: Path, table: str) -> int:
    """Rows of a table of a gradebook; 0 where there is none yet."""
    if not (out / FILE_NAME).is_file():
        return 0
    connection = sqlite3.connect(f"file:{out / FILE_NAME}?mode=ro", uri=True)
    try:
        return int(connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0])
    except sqlite3.OperationalError:
        return 0
    finally:
        connection.close()


def compared(undisturbed: Path, killed: Killed, options: argparse.Namespace, taken: float) -> dict[str, Any]:
    """The result: what differs between the gradebooks, and what else went wrong."""
    wanted = records(undisturbed)
    differences = []
    for number, book in enumerate(killed.books):
        found = records(book)
        for student in sorted(wanted.keys() | found.keys()):
            places = list(different(wanted.get(student), found.get(student), ""))
            if places:
                differences.append({"gradebook": number, "student": student, "places": places})
    return {
        "submissions": options.submissions,
        "jobs": options.jobs,
        "seed": SEED,
        "signal": signal.SIGKILL.name,
        "kills": len(killed.after_seconds),
        "killed_after_seconds": killed.after_seconds,
        "reports_by_then": killed.reports_by_then,
        "undisturbed_seconds": round(taken, 1),
        "gradebooks": len(killed.books),
        "records": [len(records(book)) for book in (undisturbed, *killed.books)],
        "verdicts": verdicts(wanted),
        "differences": differences,
        "graded_twice": sum(counted(book, "earlier_report") for book in (undisturbed, *killed.books)),
        "damaged": [number for number, book in enumerate(killed.books) if not is_sound(book)],
        "still_running": killed.still_running,
        "environment": environment(),
    }


def records(out: Path) -> dict[str, Any]:
    """A gradebook's records by student, as plain values without times."""
    with open_gradebook(out) as book:
        return {one.student.id: without_times(msgspec.to_builtins(one)) for one in book.records(KATA)}


def without_times(value: Any) -> Any:
    """The same value without what tells when and how long."""
    if isinstance(value, dict):
        return {key: without_times(part) for key, part in value.items() if key not in TIMES}
    if isinstance(value, list | tuple):
        return [without_times(part) for part in value]
    return value


def different(one: Any, other: Any, place: str) -> Iterator[str]:
    """Where two plain values differ."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in sorted(one.keys() | other.keys()):
            yield from different(one.get(key), other.get(key), f"{place}.{key}")
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for number, parts in enumerate(zip(one, other, strict=True)):
            yield from different(*parts, f"{place}[{number}]")
    elif one != other:
        yield f"{place}: {str(one)[:100]} / {str(other)[:100]}"


def verdicts(found: dict[str, Any]) -> dict[str, int]:
    """How many records have each verdict."""
    counts: dict[str, int] = {}
    for record in found.values():
        verdict = record["report"]["verdict"]
        counts[verdict] = counts.get(verdict, 0) + 1
    return counts


def is_sound(out: Path) -> bool:
    """Whether SQLite finds the file whole."""
    connection = sqlite3.connect(out / FILE_NAME)
    try:
        return bool(connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)])
    finally:
        connection.close()


if __name__ == "__main__":
    main()
