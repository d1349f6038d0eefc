"""Commands on a small disk of their own, which nobody else sees and which ends with them."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

_MOUNT = 'mount -t tmpfs -o size="$2"k tmpfs "$1" && shift 2 && '
_FILL = """
folder=$1 before=$2 after=$3; shift 3
cp -R "$before"/. "$folder" && { cat /dev/zero > "$folder/ballast"; } 2> /dev/null
cd "$folder"; "$@"; ended=$?
rm ballast; cp -R . "$after"; exit $ended
"""


def on_a_small_disk(
    folder: Path, kilobytes: int, steps: str, *arguments: str | Path, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run steps of a shell with `folder` on a disk of this size; skips the test where none can be mounted."""
    own = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--user", "--map-root-user", "--mount"]
    done = subprocess.run(
        [*own, "sh", "-c", _MOUNT + steps, "sh", folder, str(kilobytes), *arguments],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env={**os.environ, **variables},
    )
    if done.stderr.startswith(("unshare:", "mount:")):
        pytest.skip(f"no disk can be mounted here: {done.stderr.strip()}")
    return done


def on_a_full_disk(
    folder: Path, before: dict[str, bytes], *command: str | Path, **variables: str
) -> tuple[subprocess.CompletedProcess[str], dict[str, bytes]]:
    """Run a command in a folder of a full disk with these files; what it said, and the files that it left there."""
    places = [folder / name for name in ("disk", "before", "after")]
    for place in places:
        place.mkdir()
    for name, content in before.items():
        (places[1] / name).write_bytes(content)
    steps = f"exec sh -c '{_FILL}' sh " + '"$@"'
    done = on_a_small_disk(places[0], 64, steps, *places, *command, **variables)
    return done, {path.name: path.read_bytes() for path in places[2].iterdir() if path.is_file()}
