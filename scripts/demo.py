"""Grades three kernels in a temporary workspace, with the commands that a learner types.

Ends with code 1 if one of the three comes out differently from what its heading says.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
SLUG = "safe_softmax"
MISTAKE = "no_max_subtraction"
KATA = Path(sysconfig.get_path("scripts")) / "kata"


def main() -> int:
    """Run the three steps; returns the exit code."""
    wrong = sorted((ROOT / "katas" / SLUG / "wrong" / MISTAKE).glob("*.py"))[0]
    with tempfile.TemporaryDirectory(prefix="kata-demo-") as name:
        folder = Path(name)
        kernel = folder / f"{SLUG}.py"
        kata(folder, "start", SLUG)

        heading("1 of 3: the untouched skeleton, which must fail")
        code, report = check(folder)
        kept = [code == 1 and report["verdict"] in ("fail", "error")]

        heading(f"2 of 3: a kernel with a well-known mistake, which must fail as {MISTAKE}")
        shutil.copyfile(wrong, kernel)
        code, report = check(folder)
        kept.append(code == 1 and MISTAKE in {result["diagnosis"] for result in report["checks"]})

        heading("3 of 3: the reference solution, which must pass")
        shutil.copyfile(ROOT / "reference" / SLUG / "solution.py", kernel)
        code, report = check(folder)
        kept.append(code == 0 and report["verdict"] == "pass")

        heading("What this folder has to show for it")
        kata(folder, "list")
    return conclude(kept)


def heading(text: str) -> None:
    """Print a heading."""
    print(f"\n=== {text}", flush=True)


def check(folder: Path) -> tuple[int, dict[str, Any]]:
    """`kata check` in the workspace: its exit code, and the report it wrote."""
    written = folder / "report.json"
    written.unlink(missing_ok=True)
    code = kata(folder, "check", "--report", written.name)
    if not written.is_file():
        sys.exit(f"kata check ended with code {code} and without a report")
    report: dict[str, Any] = json.loads(written.read_text(encoding="utf-8"))
    return code, report


def kata(folder: Path, *arguments: str) -> int:
    """Run one command, with its output on this terminal."""
    print(f"$ kata {' '.join(arguments)}", flush=True)
    return subprocess.run([KATA, *arguments], cwd=folder, check=False).returncode


def conclude(kept: list[bool]) -> int:
    """Say whether every step came out as its heading said."""
    failed = [str(number) for number, good in enumerate(kept, start=1) if not good]
    if failed:
        print(f"\nThe demo failed: step {', '.join(failed)} came out differently.", flush=True)
        return 1
    print("\nThe demo came out as said: two kernels failed with their reasons, the right one passed.", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
