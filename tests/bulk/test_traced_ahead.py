"""Plans that were made elsewhere give the same report, and nothing is traced again."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path

import pytest

from tritonkata.boundary.messages import DeviceFigures
from tritonkata.bulk.one import digest_of, graded
from tritonkata.bulk.tracing import traced
from tritonkata.courses import load_course
from tritonkata.engine.ahead import Ahead, Layout, Wanted
from tritonkata.engine.base import Tracer
from tritonkata.gradebook.types import Pending, Run, Settings
from tritonkata.model.course import Kata
from tritonkata.model.plan import LaunchPlan
from tritonkata.model.report import repeatable

COURSE = Path(__file__).resolve().parents[1] / "course"


@pytest.fixture(scope="module")
def kata() -> Kata:
    return load_course(COURSE).kata("doubled")


@pytest.fixture(scope="module")
def run(kata: Kata) -> Run:
    return Run(1, "doubled", Settings("interpreter", digest_of(kata), sandbox=False), 7)


def handed_in(source: bytes) -> Pending:
    return Pending(1, "student", "doubled.py", source, "")


@pytest.fixture(scope="module")
def wanted(kata: Kata, run: Run) -> Wanted:
    ahead = Ahead()
    assert graded(kata, run, handed_in(kata.solution.read_bytes()), ahead).verdict == "pass"
    assert ahead.wanted is not None
    return ahead.wanted


@pytest.fixture
def traces(monkeypatch: pytest.MonkeyPatch) -> list[Layout]:
    """What is traced during a test."""
    made: list[Layout] = []
    ask = Tracer._ask

    def noted(self: Tracer, entry: object, layout: Layout) -> object:
        made.append(layout)
        return ask(self, entry, layout)  # type: ignore[arg-type]

    monkeypatch.setattr(Tracer, "_ask", noted)
    return made


@pytest.mark.parametrize("name", ["solution", "times_three"])
def test_a_report_is_the_same_with_plans_made_before(
    kata: Kata, run: Run, wanted: Wanted, traces: list[Layout], name: str
) -> None:
    wrong = kata.folder / "wrong" / "tripled" / "times_three.py"
    one = handed_in((kata.solution if name == "solution" else wrong).read_bytes())
    alone = graded(kata, run, one)
    assert traces
    plans = pickle.loads(pickle.dumps(traced(kata, run, one, wanted)))
    assert tuple(plans) == wanted.layouts
    traces.clear()
    assert repeatable(graded(kata, run, one, Ahead(plans))) == repeatable(alone)
    assert traces == []


@pytest.mark.parametrize(
    "change",
    [
        lambda source: source.replace("def ", "def no "),
        lambda source: "raise RuntimeError('at import')\n" + source,
        lambda source: source.replace("2 * x", "2 * nothing"),
        lambda source: "import os; os._exit(3)",
    ],
    ids=["no Python", "no import", "no compilation", "no process"],
)
def test_what_cannot_be_traced_is_left_to_the_grading(
    kata: Kata, run: Run, wanted: Wanted, change: Callable[[str], str]
) -> None:
    one = handed_in(change(kata.solution.read_text()).encode())
    plans = traced(kata, run, one, wanted)
    assert plans == {}
    report = graded(kata, run, one, Ahead(plans))
    assert report.verdict in ("fail", "error")
    assert repeatable(report) == repeatable(graded(kata, run, one))


def test_what_is_wanted_grows_and_is_not_mixed_between_devices() -> None:
    first, second = (Layout(name, ()) for name in ("first", "second"))
    one = Wanted(DeviceFigures(), "sm_90", (first,))
    assert one.joined(None) == one
    assert one.joined(Wanted(DeviceFigures(), "sm_90", (second, first))).layouts == (first, second)
    assert one.joined(Wanted(DeviceFigures(), "sm_80", (second,))) == one


def test_a_plan_for_another_layout_is_not_taken() -> None:
    layout = Layout("first", ())
    plan = LaunchPlan("sm_90", 0, (), (), (), ())
    ahead = Ahead({layout: plan})
    ahead.loaded(DeviceFigures(), "sm_90")
    assert ahead.plan(layout) is plan
    assert ahead.plan(Layout("second", ())) is None
    assert ahead.wanted is not None
    assert len(ahead.wanted.layouts) == 2
