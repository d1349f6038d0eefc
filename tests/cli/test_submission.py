import hashlib
import os
import socket
from pathlib import Path

import pytest

from tritonkata.boundary.messages import MAX_SOURCE_BYTES
from tritonkata.submission import SubmissionProblem, read_submission


@pytest.mark.parametrize(
    "source",
    [
        b"x = 1\n",
        b"\xef\xbb\xbfx = 1\n",
        b"x = 1\r\ny = 2\r\n",
        "# Größe ∑\nx = 1\n".encode(),
        b'pattern = "\\d"\n',  # a SyntaxWarning, no error
        b"x = 1 " + b"#" * (MAX_SOURCE_BYTES - 6),
    ],
)
def test_what_python_reads_is_accepted_as_it_is(tmp_path: Path, source: bytes) -> None:
    path = tmp_path / "kernel.py"
    path.write_bytes(source)
    file = read_submission(path)
    assert file.source == source
    assert file.sha256 == hashlib.sha256(source).hexdigest()
    assert not file.text.startswith("\ufeff")


def test_a_link_is_refused_and_a_folder_that_is_one_is_not(tmp_path: Path) -> None:
    """A report shows lines of the file, and a link can name any that the grader may read."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "real.py").write_text("x = 1\n")
    (tmp_path / "link.py").symlink_to("folder/real.py")
    (tmp_path / "other").symlink_to("folder")
    with pytest.raises(SubmissionProblem, match="it is a link, not a file"):
        read_submission(tmp_path / "link.py")
    assert read_submission(tmp_path / "other" / "real.py").source == b"x = 1\n"


@pytest.mark.parametrize(
    ("source", "verdict", "line", "words"),
    [
        (b"", "runtime_error", None, "is empty"),
        (b" \n\t\n", "runtime_error", None, "is empty"),
        (b"\xef\xbb\xbf", "runtime_error", None, "is empty"),
        (b"x = 1\nwhat = '\xe9'\n", "runtime_error", 2, "line 2 is not UTF-8"),
        (b"x = 1\n\0", "runtime_error", 2, "NUL"),
        ("x = 1\n".encode("utf-16"), "runtime_error", 1, "NUL"),
        (b"#" * (MAX_SOURCE_BYTES + 1), "runtime_error", None, "larger than 256 KiB"),
        (b"x = 1\ndef f(:\n", "compile_error", 2, "SyntaxError, line 2"),
        (b"if 1:\nx = 1\n", "compile_error", 2, "IndentationError, line 2"),
        (b"return 1\n", "compile_error", 1, "outside function"),
        (b"# coding: rot13\nx = 1\n", "compile_error", None, "rot13"),
        (b"-" * 100_000 + b"1", "compile_error", None, "nested too deeply"),
        (b"a" + b".a" * 50_000, "compile_error", None, "recursion"),
    ],
)
def test_what_is_no_python_is_refused_with_its_line(
    tmp_path: Path, source: bytes, verdict: str, line: int | None, words: str
) -> None:
    path = tmp_path / "kernel.py"
    path.write_bytes(source)
    with pytest.raises(SubmissionProblem) as caught:
        read_submission(path)
    fault = caught.value.fault
    assert (fault.verdict, fault.phase, fault.line) == (verdict, "load", line)
    assert words in fault.message


def make_nothing(path: Path) -> None:
    pass


def make_pipe(path: Path) -> None:
    os.mkfifo(path)


def make_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))


def make_device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def make_loop(path: Path) -> None:
    path.symlink_to(path.name)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (make_nothing, "cannot be read: there is no such file"),
        (Path.mkdir, "cannot be read: it is a directory"),
        (make_pipe, "cannot be read: it is a named pipe"),
        (make_socket, "cannot be read: it is a socket"),
        (make_device, "cannot be read: it is a link"),
        (make_loop, "cannot be read"),
    ],
)
def test_what_is_no_file_is_refused_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: object, words: str
) -> None:
    # A relative path, since the address of a socket is short.
    monkeypatch.chdir(tmp_path)
    path = Path("kernel.py")
    assert callable(make)
    make(path)
    with pytest.raises(SubmissionProblem, match=words) as caught:
        read_submission(path)
    assert caught.value.file is None
    assert caught.value.fault.advice


def nested_finally(levels: int) -> bytes:
    """Each level doubles the code that the compiler makes."""
    lines = ["def f():"]
    lines += [
        f"{' ' * (level + 1)}try:\n{' ' * (level + 2)}pass\n{' ' * (level + 1)}finally:" for level in range(levels)
    ]
    return "\n".join([*lines, " " * (levels + 2) + "pass", ""]).encode()


@pytest.mark.parametrize("source", [nested_finally(19) * 8, b"(" * 300 + b")" * 300, b"-" * 200_000 + b"1"])
def test_what_the_compiler_cannot_manage_ends_soon_and_has_a_verdict(tmp_path: Path, source: bytes) -> None:
    path = tmp_path / "kernel.py"
    path.write_bytes(source)
    with pytest.raises(SubmissionProblem) as caught:
        read_submission(path)
    assert caught.value.fault.verdict == "compile_error"


def test_some_nesting_is_no_problem(tmp_path: Path) -> None:
    path = tmp_path / "kernel.py"
    path.write_bytes(nested_finally(6) + b"x = " + b"(" * 40 + b"1" + b")" * 40 + b"\n")
    assert read_submission(path).source
