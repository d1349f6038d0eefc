"""The files of the built-in course. What each of them is graded with, `kata verify` tells: `make test` runs it."""

from __future__ import annotations

import pytest

from tritonkata.authoring.files import course_problems
from tritonkata.authoring.problems import problems_of
from tritonkata.courses import load_course
from tritonkata.model.course import Kata

COURSE = load_course()


def test_every_kata_can_be_used_and_no_file_belongs_to_none() -> None:
    assert COURSE.broken == {}
    assert course_problems(COURSE) == ()


@pytest.mark.parametrize("kata", COURSE.katas, ids=COURSE.slugs)
def test_the_files_are_in_order(kata: Kata) -> None:
    assert problems_of(kata) == ()
