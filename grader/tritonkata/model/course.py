"""A kata and a course, as their TOML files describe them."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec


class Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One function that a submission must define, with tensor parameters and results by name.

    `result_shape` and `result_dtype` say what every result must have: that
    of the first parameter, one element a row, or a fixed dtype.
    """

    name: str
    parameters: tuple[str, ...]
    results: tuple[str, ...]
    result_shape: Literal["input", "rows"] = "input"
    result_dtype: Literal["input", "float32"] = "input"


class Limits(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Deadlines in seconds of wall time, each for one request to a worker."""

    load_seconds: float = 20.0
    compile_seconds: float = 60.0
    case_seconds: float = 30.0


class TrafficBudget(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Traversals of the unit (the tensor parameter `unit`, in float32) that a kernel may and should need.

    `budget` is what passes; `par` is the best known. `counts` says whether stores count as well as loads: where
    results are a few numbers a row, passes are counted by the loads alone.
    """

    unit: str
    budget: float
    par: float
    counts: Literal["both", "loads"] = "both"


class KataFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`katas/<slug>/kata.toml`, key by key.

    `dtypes` are what the first parameter may have by the contract; hidden tests call the first entry point with each.
    """

    title: str
    summary: str
    entry_points: tuple[Entry, ...]
    traffic: TrafficBudget
    hints: tuple[str, ...]
    dtypes: tuple[Literal["float32", "float16", "bfloat16"], ...] = ("float32", "float16", "bfloat16")
    limits: Limits = Limits()
    prerequisites: tuple[str, ...] = ()


class CourseFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`katas/course.toml`: the format's version and the katas in teaching order."""

    format_version: int
    title: str
    katas: tuple[str, ...]


class Kata(msgspec.Struct, frozen=True):
    """One drill and where its files are."""

    slug: str
    file: KataFile
    folder: Path
    skeleton: Path
    reference: Path

    @property
    def root(self) -> Path:
        """The folder of its course."""
        return self.folder.parents[1]

    @property
    def brief(self) -> Path:
        """The text that the learner gets beside the skeleton."""
        return self.folder / "brief.md"

    @property
    def oracle(self) -> Path:
        """The float64 truth."""
        return self.reference / "oracle.py"

    @property
    def solution(self) -> Path:
        """The worked kernel."""
        return self.reference / "solution.py"

    @property
    def hidden(self) -> Path:
        """The folder of hidden tests."""
        return self.folder / "hidden"

    @property
    def mistakes(self) -> Path:
        """The wrong models."""
        return self.folder / "mistakes.py"

    @property
    def feedback(self) -> Path:
        """Templates of this kata's own."""
        return self.folder / "feedback"
