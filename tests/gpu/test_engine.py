"""The GPU engine on the course's own solutions. Needs one NVIDIA GPU.

Sandboxed tracers need bubblewrap; without it they run with process limits.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tritonkata.check import grade
from tritonkata.courses import load_course
from tritonkata.engine.engines import GpuEngine
from tritonkata.engine.workers import Assignment
from tritonkata.hidden.asserts import assert_matches
from tritonkata.hidden.loading import load_module
from tritonkata.model.course import Kata
from tritonkata.model.report import main_diagnosis

pytestmark = pytest.mark.gpu

COURSE = load_course()
SHAPES = [(8192, 4096), (512, 1000), (2048, 131072), (1, 1), (1 << 20, 8)]


ELEMENTWISE = [kata for kata in COURSE.katas if kata.file.entry_points[0].result_shape == "input"]
"""Katas whose result has an element for each score."""


@pytest.fixture(scope="module", params=ELEMENTWISE, ids=[kata.slug for kata in ELEMENTWISE])
def opened(request: pytest.FixtureRequest) -> Iterator[tuple[Kata, GpuEngine]]:
    kata: Kata = request.param
    engine = GpuEngine(Assignment.to_kata(kata, "solution.py", kata.solution.read_bytes()))
    yield kata, engine
    engine.close()


@pytest.mark.parametrize("shape", SHAPES, ids=[f"{rows}x{columns}" for rows, columns in SHAPES])
def test_the_solution_is_within_tolerance_at_full_size(opened: tuple[Kata, GpuEngine], shape: tuple[int, int]) -> None:
    kata, engine = opened
    rng = np.random.default_rng(7)
    x = rng.standard_normal(shape, dtype=np.float32)
    entry = kata.file.entry_points[0]
    arguments = [x] if "mask" not in entry.parameters else [x, np.zeros(shape, np.float32)]
    kind = "log_softmax" if kata.slug == "log_softmax" else "softmax"
    observation = engine.run(entry, tuple(arguments))
    assert observation.fault is None, observation.fault
    oracle = load_module(kata.oracle, f"oracle_{kata.slug}")
    for begin in range(0, shape[0], 1024):
        part = slice(begin, begin + 1024)
        expected = getattr(oracle, entry.name)(*(argument[part] for argument in arguments))
        assert_matches(observation.outputs[0][part], expected, scores=x[part], kind=kind)
        if begin > 8 * 1024:
            break


@pytest.mark.parametrize("kata", COURSE.katas, ids=COURSE.slugs)
def test_a_solution_passes_and_a_skeleton_fails_on_the_gpu(kata: Kata) -> None:
    report = grade(kata, kata.solution, engine="gpu", seed=20)
    assert report.verdict == "pass", [check for check in report.checks if check.verdict != "pass"]
    assert report.engine.name == "gpu"
    assert grade(kata, kata.skeleton, engine="gpu", seed=20).verdict == "fail"


@pytest.mark.parametrize("name", ["store_without_mask", "rows_not_stored"])
def test_mistakes_have_the_same_name_on_the_gpu(name: str) -> None:
    kata = COURSE.kata("safe_softmax")
    for path in sorted((kata.folder / "wrong" / name).glob("*.py")):
        report = grade(kata, path, engine="gpu", seed=20)
        assert (report.verdict, main_diagnosis(report)) == ("fail", name)


def test_a_kernel_that_never_ends_is_a_timeout_and_the_next_submission_is_served(tmp_path: Path) -> None:
    kata = load_course(Path(__file__).resolve().parents[1] / "course").kata("doubled")
    body = "    mask = cols < n_cols\n"
    # A volatile load in the condition: the compiler may drop a loop that does nothing.
    loop = "    n = 0\n    while tl.load(x_ptr, volatile=True) > -1e30:\n        n += 1\n    x_ptr += n\n"
    endless = tmp_path / "doubled.py"
    endless.write_text(kata.solution.read_text().replace(body, body + loop))
    report = grade(kata, endless, engine="gpu", seed=1)
    assert {check.name: check.verdict for check in report.checks}["values"] == "timeout"
    assert grade(kata, kata.solution, engine="gpu", seed=1).verdict == "pass"


def test_another_target_is_compiled_for_as_well_and_not_run() -> None:
    kata = load_course(Path(__file__).resolve().parents[1] / "course").kata("doubled")
    report = grade(kata, kata.solution, engine="gpu", target="gfx942", seed=1)
    assert report.verdict == "pass"
    assert {row.target for row in report.resources} == {report.engine.target, "gfx942"}
