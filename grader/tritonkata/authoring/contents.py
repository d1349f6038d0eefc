"""What the files of a kata say, and whether they agree with one another."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from typing import get_args

from tritonkata.authoring.files import entries
from tritonkata.diagnosis.models import wrong_models
from tritonkata.engine.client import GraderError
from tritonkata.feedback.templates import SUFFIX, TEMPLATES
from tritonkata.hidden.collecting import collect_checks
from tritonkata.hidden.loading import load_module
from tritonkata.model.course import Kata
from tritonkata.model.faults import Verdict

MIN_HINTS = 3
_TODO = re.compile(r"TODO \d+")
_ANSWER_ASSERTIONS = frozenset({"assert_answer", "assert_calls", "assert_function"})


def toml(kata: Kata) -> Iterator[str]:
    """What a kata can be used without, and its learners should not miss."""
    path, file = kata.folder / "kata.toml", kata.file
    if len(file.hints) < MIN_HINTS:
        yield f"{path}: hints: has {len(file.hints)}, wants {MIN_HINTS}; add some, from gentle to concrete"
    yield from (f"{path}: hints[{n}]: is empty; write it" for n, hint in enumerate(file.hints) if not hint.strip())


def todos(kata: Kata) -> Iterator[str]:
    """The numbered places of the skeleton, and the brief that explains them."""
    brief = set(_TODO.findall(kata.brief.read_text(encoding="utf-8")))
    skeleton = set(_TODO.findall(kata.skeleton.read_text(encoding="utf-8")))
    if not skeleton | brief:
        yield f"{kata.skeleton}: has no TODO; number what the learner is to write: TODO 1, TODO 2"
    for todo in sorted(skeleton - brief):
        yield f"{kata.brief}: does not name {todo} of the skeleton; say there what it asks for"
    for todo in sorted(brief - skeleton):
        yield f"{kata.skeleton}: has no {todo}, which the brief names; mark the place, or take it out of the brief"
    if _TODO.search(kata.solution.read_text(encoding="utf-8")):
        yield f"{kata.solution}: still has a TODO of the skeleton; take it out"


def twice(kata: Kata) -> Iterator[str]:
    """Functions that another one of the same name replaces."""
    for path in (*sorted(kata.hidden.glob("*.py")), kata.mistakes, kata.oracle):
        if path.is_file():
            tree = ast.parse(path.read_bytes())
            names = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
            yield from (
                f"{path}: defines {name} twice, and the first is never called; rename one" for name in _repeated(names)
            )


def oracle(kata: Kata) -> Iterator[str]:
    """The truth of each entry point."""
    try:
        module = load_module(kata.oracle, f"oracle_{kata.slug}")
    except GraderError as error:
        yield f"{error}; correct it"
        return
    for entry in kata.file.entry_points:
        if not callable(getattr(module, entry.name, None)):
            yield f"{kata.oracle}: does not define {entry.name}; write its float64 truth"


def hidden(kata: Kata) -> Iterator[str]:
    """The hidden tests, as pytest collects them."""
    if not any(kata.hidden.glob("test_*.py")):
        return
    try:
        checks = collect_checks(kata)
    except GraderError as error:
        yield str(error)
        return
    names = [check.name for check in checks]
    for place, check in enumerate(checks):
        for name in check.depends:
            if name not in names:
                yield f"{kata.hidden}: the check {check.name!r} depends on {name!r}, which is no check; name one"
            elif name not in names[:place]:
                yield f"{kata.hidden}: the check {check.name!r} depends on {name!r}, which runs later; move it up"


def mistakes(kata: Kata) -> Iterator[str]:
    """The wrong models, and what is named after them."""
    if not kata.mistakes.is_file():
        return
    try:
        models, known = _models(kata), known_diagnoses(kata)
    except GraderError as error:
        yield f"{error}; correct it"
        return
    if not models:
        yield f"{kata.mistakes}: has no wrong model; write a public function for each well-known mistake"
    for name, docstring in models.items():
        if not docstring.strip():
            yield f"{kata.mistakes}: {name} has no docstring; its first line is the diagnosis in one sentence"
    for folder in entries(kata.folder / "wrong"):
        if folder.is_dir() and folder.name not in known:
            yield f"{folder}: nothing gives this diagnosis; write a wrong model of that name, or rename the folder"
    for path in kata.feedback.glob(f"[!_]*{SUFFIX}"):
        name = path.name.removesuffix(SUFFIX)
        if name not in known and name not in get_args(Verdict):
            yield f"{path}: is never shown, since nothing gives this diagnosis; rename it, or write a wrong model"


def known_diagnoses(kata: Kata) -> frozenset[str]:
    """Ids that something can give: a wrong model, a rule of the framework, or a hidden test about answers."""
    rules = {path.name.removesuffix(SUFFIX) for path in (TEMPLATES / "diagnosis").glob(f"*{SUFFIX}")}
    return frozenset(rules | set(_models(kata)) | _slips(kata))


def _models(kata: Kata) -> dict[str, str]:
    """Id and docstring of each wrong model."""
    if not kata.mistakes.is_file():
        return {}
    module = load_module(kata.mistakes, f"mistakes_{kata.slug}")
    return {model.diagnosis: model.function.__doc__ or "" for model in wrong_models(module)}


def _slips(kata: Kata) -> set[str]:
    """Ids that assertions about answers may give: any word of such hidden tests, and `answer_<name>`."""
    nodes = [node for path in kata.hidden.glob("test_*.py") for node in ast.walk(ast.parse(path.read_bytes()))]
    if not any(isinstance(node, ast.Name) and node.id in _ANSWER_ASSERTIONS for node in nodes):
        return set()
    words = {word for node in nodes for word in _words(node)}
    return words | {f"answer_{word.lower()}" for word in words}


def _words(node: ast.AST) -> Iterator[str]:
    """Slips stand in a table as texts, or are given by name."""
    match node:
        case ast.Constant(str(text)):
            yield text
        case ast.keyword(str(name)) | ast.FunctionDef(name):
            yield name


def _repeated(names: list[str]) -> list[str]:
    return [name for name, count in Counter(names).items() if count > 1]
