"""The truth of a kata, as its hidden tests and the diagnosis ask for it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from tritonkata.hidden.course_code import CourseFault, course_code, in_course, read_only
from tritonkata.hidden.loading import load_module
from tritonkata.model.course import Entry, Kata


class Oracle:
    """The module `oracle.py`, callable as its first entry point.

    Its functions get arrays that they can only read, and an entry point's results must have the form that `kata.toml`
    says: the submission is held against them.
    """

    def __init__(self, kata: Kata) -> None:
        self._file = kata.oracle
        self._entries = {entry.name: entry for entry in kata.file.entry_points}
        self._module = load_module(kata.oracle, f"oracle_{kata.slug}")

    def __call__(self, *arguments: Any) -> Any:
        """The truth of the first entry point."""
        return getattr(self, next(iter(self._entries)))(*arguments)

    def __getattr__(self, name: str) -> Any:
        entry = self._entries.get(name)
        found: Any = getattr(self._module, name) if entry is None else getattr(self._module, name, None)
        if entry is not None and not callable(found):
            raise CourseFault(f"{in_course(self._file)}: does not define {name}; write its float64 truth")
        return partial(self._called, name, found) if inspect.isfunction(found) or entry is not None else found

    def _called(self, name: str, function: Callable[..., Any], *arguments: Any, **more: Any) -> Any:
        with course_code(self._file, name):
            result = function(*map(read_only, arguments), **{key: read_only(value) for key, value in more.items()})
        entry = self._entries.get(name)
        return result if entry is None else self._formed(entry, result, next(iter((*arguments, *more.values())), None))

    def _formed(self, entry: Entry, result: Any, first: Any) -> Any:
        """The results as arrays.

        Raises:
            CourseFault: they are not what `kata.toml` says.
        """
        with course_code(self._file, entry.name):
            arrays = tuple(np.asarray(one) for one in (result if isinstance(result, tuple) else (result,)))
        shape = np.shape(first) if entry.result_shape == "input" else np.shape(first)[:1]
        if len(arrays) != len(entry.results):
            raise self._odd(entry, f"{len(arrays)} results, and kata.toml names {len(entry.results)}")
        for name, array in zip(entry.results, arrays, strict=True):
            if array.shape != shape:
                raise self._odd(entry, f"{name} the shape {array.shape}, and by kata.toml it is {shape}")
            if array.dtype != np.float64:
                raise self._odd(entry, f"{name} the dtype {array.dtype}, and the truth is float64")
        return arrays if len(arrays) > 1 else arrays[0]

    def _odd(self, entry: Entry, what: str) -> CourseFault:
        return CourseFault(f"{in_course(self._file)}: {entry.name} gives {what}; correct it")
