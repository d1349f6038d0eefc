"""How much memory there is left, for whoever is about to take much of it."""

from __future__ import annotations

from pathlib import Path

_MEMINFO = Path("/proc/meminfo")
_CGROUP = Path("/sys/fs/cgroup")


def available_bytes() -> int | None:
    """Memory that can be used now: what Linux has available, or less where a container's limit is."""
    found = [value for value in (_available(_MEMINFO), _left_in_container(_CGROUP)) if value is not None]
    return min(found, default=None)


def _available(meminfo: Path) -> int | None:
    try:
        for line in meminfo.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) << 10
    except (OSError, ValueError, IndexError):
        pass
    return None


def _left_in_container(group: Path) -> int | None:
    try:
        limit = (group / "memory.max").read_text().strip()
        return None if limit == "max" else max(int(limit) - int((group / "memory.current").read_text()), 0)
    except (OSError, ValueError):
        return None
