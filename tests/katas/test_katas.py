"""The author's gate over the built-in course, spread over the workers of pytest-xdist.

`make test` runs the same as `kata verify`, which prints the matrix; here each file is a test of its own. Every file is
graded once, by whichever test asks first, and the result is shared between the workers.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest

from tritonkata.authoring.files import course_problems
from tritonkata.authoring.gate import DEFAULT_SEED
from tritonkata.authoring.grading import examples_of, graded_example
from tritonkata.authoring.matrix import Example, KataResult, Role
from tritonkata.authoring.problems import problems_of
from tritonkata.courses import load_course
from tritonkata.model.course import Kata

Graded = Callable[[Kata, Role, Path], Example]

COURSE = load_course()
EXAMPLES = [(kata, role, path) for kata in COURSE.katas for role, path in examples_of(kata)]


@contextmanager
def locked(path: Path) -> Iterator[None]:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


@pytest.fixture(scope="session")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Graded:
    own = tmp_path_factory.getbasetemp()
    shared = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "graded"
    shared.mkdir(exist_ok=True)

    def grade(kata: Kata, role: Role, path: Path) -> Example:
        result = shared / "-".join((kata.slug, *path.relative_to(COURSE.root).with_suffix(".json").parts))
        with locked(result.with_suffix(".lock")):
            if not result.exists():
                result.write_bytes(msgspec.json.encode(graded_example(kata, role, path, "interpreter", DEFAULT_SEED)))
            return msgspec.json.decode(result.read_bytes(), type=Example)

    return grade


def named(example: tuple[Kata, Role, Path]) -> str:
    kata, role, path = example
    return f"{kata.slug}-{f'{path.parent.name}-{path.stem}' if role == 'wrong' else role}"


def test_every_kata_can_be_used_and_no_file_belongs_to_none() -> None:
    assert COURSE.broken == {}
    assert course_problems(COURSE) == ()


@pytest.mark.parametrize("kata", COURSE.katas, ids=COURSE.slugs)
def test_the_files_are_in_order(kata: Kata) -> None:
    assert problems_of(kata) == ()


@pytest.mark.slow
@pytest.mark.parametrize(("kata", "role", "path"), EXAMPLES, ids=map(named, EXAMPLES))
def test_a_file_gets_what_its_role_promises(graded: Graded, kata: Kata, role: Role, path: Path) -> None:
    example = graded(kata, role, path)
    assert example.problem == "", example.verdicts


@pytest.mark.slow
@pytest.mark.parametrize("kata", COURSE.katas, ids=COURSE.slugs)
def test_every_promise_of_the_kata_is_kept(graded: Graded, kata: Kata) -> None:
    """Last, when there is little left to grade: this looks at all examples of a kata together."""
    examples = tuple(graded(kata, role, path) for role, path in examples_of(kata))
    result = KataResult(kata.slug, kata.file.title, kata.file.dtypes, examples=examples)
    assert result.failures == ()
    assert result.passes
