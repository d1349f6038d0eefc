"""Submissions that are more, or less, than a file of Python: made in a folder, since no repository can hold them."""

from __future__ import annotations

import os
import socket
import stat
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Ending = Literal["pass", "error"]


@dataclass(frozen=True)
class Maker:
    """What the builders have: an empty folder, a right solution, and a word that no report may hold."""

    folder: Path
    solution: str
    secret: str

    def file(self, name: str, content: bytes) -> Path:
        """A file of the folder."""
        path = self.folder / name
        path.write_bytes(content)
        return path


@dataclass(frozen=True)
class Special:
    """One builder: the path to grade, and the verdict that it must get. `id` is for the tests' names."""

    id: str
    make: Callable[[Maker], Path]
    verdict: Ending


class NotPossibleHere(Exception):
    """This machine does not let the test make such a file."""


def link_to_a_secret(maker: Maker) -> Path:
    """A link to a file that is no Python, and whose first line would be shown beside a syntax error."""
    target = maker.folder / "elsewhere" / "key"
    target.parent.mkdir()
    target.write_text(f"the key: {maker.secret}\n")
    return _link(maker, target)


def link_to_a_secret_in_python(maker: Maker) -> Path:
    """A link to a module that raises an error at import, with the secret in its line."""
    target = maker.folder / "elsewhere" / "settings.py"
    target.parent.mkdir()
    target.write_text(f'KEY = "{maker.secret}" + 1\n')
    return _link(maker, target)


def dangling_link(maker: Maker) -> Path:
    """A link to nothing."""
    return _link(maker, maker.folder / "nothing.py")


def link_to_itself(maker: Maker) -> Path:
    """A link that leads to itself."""
    return _link(maker, maker.folder / "doubled.py")


def named_pipe(maker: Maker) -> Path:
    """A pipe that nobody writes to."""
    path = maker.folder / "doubled.py"
    os.mkfifo(path)
    return path


def device(maker: Maker) -> Path:
    """A device without end, made in the folder.

    Raises:
        NotPossibleHere: only root may make one.
    """
    path = maker.folder / "doubled.py"
    try:
        os.mknod(path, stat.S_IFCHR | 0o600, os.makedev(1, 5))
    except PermissionError as error:
        raise NotPossibleHere(str(error)) from error
    return path


def local_socket(maker: Maker) -> Path:
    """A socket. Its path must be short, so it is bound from within the folder."""
    path = maker.folder / "doubled.py"
    before = os.getcwd()
    os.chdir(maker.folder)
    try:
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(path.name)
    finally:
        os.chdir(before)
    return path


def folder(maker: Maker) -> Path:
    """A folder with the name of a file."""
    path = maker.folder / "doubled.py"
    path.mkdir()
    return path


def below_a_file(maker: Maker) -> Path:
    """A path that goes on below a file."""
    return maker.file("doubled.py", maker.solution.encode()) / "doubled.py"


def empty(maker: Maker) -> Path:
    """No byte."""
    return maker.file("doubled.py", b"")


def white_space(maker: Maker) -> Path:
    """A byte order mark and blank lines."""
    return maker.file("doubled.py", b"\xef\xbb\xbf\n \t\n\x0c\n")


def hundred_megabytes(maker: Maker) -> Path:
    """The solution, and a comment of 100 MB after it."""
    path = maker.file("doubled.py", maker.solution.encode() + b"\n#")
    with path.open("ab") as file:
        for _ in range(100):
            file.write(b"x" * 1_000_000)
    return path


def hundred_megabytes_of_nothing(maker: Maker) -> Path:
    """A file with a hole of 100 MB."""
    path = maker.file("doubled.py", maker.solution.encode())
    os.truncate(path, 100_000_000)
    return path


def not_utf8(maker: Maker) -> Path:
    """Latin-1, without a declaration."""
    return maker.file("doubled.py", maker.solution.encode() + "# Größe\n".encode("latin-1"))


def declared_latin1(maker: Maker) -> Path:
    """Latin-1 with a declaration, which Python itself would accept."""
    return maker.file("doubled.py", b"# -*- coding: latin-1 -*-\n" + maker.solution.encode() + b"# Gr\xf6\xdfe\n")


def utf16(maker: Maker) -> Path:
    """UTF-16, which is full of NUL bytes."""
    return maker.file("doubled.py", maker.solution.encode("utf-16"))


def nul_bytes(maker: Maker) -> Path:
    """A NUL byte in a comment, after which some readers stop."""
    return maker.file("doubled.py", maker.solution.encode() + b"# \0 the end\n")


def byte_order_mark(maker: Maker) -> Path:
    """The solution as Windows editors write it."""
    return maker.file("doubled.py", b"\xef\xbb\xbf" + maker.solution.replace("\n", "\r\n").encode())


def old_line_ends(maker: Maker) -> Path:
    """The solution with the line ends of old Macs, which Python accepts."""
    return maker.file("doubled.py", maker.solution.replace("\n", "\r").encode())


def _link(maker: Maker, target: Path) -> Path:
    path = maker.folder / "doubled.py"
    path.symlink_to(target)
    return path


def _named(name: bytes) -> Callable[[Maker], Path]:
    def make(maker: Maker) -> Path:
        path = Path(os.fsdecode(os.fsencode(maker.folder) + b"/" + name))
        path.write_text(maker.solution)
        return path

    return make


SPECIALS = (
    Special("link-to-a-secret", link_to_a_secret, "error"),
    Special("link-to-a-secret-in-python", link_to_a_secret_in_python, "error"),
    Special("dangling-link", dangling_link, "error"),
    Special("link-to-itself", link_to_itself, "error"),
    Special("named-pipe", named_pipe, "error"),
    Special("device", device, "error"),
    Special("socket", local_socket, "error"),
    Special("folder", folder, "error"),
    Special("below-a-file", below_a_file, "error"),
    Special("empty", empty, "error"),
    Special("white-space", white_space, "error"),
    Special("100-MB", hundred_megabytes, "error"),
    Special("100-MB-of-nothing", hundred_megabytes_of_nothing, "error"),
    Special("not-utf8", not_utf8, "error"),
    Special("declared-latin1", declared_latin1, "error"),
    Special("utf16", utf16, "error"),
    Special("nul-bytes", nul_bytes, "error"),
    Special("byte-order-mark", byte_order_mark, "pass"),
    Special("old-line-ends", old_line_ends, "pass"),
    Special("name-newline", _named(b"doubled\n5 of 5 passed\n.py"), "pass"),
    Special("name-quotes", _named(b'it\'s "doubled" `id` $(id) & <b> | 100%.py'), "pass"),
    Special("name-escapes", _named(b"\x1b[2J\x1b]0;pass\x07\x9b31m.py"), "pass"),
    Special("name-right-to-left", _named("\u202eyp.delbuod\u2066.py".encode()), "pass"),
    Special("name-markup", _named(b"{{ 1234 * 1111 }}<script>[a](b)**c**.py"), "pass"),
    Special("name-not-utf8", _named(b"doubled-\xff\xfe.py"), "pass"),
    Special("name-255-bytes", _named(b"d" * 252 + b".py"), "pass"),
    Special("name-like-an-option", _named(b"--engine=none -rf.py"), "pass"),
    Special("name-of-a-library", _named(b"torch.py"), "pass"),
)
