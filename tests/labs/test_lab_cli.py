"""`kata lab`: bad input, files, codes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import msgspec
import pytest

from tritonkata.cli import lab as lab_cli
from tritonkata.labs.model import CeilingResult, Checked, LabResult

SMALL = ("--engine", "interpreter", "--rows", "4", "--cols", "70")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("softmax", "--rows", "0"), "0 rows cannot be measured; give 1 to 2,147,483,647, such as 8192"),
        (("softmax", "--rows", "-5"), "-5 rows cannot be measured"),
        (("fusion", "--cols", "0"), "0 columns cannot be measured; give 1 to 131,072, such as 4096"),
        (("ceiling", "--cols", "131073"), "131073 columns cannot be measured; give 1 to 131,072, such as 32768"),
        (("softmax", "--rows", "many"), "'many' is no number of rows"),
        (("softmax", "--rows", "2147483648"), "2147483648 rows cannot be measured"),
        (("softmax", "--dtype", "float64"), "'float64' is not one of 'float32', 'float16', 'bfloat16'"),
        (("softmax", "--bandwidth", "0"), "'0' is no bandwidth; give 10^9 bytes a second, such as 2000"),
        (("softmax", "--bandwidth", "nan"), "is no bandwidth"),
        (("softmax", "--bandwidth", "inf"), "is no bandwidth"),
        (("softmax", "--rounds", "0"), "--rounds"),
        (("softmax", "--seed", "-1"), "--seed"),
        (("softmax", "--engine", "cpu"), "--engine"),
        (("softmax", "--svg", ""), "is empty"),
        (("softmax", "--svg", "no/x.svg"), "--svg: no is no directory; create it first"),
        (("softmax", "--html", "folder"), "--html: folder cannot be written (Is a directory); choose another file"),
        (("softmax", "--svg", "one", "--html", "one"), "--svg and --html are both one; give each a file of its own"),
        (("ceilings",), "ceilings"),
    ],
)
def test_wrong_usage_is_one_line_with_the_next_step(
    kata: Any, tmp_path: Path, arguments: tuple[str, ...], words: str
) -> None:
    (tmp_path / "folder").mkdir()
    done = kata("lab", *arguments)
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


def test_a_gpu_that_is_not_there_is_told_with_the_other_engine(kata: Any) -> None:
    from tritonkata.engine.machine import gpu_problem

    if gpu_problem() is None:
        pytest.skip("there is a GPU")
    done = kata("lab", "softmax", "--engine", "gpu")
    assert done.returncode == 2
    assert "no GPU can be used" in done.stderr
    assert "--engine interpreter" in done.stderr


def test_a_run_prints_a_table_and_writes_both_files(kata: Any, tmp_path: Path) -> None:
    done = kata("lab", "softmax", *SMALL, "--svg", "out.svg", "--html", "out.html")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert "naive, unsafe" in done.stdout
    assert "FAILED" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 100
    ElementTree.fromstring((tmp_path / "out.svg").read_text())
    assert (tmp_path / "out.html").read_text().startswith("<!doctype html>")


@pytest.mark.parametrize("name", ["softmax", "fusion", "ceiling"])
def test_json_is_the_result_itself(kata: Any, name: str) -> None:
    done = kata("lab", name, *SMALL, "--json", "--dtype", "float16", "--seed", "5", "--bandwidth", "2000")
    assert done.returncode == 0, done.stderr
    kind: Any = CeilingResult if name == "ceiling" else LabResult
    result = msgspec.json.decode(done.stdout, type=kind)
    assert result.lab == name
    assert (result.options.dtype, result.options.seed, result.options.rows) == ("float16", 5, 4)
    assert result.bandwidth.value == 2000.0


@pytest.mark.parametrize("arguments", [(), ("softmax",), ("fusion",), ("ceiling",)])
def test_help_ends_with_an_example(kata: Any, arguments: tuple[str, ...]) -> None:
    done = kata("lab", *arguments, "--help")
    assert done.returncode == 0
    assert "Example: kata lab" in done.stdout.splitlines()[-1]


def test_a_full_disk_after_the_measurement_is_told(kata: Any, tmp_path: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full here")
    done = kata("lab", "softmax", *SMALL, "--svg", "/dev/full")
    assert done.returncode == 3
    assert "--svg: /dev/full cannot be written (No space left on device)" in done.stderr


@pytest.mark.parametrize(
    ("variant", "failed", "unexpected"),
    [("naive_unsafe", True, False), ("online_one_pass", True, True), ("torch", True, True), ("torch", False, False)],
)
def test_only_the_naive_kernel_may_fail(
    softmax_result: LabResult, variant: str, failed: bool, unexpected: bool
) -> None:
    checked = Checked(10, int(failed), int(failed), 0.1)
    rows = tuple(
        msgspec.structs.replace(row, checked=checked) if row.variant == variant else row for row in softmax_result.rows
    )
    assert lab_cli._unexpected(msgspec.structs.replace(softmax_result, rows=rows)) is unexpected


def test_the_naive_kernel_failing_as_it_must_is_no_failure(softmax_result: LabResult) -> None:
    assert not lab_cli._unexpected(softmax_result)


def test_progress_is_shown_on_a_terminal(tmp_path: Path) -> None:
    ours, theirs = os.openpty()
    command = [sys.executable, "-m", "tritonkata", "lab", "softmax", *SMALL]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=theirs)
    os.close(theirs)
    shown = b""
    try:
        while part := _read(ours):
            shown += part
    finally:
        os.close(ours)
        assert process.wait(timeout=300) == 0
    for step in (b"starting", b"compiling", b"counting bytes", b"checking"):
        assert step in shown


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 4096)
    except OSError:  # the other end is closed
        return b""
