"""How hidden tests become outcomes, with an engine that computes in NumPy."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
import pytest
from numpy.typing import NDArray

from tritonkata.engine.client import GraderError
from tritonkata.hidden.plugin import Session, run_hidden_tests
from tritonkata.model.course import Entry, Kata, KataFile, TrafficBudget
from tritonkata.model.faults import Fault
from tritonkata.model.observation import INTERPRETER, LAUNCHER, TRACER, Observation
from tritonkata.model.plan import LaunchPlan
from tritonkata.model.report import Engine, Resources
from tritonkata.scoring import check_result, verdict_of

MODULES = ("asserts", "budget", "inputs")
HEAD = "import numpy as np, pytest\n" + "".join(f"from tritonkata.hidden.{name} import *\n" for name in MODULES)


class NumpyEngine:
    """Doubles in NumPy. The plugin is under test here, not an engine."""

    def __init__(
        self, fault: Fault | None = None, name: Literal["gpu", "interpreter"] = "interpreter", source: str = INTERPRETER
    ) -> None:
        self.fault = fault
        self.name = name
        self.source = source

    def describe(self) -> Engine:
        return Engine(self.name, "numpy", "sm_90")

    def load(self) -> None:
        return None

    def compile(self, entry: Entry, arguments: tuple[NDArray[Any], ...]) -> LaunchPlan | Fault:
        return LaunchPlan("sm_90", 1, (), (), (), ())

    def run(self, entry: Entry, arguments: tuple[NDArray[Any], ...]) -> Observation:
        if self.fault is not None:
            return Observation(self.source, fault=self.fault)
        return Observation("interpreter", outputs=(np.ascontiguousarray(arguments[0] * 2),))

    def access(self, entry: Entry, arguments: tuple[NDArray[Any], ...]) -> Observation:
        return self.run(entry, arguments)

    def traffic(self, entry: Entry, arguments: tuple[NDArray[Any], ...], *, counted: bool = True) -> Observation:
        return self.run(entry, arguments)

    def time(self, entry: Entry, cases: Any, copy_bytes: int, rounds: int = 1) -> tuple[Observation, ...]:
        return tuple(self.run(entry, arguments) for arguments in cases)

    def evaluate(self, name: str, calls: Any) -> Any:
        return self.fault

    def resources(self) -> tuple[Resources, ...]:
        return ()

    def notes(self) -> tuple[str, ...]:
        return ()

    def close(self) -> None:
        return None


def run(
    folder: Path, tests: str, engine: NumpyEngine | None = None, beside: Mapping[str, str] = MappingProxyType({})
) -> Session:
    hidden, reference = folder / "katas" / "k" / "hidden", folder / "reference" / "k"
    hidden.mkdir(parents=True)
    reference.mkdir(parents=True)
    (hidden / "test_k.py").write_text(HEAD + tests)
    for name, text in beside.items():
        (hidden / name).write_text(text)
    (reference / "oracle.py").write_text("import numpy as np\ndef f(x):\n    return 2 * np.asarray(x, np.float64)\n")
    file = KataFile("K", "k", (Entry("f", ("x",), ("y",)),), TrafficBudget("x", 2, 2), ())
    kata = Kata("k", file, hidden.parent, folder / "k.py", reference)
    return run_hidden_tests(kata, engine or NumpyEngine(), 5, lambda _: None)


def verdicts(session: Session) -> dict[str, str]:
    return {name: outcome.verdict for name, outcome in session.outcomes.items()}


SEVERAL = """
@pytest.mark.check("a", points=1)
@pytest.mark.parametrize("n", [1, 2])
def test_a(candidate, oracle, rng, n):
    x = normal(rng, (n, 3))
    assert_matches(candidate(x), oracle(x))

@pytest.mark.check("b", points=1)
@pytest.mark.parametrize("n", [1, 2, 3])
def test_b(candidate, oracle, rng, n):
    x = normal(rng, (n, 3))
    y = candidate(x)
    if n > 1:
        y[1, 2] = 9
    assert_matches(y, oracle(x))
"""


def test_a_check_of_several_tests_passes_when_all_do_and_stops_at_the_first_failure(tmp_path: Path) -> None:
    session = run(tmp_path, SEVERAL)
    assert verdicts(session) == {"a": "pass", "b": "wrong_output"}
    assert session.outcomes["a"].ran == 2
    assert [call.arguments[0].shape for call in session.calls if call.check == "b"] == [(1, 3), (2, 3)]
    assert session.outcomes["b"].call is session.calls[-1]


def test_a_dependency_that_failed_skips_and_is_named(tmp_path: Path) -> None:
    session = run(
        tmp_path,
        '@pytest.mark.check("a", title="First", points=1)\ndef test_a():\n    assert 1 == 2, "no"\n'
        '@pytest.mark.check("b", points=1, depends=("a",))\ndef test_b():\n    pass\n',
    )
    assert verdicts(session) == {"a": "wrong_output", "b": "skipped"}
    assert "First" in session.outcomes["b"].message


def test_what_needs_another_engine_is_absent_and_not_failed(tmp_path: Path) -> None:
    session = run(tmp_path, '@pytest.mark.check("a", points=1, engines=("gpu",))\ndef test_a():\n    assert 0\n')
    assert session.outcomes["a"].absent is not None
    assert session.outcomes["a"].verdict == "pass"


def test_a_fault_keeps_its_verdict(tmp_path: Path) -> None:
    fault = Fault(verdict="timeout", phase="kernel", message="too long")
    session = run(
        tmp_path,
        '@pytest.mark.check("a", points=1)\ndef test_a(candidate, rng):\n    candidate(normal(rng, (1, 2)))\n',
        NumpyEngine(fault),
    )
    assert verdicts(session) == {"a": "timeout"}
    assert session.outcomes["a"].evidence.fault == fault


LIMIT = Fault(verdict="skipped", phase="kernel", message="this case cannot be run here")
ONE_CALL = '@pytest.mark.check("a", points=1)\ndef test_a(candidate, rng):\n    candidate(normal(rng, (1, 2)))\n'
X = "normal(rng, (1, 2))"
CALLS = [
    f"candidate({X})",
    f"assert_no_fault(candidate.observe({X}))",
    f"assert_no_fault(candidate.access({X}))",
    f"assert_within_budget(candidate.traffic({X}), unit={X})",
    f"candidate.time(({X},), ({X},))",
]


@pytest.mark.parametrize("call", CALLS)
def test_a_limit_of_the_gpu_is_absent_and_takes_no_points(tmp_path: Path, call: str) -> None:
    """There a trusted process says it."""
    session = run(tmp_path, ONE_CALL.replace(f"candidate({X})", call), NumpyEngine(LIMIT, "gpu", LAUNCHER))
    assert session.outcomes["a"].absent == "this case cannot be run here"


@pytest.mark.parametrize("source", [INTERPRETER, TRACER])
@pytest.mark.parametrize("name", ["gpu", "interpreter"])
@pytest.mark.parametrize("call", [*CALLS, "candidate.value('A')", "candidate.values('f', [(1,)])"])
def test_a_limit_that_a_worker_tells_of_is_no_pass(
    tmp_path: Path, call: str, name: Literal["gpu", "interpreter"], source: str
) -> None:
    """There the submission could say it, and would be rid of the check, also while another process has the GPU."""
    session = run(tmp_path, ONE_CALL.replace(f"candidate({X})", call), NumpyEngine(LIMIT, name, source))
    outcome = session.outcomes["a"]
    assert (outcome.absent, outcome.verdict) == (None, "skipped")
    assert verdict_of((check_result(outcome),)) == "fail"


def test_an_author_s_bug_is_the_graders_fault(tmp_path: Path) -> None:
    session = run(tmp_path, '@pytest.mark.check("a", points=1)\ndef test_a():\n    undefined_name\n')
    assert verdicts(session) == {"a": "grader_error"}


def test_an_engine_that_fails_under_a_test_is_no_fault_of_the_test(tmp_path: Path) -> None:
    class Broken(NumpyEngine):
        def run(self, entry: Entry, arguments: tuple[NDArray[Any], ...]) -> Observation:
            raise GraderError("the launcher of GPU 0 did not start")

    outcome = run(tmp_path, ONE_CALL, Broken()).outcomes["a"]
    assert (outcome.verdict, outcome.message) == ("grader_error", "the launcher of GPU 0 did not start")


def test_a_hidden_test_that_cannot_be_collected_is_a_problem_of_the_course(tmp_path: Path) -> None:
    assert run(tmp_path, "import no_such_module\n").problem is not None


@pytest.mark.parametrize(
    "line", ["pytest.skip('no', allow_module_level=True)", "pytest.importorskip('no_such_module')"]
)
def test_a_file_that_skips_itself_is_a_problem_of_the_course_and_costs_nobody_its_checks(
    tmp_path: Path, line: str
) -> None:
    hidden = tmp_path / "katas" / "k" / "hidden"
    session = run(tmp_path, ONE_CALL, beside={"test_more.py": f"import pytest\n{line}\n"})
    assert session.problem is not None
    assert session.problem.startswith(f"{hidden}/test_more.py: line 2: skips the whole file")
    assert session.calls == []


AT_COLLECTION = [
    '@pytest.mark.check("a")\ndef test_a(candidate, orcale):\n    pass\n',
    '@pytest.mark.check("a", titel="x")\ndef test_a():\n    pass\n',
    "def test_a():\n    pass\n",
]


@pytest.mark.parametrize("tests", AT_COLLECTION)
def test_what_is_wrong_with_a_test_is_told_with_its_file_before_anything_runs(tmp_path: Path, tests: str) -> None:
    session = run(tmp_path, ONE_CALL.replace("test_a", "test_first") + tests)
    assert session.problem is not None
    assert session.problem.startswith(f"{tmp_path}/katas/k/hidden/test_k.py::test_a")
    assert session.calls == []


ONCE_IT_RUNS = {
    "def test_a(request):\n    request.getfixturevalue('orcale')\n": "line 7: there is no fixture 'orcale'",
    "def test_a(whole):\n    pass\n\n@pytest.fixture(scope='module')\ndef whole(rng): ...\n": "line 5: Failed: Scope",
    "def test_a(mine):\n    pass\n\n@pytest.fixture\ndef mine():\n    raise OSError('no')\n": "line 11: OSError: no",
}


@pytest.mark.parametrize(("test", "words"), ONCE_IT_RUNS.items())
def test_a_fixture_that_fails_is_told_with_its_place_in_one_line(tmp_path: Path, test: str, words: str) -> None:
    outcome = run(tmp_path, '@pytest.mark.check("a")\n' + test).outcomes["a"]
    assert outcome.verdict == "grader_error"
    assert outcome.message.startswith(f"katas/k/hidden/test_k.py, {words}")
    assert "\n" not in outcome.message


def test_a_test_without_a_marker_is_a_problem_of_the_course(tmp_path: Path) -> None:
    session = run(tmp_path, "def test_a():\n    pass\n")
    assert session.problem is not None
    assert "marker" in session.problem


def test_random_inputs_follow_the_secret_seed(tmp_path: Path) -> None:
    tests = '@pytest.mark.check("a", points=1)\ndef test_a(candidate, rng):\n    candidate(normal(rng, (2, 2)))\n'
    first, second = run(tmp_path / "1", tests), run(tmp_path / "2", tests)
    np.testing.assert_array_equal(first.calls[0].arguments[0], second.calls[0].arguments[0])


def test_the_learners_pytest_settings_do_not_reach_the_hidden_tests(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTEST_ADDOPTS", "--collect-only")
    session = run(tmp_path, '@pytest.mark.check("a", points=1)\ndef test_a():\n    pass\n')
    assert session.outcomes["a"].ran == 1
