"""Shapes that do not fit are told before anything is allocated."""

from __future__ import annotations

from pathlib import Path

import pytest

from tritonkata.boundary import available as machine
from tritonkata.labs import memory
from tritonkata.labs.memory import TooLarge, refuse_too_large

GIB = 1 << 30


def advised(message: str, rows: int, cols: int) -> tuple[int, int]:
    """The shape that a message proposes."""
    words = message.split("try ")[1].split()
    given = dict(zip(words[::2], words[1::2], strict=True))
    return int(given.get("--rows", rows)), int(given.get("--cols", cols))


@pytest.mark.parametrize(("rows", "cols"), [(8192, 65_536), (100, 131_072), (3, 131_072), (1_000_000, 7)])
@pytest.mark.parametrize("available", [4 * GIB, 7 * GIB, 3 * GIB + (1 << 20)])
def test_the_advice_fits_and_the_message_has_both_sizes(rows: int, cols: int, available: int) -> None:
    try:
        refuse_too_large(rows, cols, 4, available)
    except TooLarge as error:
        message = str(error)
        assert "available" in message
        assert "of memory" in message
        refuse_too_large(*advised(message, rows, cols), 4, available)
    else:
        assert memory.COPIES * rows * cols * 4 + memory.BASE_BYTES <= available


def test_one_tensor_has_a_largest_size_whatever_the_memory() -> None:
    with pytest.raises(TooLarge, match="8 GiB that one tensor may have") as caught:
        refuse_too_large(1 << 20, 131_072, 4, None)
    rows, cols = advised(str(caught.value), 1 << 20, 131_072)
    refuse_too_large(rows, cols, 4, None)
    assert cols == 131_072


def test_without_any_memory_left_the_advice_is_to_make_room() -> None:
    with pytest.raises(TooLarge, match="close other programs"):
        refuse_too_large(1, 1, 4, 1 * GIB)


def test_unknown_memory_refuses_nothing_that_a_tensor_may_have() -> None:
    refuse_too_large(8192, 4096, 4, None)


def test_the_memory_of_linux_and_of_a_container_are_both_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    meminfo = tmp_path / "meminfo"
    meminfo.write_text("MemTotal:  100 kB\nMemAvailable:    5000 kB\n")
    monkeypatch.setattr(machine, "_MEMINFO", meminfo)
    monkeypatch.setattr(machine, "_CGROUP", tmp_path)
    assert machine.available_bytes() == 5000 * 1024
    (tmp_path / "memory.max").write_text("3000000\n")
    (tmp_path / "memory.current").write_text("1000000\n")
    assert machine.available_bytes() == 2_000_000
    (tmp_path / "memory.max").write_text("max\n")
    assert machine.available_bytes() == 5000 * 1024
    meminfo.unlink()
    assert machine.available_bytes() is None


def test_a_card_that_is_too_small_is_told_with_a_smaller_shape() -> None:
    message = str(memory.too_large_for_gpu(4096, 1024, "needs 9 bytes, 3 are free"))
    assert "needs 9 bytes, 3 are free" in message
    assert advised(message, 4096, 1024) == (2048, 1024)
