"""Children of a test, as a user who may write nothing."""

from __future__ import annotations

import subprocess
import sys

_GIVE_UP_RIGHTS = """import os

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
