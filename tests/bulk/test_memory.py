"""A class of any size costs the command no more memory than a small one."""

from __future__ import annotations

from pathlib import Path

from class_of_files import Kata, grade_words, quick, write_class

SUBMISSIONS = 300
EACH_BYTES = 200_000
ALLOWED_BYTES = 12 << 20


def resident_bytes(number: int) -> int:
    """What a process has in memory."""
    (line,) = [line for line in Path(f"/proc/{number}/status").read_text().splitlines() if line.startswith("VmRSS:")]
    return int(line.split()[1]) << 10


def test_memory_does_not_grow_with_the_class(kata: Kata, tmp_path: Path) -> None:
    sources = {f"s{number:03}": quick(number, EACH_BYTES) for number in range(SUBMISSIONS)}
    submissions = write_class(tmp_path / "class", sources)
    with kata.start(*grade_words(submissions), "--json", "--jobs", "2") as command:
        assert command.stdout is not None
        sizes: list[int] = []
        for _ in command.stdout:
            if len(sizes) < SUBMISSIONS - 20:
                sizes.append(resident_bytes(command.pid))
    assert command.returncode == 0
    assert len(sizes) == SUBMISSIONS - 20
    # All of the class together is five times what is allowed.
    assert max(sizes) - sizes[20] < ALLOWED_BYTES
