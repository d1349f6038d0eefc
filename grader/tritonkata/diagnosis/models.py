"""Diagnosis by wrong models: output that a known mistake would give names the mistake."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import GeneratorType, ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tritonkata.hidden.candidate import Call
from tritonkata.hidden.course_code import course_code, read_only

Array = NDArray[Any]
Truth = Callable[[Call], tuple[Array, ...]]

CASES_COMPARED = 24
ELEMENTS_COMPARED = 1 << 20
FEW = 8
"""One in so many right outputs may contradict a model that is accepted."""
RELATIVE = {"float32": 2e-4, "float16": 4e-3, "bfloat16": 3.2e-2}
ABSOLUTE = {"float32": 1e-30, "float16": 1.2e-7, "bfloat16": 1e-30}

_NO_MEANING = (ValueError, IndexError, ZeroDivisionError)
"""How a model says that its mistake has no meaning for an input (say, a matrix that is not square)."""


@dataclass(frozen=True)
class WrongModel:
    """One well-known mistake as a formula, and the file that it stands in."""

    diagnosis: str
    sentence: str
    function: Callable[..., Any]
    file: Path


@dataclass(frozen=True)
class Match:
    """One accepted model. `explained` holds the ids of the calls whose wrong outputs it reproduces.

    `alternatives` are models that nothing told from it.
    """

    model: WrongModel
    explained: frozenset[int]
    alternatives: tuple[WrongModel, ...] = ()


def wrong_models(module: ModuleType) -> tuple[WrongModel, ...]:
    """The public functions of a mistakes module, in the order of the file."""
    found = [
        (function.__code__.co_firstlineno, name, function)
        for name, function in vars(module).items()
        if inspect.isfunction(function) and function.__module__ == module.__name__ and not name.startswith("_")
    ]
    file = Path(getattr(module, "__file__", None) or module.__name__)
    return tuple(
        WrongModel(name, (inspect.getdoc(function) or name).splitlines()[0], function, file)
        for _, name, function in sorted(found)
    )


Separate = Callable[[tuple[WrongModel, ...], Call], tuple[WrongModel, ...]]
"""Those of some models that are left after one more case, made from a call that all of them explain."""


def accepted(
    models: Iterable[WrongModel], wrong: list[Call], right: list[Call], truth: Truth, separate: Separate | None = None
) -> list[Match]:
    """The models that more calls speak for than against, best first.

    For a model speak the wrong outputs that it reproduces. Against it speak
    the right outputs that it would have got wrong (a few among many do not, since a learner's variant
    need not be the author's), and the wrong outputs that no model reproduces:
    where most are a riddle, one that fits does so by chance. A file may hold two
    mistakes, so what the best model does not explain is judged again without it. Models that are
    as good on all calls are told apart by one more case, if `separate` finds one; otherwise the one that
    stands first in the file is named, with the others as alternatives.
    """
    wrong = [call for call in wrong if _is_comparable(call)][:CASES_COMPARED]
    right = [call for call in right if _is_comparable(call)][:CASES_COMPARED]
    table = {model: frozenset(id(call) for call in wrong if explains(model, call, truth)) for model in models}
    left = frozenset(id(call) for call in wrong)
    riddles = len(left - frozenset().union(*table.values()))
    contradicted = {model: sum(_contradicts(model, call) for call in right) for model in table if table[model]}
    against = {model: riddles + _opposition(count, len(right)) for model, count in contradicted.items()}
    found: list[Match] = []
    while left and against:
        best = max(against, key=lambda model: (len(table[model] & left) - against[model], -contradicted[model]))
        explained = table[best] & left
        if len(explained) <= against[best]:
            break
        tied = tuple(
            model for model in against if table[model] & left == explained and contradicted[model] == contradicted[best]
        )
        if len(tied) > 1 and separate is not None:
            tied = separate(tied, next(call for call in wrong if id(call) in explained))
        found.append(Match(tied[0], explained, tied[1:]))
        against = {model: count for model, count in against.items() if model not in tied}
        left -= explained
    return found


def differ(models: Sequence[WrongModel], call: Call) -> bool:
    """Whether some two of the models would give different outputs for the arguments of a call."""
    first, *others = (list(_predictions(model, call)) for model in models)
    return any(not _share_a_prediction(first, other, call) for other in others)


def _share_a_prediction(one: list[tuple[Array, ...]], other: list[tuple[Array, ...]], call: Call) -> bool:
    return any(
        all(_agree(a, b.astype(output.dtype)) for a, b, output in zip(left, right, call.outputs, strict=True))
        for left in one
        for right in other
    )


def _opposition(contradicted: int, right: int) -> int:
    """How many right outputs count against a model; none if they are few among many."""
    return 0 if contradicted * FEW <= right else contradicted


def _is_comparable(call: Call) -> bool:
    return bool(call.outputs) and all(0 < output.size <= ELEMENTS_COMPARED for output in call.outputs)


def explains(model: WrongModel, call: Call, truth: Truth) -> bool:
    """Whether the outputs of a call are what the model gives, and not what is right."""
    right = truth(call)
    for predicted in _predictions(model, call):
        if not _all_agree(predicted, call.outputs, right):
            continue
        if not _all_agree(right, predicted, right):
            return True
    return False


def _contradicts(model: WrongModel, call: Call) -> bool:
    predictions = list(_predictions(model, call))
    return bool(predictions) and not any(_all_agree(predicted, call.outputs, predicted) for predicted in predictions)


def _predictions(model: WrongModel, call: Call) -> Iterator[tuple[Array, ...]]:
    """What the model would have returned, one tuple for each value of its free parameter.

    Raises:
        CourseFault: it raised anything but one of `_NO_MEANING`, or changed an argument.
    """
    try:
        with course_code(model.file, model.diagnosis, _NO_MEANING), np.errstate(all="ignore"):
            result = model.function(*map(read_only, call.arguments))
            results = result if isinstance(result, GeneratorType) else (result,)
            for one in results:
                arrays = one if isinstance(one, tuple) else (one,)
                if len(arrays) == len(call.outputs):
                    yield tuple(np.asarray(array, dtype=np.float64) for array in arrays)
    except _NO_MEANING:
        return


def _all_agree(predicted: tuple[Array, ...], outputs: tuple[Array, ...], truth: tuple[Array, ...]) -> bool:
    if len(predicted) != len(outputs) or len(truth) != len(outputs):
        return False
    return all(_agree(model, output) for model, output in zip(predicted, outputs, strict=True))


def _agree(predicted: Array, output: Array) -> bool:
    """Equal after rounding to the output's dtype, with NaN and infinity in the same places."""
    if predicted.shape != output.shape:
        return False
    name = str(output.dtype) if str(output.dtype) in RELATIVE else "float32"
    with np.errstate(all="ignore"):
        rounded = predicted.astype(output.dtype).astype(np.float64)
    got = output.astype(np.float64)
    return bool(np.allclose(rounded, got, rtol=RELATIVE[name], atol=ABSOLUTE[name], equal_nan=True))
