"""The author's gate: every promise of a kata, tried."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from tritonkata.authoring.files import course_problems
from tritonkata.authoring.grading import (
    example_not_graded,
    examples_of,
    graded_example,
    graded_mutant,
    mutant_not_graded,
)
from tritonkata.authoring.matrix import Example, KataResult, Mutant, Role, Verification
from tritonkata.authoring.mutants import Mutation, mutations
from tritonkata.authoring.problems import problems_of
from tritonkata.courses import Course
from tritonkata.crew.crew import Crew, ProcessEnded, open_crew
from tritonkata.crew.job import Job
from tritonkata.engine.engines import EngineName
from tritonkata.engine.machine import gpus_for
from tritonkata.engine.workers import hidden_in
from tritonkata.model.course import Kata

DEFAULT_SEED = 20

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Plan:
    """How much to try, and how. `mutants` bounds the mutants of each kata; None tries all."""

    engine: EngineName = "interpreter"
    seed: int = DEFAULT_SEED
    jobs: int = 2
    mutants: int | None = 0


@dataclass(frozen=True)
class _Begun:
    """One kata whose files are being graded."""

    kata: Kata
    examples: tuple[tuple[Role, Path, Job[Example]], ...]
    mutants: tuple[tuple[Mutation, Job[Mutant]], ...]


def verify(
    course: Course,
    slugs: Sequence[str],
    plan: Plan,
    progress: Progress = lambda _: None,
    tell: Callable[[KataResult], None] = lambda _: None,
) -> Verification:
    """Examine the katas of these names, and grade the examples of those whose files are in order.

    Args:
        course: where the katas are.
        slugs: their names, also of such as cannot be used; the course's own files are looked at if all are named.
        plan: how much to try.
        progress: told what is going on.
        tell: given each kata's result as soon as it is complete, in the order of `slugs`.

    Raises:
        UnknownKata: the course has no kata of such a name.
        GraderError: no process that grades can be started.
    """
    began = time.monotonic()
    whole = set(slugs) >= {*course.slugs, *course.broken}
    results: list[KataResult] = []
    with open_crew(plan.jobs, gpus=gpus_for(plan.engine), hidden=hidden_in(course.root)) as crew:
        for begun in _begin(course, slugs, plan, crew, progress):
            results.append(begun if isinstance(begun, KataResult) else _ended(begun, progress))
            tell(results[-1])
    return Verification(
        course=course.file.title,
        engine=plan.engine,
        seed=plan.seed,
        katas=tuple(results),
        problems=course_problems(course) if whole else (),
        seconds=round(time.monotonic() - began, 3),
    )


def chosen_mutants(kata: Kata, seed: int, most: int | None) -> tuple[Mutation, ...]:
    """Mutants of a kata's solution: all, or that many of them, drawn with the seed."""
    found = mutations(kata.solution.read_text(encoding="utf-8"))
    if most is None or len(found) <= most:
        return found
    return tuple(found[place] for place in sorted(Random(seed).sample(range(len(found)), most)))


def _begin(
    course: Course, slugs: Sequence[str], plan: Plan, crew: Crew, progress: Progress
) -> list[_Begun | KataResult]:
    """Look at all files first: then every processor has something to grade until the end."""
    katas = {slug: _kata(course, slug) for slug in slugs}
    looks = {slug: crew.submit(problems_of, kata) for slug, kata in katas.items() if isinstance(kata, Kata)}
    begun: list[_Begun | KataResult] = []
    for slug, kata in katas.items():
        progress(f"{slug}: files")
        if isinstance(kata, KataResult):
            begun.append(kata)
            continue
        problems = _looked(looks[slug], kata)
        begun.append(KataResult(slug, kata.file.title, problems=problems) if problems else _graded(kata, plan, crew))
    return begun


def _looked(look: Job[tuple[str, ...]], kata: Kata) -> tuple[str, ...]:
    try:
        return look.result()
    except ProcessEnded as error:
        return (f"{kata.folder}: {error}",)


def _kata(course: Course, slug: str) -> Kata | KataResult:
    if slug in course.broken:
        return KataResult(slug, problems=(course.broken[slug],))
    return course.kata(slug)


def _graded(kata: Kata, plan: Plan, crew: Crew) -> _Begun:
    how = (plan.engine, plan.seed)
    return _Begun(
        kata,
        tuple((role, path, crew.submit(graded_example, kata, role, path, *how)) for role, path in examples_of(kata)),
        tuple(
            (one, crew.submit(graded_mutant, kata, one, *how)) for one in chosen_mutants(kata, plan.seed, plan.mutants)
        ),
    )


def _ended(begun: _Begun, progress: Progress) -> KataResult:
    kata = begun.kata
    examples: list[Example] = []
    mutants: list[Mutant] = []
    for number, (role, path, example) in enumerate(begun.examples, start=1):
        progress(f"{kata.slug}: example {number} of {len(begun.examples)}")
        try:
            examples.append(example.result())
        except ProcessEnded as error:
            examples.append(example_not_graded(kata, role, path, str(error)))
    for number, (mutation, mutant) in enumerate(begun.mutants, start=1):
        progress(f"{kata.slug}: mutant {number} of {len(begun.mutants)}")
        try:
            mutants.append(mutant.result())
        except ProcessEnded as error:
            mutants.append(mutant_not_graded(mutation, str(error)))
    return KataResult(kata.slug, kata.file.title, kata.file.dtypes, (), tuple(examples), tuple(mutants))
