"""Children of a test: as a user who may write nothing, on a disk of its own, and ended at any moment."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

_GIVE_UP_RIGHTS = """
import os
def give_up_rights():
    if os.geteuid() == 0:
        os.setgroups([])
        os.setresgid(65534, 65534, 65534)
        os.setresuid(65534, 65534, 65534)
"""


def python_as_nobody(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python with these arguments; as root, as a user that file permissions hold for.

    What `code` imports before it calls `give_up_rights` need not be readable to that user.
    """
    return subprocess.run(
        [sys.executable, "-B", "-c", _GIVE_UP_RIGHTS + code, *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        cwd="/",
    )


def on_a_small_disk(script: Path, folder: Path, kilobytes: int) -> subprocess.CompletedProcess[str]:
    """Run a script with `folder` on a disk of this size, which nobody else sees and which ends with the script."""
    own = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--user", "--map-root-user", "--mount"]
    steps = f'mount -t tmpfs -o size={kilobytes}k tmpfs "$1" && exec "$2" -B "$3" "$1"'
    return subprocess.run(
        [*own, "sh", "-c", steps, "sh", str(folder), sys.executable, str(script)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
