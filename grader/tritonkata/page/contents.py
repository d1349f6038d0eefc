"""What stands where on the page, in words and pictures."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from markupsafe import Markup

from tritonkata.feedback.clean import one_line
from tritonkata.feedback.numbers import few, number, plural
from tritonkata.model.course import Kata
from tritonkata.page import charts
from tritonkata.page.model import CheckRate, Failure, Gathered, Left, Part

_MOODS = {"passed": "pass", "failed": "fail", "not gradable": "fail", "grader failed": "error"}
_UNNAMED: Mapping[Failure, str] = {
    "unreadable_file": "It cannot be read as Python: it is empty, too large, no UTF-8 text or no file.",
    "wrong_output": "The numbers are wrong in a way that no known mistake explains.",
    "out_of_bounds": "The kernel reads or writes outside its tensors.",
    "uninitialised_read": "The result depends on memory that nobody wrote.",
    "race": "Several programs write the same element.",
    "compile_error": "Python or the compiler refuses the file.",
    "runtime_error": "The file or a call ends in an error.",
    "timeout": "It takes longer than the limit.",
    "forbidden_host_op": "The host does what the kernel is to do.",
    "over_budget": "The numbers are right, and too many bytes are moved.",
    "too_slow": "The numbers are right, and it takes too long.",
    "invalid_output": "What is returned has the wrong form.",
}


@dataclass(frozen=True)
class Taught:
    """One row of what to teach next. Where `is_named` is false, `name` is a verdict and no mistake was recognised."""

    name: str
    description: str
    parts: tuple[int, ...]
    is_named: bool


@dataclass(frozen=True)
class Scores:
    """The distribution of scores as a picture, in words and as rows."""

    picture: Markup
    caption: str
    rows: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Traffic:
    """The picture of the traffic, None where nothing was measured, and what to say with it."""

    title: str
    picture: Markup | None
    caption: str
    remarks: tuple[str, ...]


@dataclass(frozen=True)
class Row:
    """One row of the table of students. `find` holds further words that the search looks through."""

    part: Part
    score: str
    traffic: str
    speed: str
    mood: str
    find: str


@dataclass(frozen=True)
class Page:
    """Everything that the template lays out: the row of part number 1 is the first, and so on."""

    title: str
    subtitle: str
    figures: tuple[tuple[str, str], ...]
    remarks: tuple[str, ...]
    scores: Scores | None
    checks: tuple[CheckRate, ...]
    mistakes: tuple[Taught, ...]
    traffic: Traffic
    left_out: tuple[Left, ...]
    rows: tuple[Row, ...]
    table_caption: str
    has_traffic: bool
    has_speed: bool
    is_anonymous: bool


def page_of(gathered: Gathered, kata: Kata, left_out: tuple[Left, ...], *, is_anonymous: bool) -> Page:
    """What the page says of a class of at least one submission."""
    parts = gathered.parts
    find = _further_words(gathered)
    return Page(
        title=one_line(kata.file.title),
        subtitle=". ".join(_subtitle(gathered)),
        figures=tuple(_figures(gathered)),
        remarks=gathered.absent,
        scores=_scores(parts),
        checks=gathered.checks,
        mistakes=tuple(_taught(gathered)),
        traffic=_traffic(parts, kata),
        left_out=left_out,
        rows=tuple(_row(part, find[part.number]) for part in parts),
        table_caption=f"{plural(len(parts), 'submission')} of {plural(gathered.students, 'student')}; times in UTC.",
        has_traffic=any(part.traversals is not None for part in parts),
        has_speed=any(part.fraction_of_copy is not None for part in parts),
        is_anonymous=is_anonymous,
    )


def _subtitle(gathered: Gathered) -> Iterator[str]:
    first, last = gathered.graded
    yield f"Graded {first if first == last else f'{first} to {last}'}, UTC"
    yield f"Engine: {'; '.join(few(gathered.engines))}"


def _figures(gathered: Gathered) -> Iterator[tuple[str, str]]:
    parts = gathered.parts
    verdicts = Counter(part.verdict for part in parts)
    yield "submissions", str(len(parts))
    yield "students", str(gathered.students)
    yield from ((verdict, str(verdicts[verdict])) for verdict in _MOODS if verdicts[verdict])
    scores = [part.score for part in parts if part.score is not None]
    if scores:
        yield "median score", f"{number(statistics.median(scores), 3)} of {number(_most(parts), 4)}"
    medals = Counter(part.medal for part in parts)
    yield from ((medal, str(medals[medal])) for medal in ("gold", "silver", "bronze") if medals[medal])
    by_hand = sum(bool(part.override) for part in parts)
    if by_hand:
        yield "set by hand", str(by_hand)


def _most(parts: tuple[Part, ...]) -> float:
    return max((part.most for part in parts), default=0.0)


def _scores(parts: tuple[Part, ...]) -> Scores | None:
    scores = sorted(part.score for part in parts if part.score is not None)
    if not scores:
        return None
    bins = charts.bins_of(scores, _most(parts))
    quarters = statistics.quantiles(scores, n=4, method="inclusive") if len(scores) > 1 else [scores[0]] * 3
    shown = [number(one, 3) for one in (statistics.fmean(scores), *quarters)]
    without = len(parts) - len(scores)
    caption = (
        f"{plural(len(scores), 'submission')}: mean {shown[0]}, median {shown[2]}, the middle half from {shown[1]} to "
        f"{shown[3]}, of {number(_most(parts), 4)}."
        + _beyond(charts.outside(scores, _most(parts)), _most(parts))
        + (f" {plural(without, 'submission')} without a score: the grader failed there." if without else "")
    )
    rows = tuple((charts.span_words(bins, place), one.count) for place, one in enumerate(bins))
    return Scores(Markup(charts.histogram(bins, caption)), caption, rows)


def _beyond(outside: int, most: float) -> str:
    """That the picture does not show how far scores by hand lie outside of it."""
    if not outside:
        return ""
    lie, are = ("lies", "is") if outside == 1 else ("lie", "are")
    return f" {plural(outside, 'score')} {lie} outside 0 to {number(most, 4)} and {are} drawn at the end."


def _taught(gathered: Gathered) -> Iterator[Taught]:
    named = [Taught(one.name, one.description, one.parts, True) for one in gathered.mistakes]
    unnamed = [
        Taught(one.verdict.replace("_", " "), _UNNAMED.get(one.verdict, ""), one.parts, False)
        for one in gathered.unnamed
    ]
    yield from sorted([*named, *unnamed], key=lambda one: -len(one.parts))


def _further_words(gathered: Gathered) -> dict[int, str]:
    """For each part's number, its mistakes besides the main one, which its row shows."""
    words: dict[int, list[str]] = {part.number: [] for part in gathered.parts}
    for mistake in gathered.mistakes:
        for place in mistake.parts:
            if gathered.parts[place - 1].diagnosis != mistake.name:
                words[place].append(mistake.name)
    return {place: " ".join(found) for place, found in words.items()}


def _traffic(parts: tuple[Part, ...], kata: Kata) -> Traffic:
    counted = [part for part in parts if part.traversals is not None]
    timed = [part for part in counted if part.fraction_of_copy is not None]
    title = "Traffic against speed" if timed else "Traffic"
    if not counted:
        return Traffic(title, None, "", ("No traffic was measured: no kernel came so far.",))
    caption = " ".join(_traffic_words(counted, timed, kata))
    draw = charts.scatter if timed else charts.traffic_bars
    remarks = []
    if not timed:
        remarks.append("No speed was measured: timing needs a GPU. Traffic is shown alone.")
    elif len(timed) < len(counted):
        remarks.append(
            f"{plural(len(counted) - len(timed), 'submission')} with traffic and no speed: not in the picture."
        )
    if len(counted) < len(parts):
        remarks.append(
            f"{plural(len(parts) - len(counted), 'submission')} without measured traffic: not in the picture."
        )
    picture = Markup(draw(timed or counted, kata, caption))
    return Traffic(title, picture, caption, tuple(remarks))


def _traffic_words(counted: list[Part], timed: list[Part], kata: Kata) -> Iterator[str]:
    limits = kata.file.traffic
    within = sum(part.is_within for part in counted)
    loads = " (loads alone count here)" if limits.counts == "loads" else ""
    yield (
        f"Traversals of {one_line(limits.unit)} that the kernel asks for{loads}; par is {number(limits.par, 4)}, "
        f"the budget {number(limits.budget, 4)}, and {within} of {len(counted)} keep to it."
    )
    if timed:
        fractions = [100 * part.fraction_of_copy for part in timed if part.fraction_of_copy is not None]
        yield f"Speed is a share of a copy's (100 %); the median is {number(statistics.median(fractions), 3)} %."
        yield "Circles passed every check, squares did not; those that would cover each other stand side by side."
    outside = charts.beyond(timed or counted, kata)
    if outside:
        yield f"{plural(outside, 'submission')} beyond the right edge, drawn on it."


def _row(part: Part, find: str) -> Row:
    share = part.fraction_of_copy
    return Row(
        part=part,
        score="" if part.score is None else number(part.score),
        traffic="" if part.traversals is None else number(part.traversals, 4),
        speed="" if share is None else number(100 * share, 3),
        mood=_MOODS[part.verdict],
        find=find,
    )
