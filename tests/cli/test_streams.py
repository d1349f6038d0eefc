"""`kata` with standard streams that are closed, full, or whose reader went away."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

BROKEN = "def safe_softmax(:\n"


def shell(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a line of bash in which $K is `kata`."""
    environment = {**os.environ, "K": f"{sys.executable} -m tritonkata"}
    return subprocess.run(
        ["bash", "-c", line], cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "safe_softmax.py").write_text(BROKEN)
    return tmp_path


@pytest.mark.parametrize("streams", ["<&-", ">&-", "2>&-", "<&- >&-", "<&- >&- 2>&-", "</dev/full", "2>/dev/full"])
def test_a_missing_stream_changes_no_verdict(folder: Path, streams: str) -> None:
    done = shell(f"$K check --report out.json {streams}", folder)
    assert done.returncode == 1, done.stderr
    assert done.stderr == ""
    assert json.loads((folder / "out.json").read_text())["verdict"] == "error"
    assert ("Nothing could be graded" in done.stdout) == (">&-" not in streams.replace("2>&-", ""))


@pytest.mark.parametrize("streams", ["<&-", "<&- >&-", "<&- >&- 2>&-"])
def test_workers_start_without_standard_streams(folder: Path, streams: str) -> None:
    """Pipes that take the place of a standard stream would be lost on the way to a worker."""
    (folder / "safe_softmax.py").write_text("x = 1\n")
    done = shell(f"$K check --engine interpreter --report out.json {streams}", folder)
    assert done.returncode == 1, done.stderr
    assert "defines no function" in json.loads((folder / "out.json").read_text())["fault"]["message"]


def test_a_full_output_is_one_line_with_the_verdict(folder: Path) -> None:
    done = shell("$K check --junit out.xml --report out.json > /dev/full", folder)
    assert done.returncode == 3
    (line,) = done.stderr.splitlines()
    assert "standard output cannot be written (No space left on device)" in line
    assert "Nothing could be graded" in line
    assert (folder / "out.xml").exists()
    assert (folder / "out.json").exists()


@pytest.mark.parametrize("command", ["list", "list --json", "--help", "check --help", "--version", "completion bash"])
def test_every_command_says_that_its_output_is_full(folder: Path, command: str) -> None:
    done = shell(f"$K {command} > /dev/full", folder)
    assert done.returncode == 3
    (line,) = done.stderr.splitlines()
    assert line.startswith("Error: standard output cannot be written")


@pytest.mark.parametrize("command", ["list", "list --json", "--help", "--version", "start safe_softmax"])
@pytest.mark.parametrize("streams", [">&-", "<&- >&-"])
def test_every_command_says_that_its_output_is_closed(tmp_path: Path, command: str, streams: str) -> None:
    done = shell(f"$K {command} {streams}", tmp_path)
    assert done.returncode == 3
    assert done.stderr == "Error: standard output cannot be written (it is closed); send it elsewhere\n"


def without_reader(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run `kata` with a pipe as standard output that nobody reads any more."""
    read_end, write_end = os.pipe()
    os.close(read_end)
    try:
        return subprocess.run(
            [sys.executable, "-m", "tritonkata", *arguments],
            cwd=folder,
            stdout=write_end,
            stderr=subprocess.PIPE,
            text=True,
            timeout=300,
            check=False,
        )
    finally:
        os.close(write_end)


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_a_reader_that_goes_away_changes_no_verdict(folder: Path, options: tuple[str, ...]) -> None:
    done = without_reader(folder, "check", *options, "--report", "out.json")
    assert (done.returncode, done.stderr) == (1, "")
    assert (folder / "out.json").exists()


UNREAD = ["list", "--help", "verify --help", "completion bash", "report --help", "list --json"]


@pytest.mark.parametrize("arguments", UNREAD)
def test_a_reader_that_goes_away_is_no_success_and_no_traceback(folder: Path, arguments: str) -> None:
    """A script that pipes `kata verify` into `head` must not take it for a kept promise."""
    done = without_reader(folder, *arguments.split())
    assert (done.returncode, done.stderr) == (128 + signal.SIGPIPE, "")


def test_a_folder_that_was_removed_is_one_line(folder: Path) -> None:
    for command in ("check", "list", "start safe_softmax"):
        done = shell(f"mkdir gone; cd gone; rmdir ../gone; $K {command}", folder)
        assert done.returncode == 2
        (line,) = [line for line in done.stderr.splitlines() if not line.startswith("shell-init")]
        assert "the working directory cannot be used" in line


def test_an_interruption_while_the_command_is_imported_leaves_no_traceback(tmp_path: Path) -> None:
    code = (
        "import os, signal, sys\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "class Finder:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'tritonkata.cli.app':\n"
        "            os.kill(os.getpid(), signal.SIGINT)\n"
        "from tritonkata.cli import main\n"
        "sys.meta_path.insert(0, Finder())\n"
        "sys.exit(main())\n"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == -signal.SIGINT  # for which a shell gives 130
    assert done.stderr == ""
