"""pytest over a kata's hidden tests, apart from whatever pytest the learner or the author has set up."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tritonkata.doing import doing

_OPTIONS = (
    "--import-mode=importlib",
    "--noconftest",
    "--assert=plain",
    "-p",
    "no:cacheprovider",
    "-p",
    "no:terminal",
    "-p",
    "no:faulthandler",
    "-p",
    "no:doctest",
    "-p",
    "no:junitxml",
    "-p",
    "no:logging",
    "-c",
    os.devnull,
    "--capture=no",
)


def run_pytest(folder: Path, plugin: object, *options: str) -> int | pytest.ExitCode:
    """Run the tests of a folder with one plugin; what happens is the plugin's to note."""
    arguments = [*_OPTIONS, *options, f"--rootdir={folder}", str(folder)]
    with doing(f"the tests of {folder}"), _no_foreign_plugins(), _forgotten_modules(folder):
        return pytest.main(arguments, plugins=[plugin])


@contextmanager
def _forgotten_modules(folder: Path) -> Iterator[None]:
    """Forget the hidden tests' modules: two katas may have files of the same name."""
    before = set(sys.modules)
    try:
        yield
    finally:
        for name in set(sys.modules) - before:
            if Path(getattr(sys.modules[name], "__file__", None) or "/").is_relative_to(folder):
                del sys.modules[name]


@contextmanager
def _no_foreign_plugins() -> Iterator[None]:
    """Keep the learner's pytest settings and installed plugins out of the hidden tests."""
    changed = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": "", "PYTEST_PLUGINS": ""}
    before = {name: os.environ.get(name) for name in changed}
    os.environ.update(changed)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
