"""How the hardware's count and the interpreter's come together."""

from __future__ import annotations

from tritonkata.boundary.messages import Counted
from tritonkata.engine.launching import with_hardware_traffic
from tritonkata.model.observation import Level, Observation, TensorTraffic, Traffic

INTERPRETED = Traffic("interpreter", 300, 100, (TensorTraffic("x", 300, 0, 100),))
MEASURED = Traffic("cupti", 200, 100, l2=Level(190, 100), dram=Level(5, 0), spilled=0)


def test_the_hardware_is_graded_and_the_interpreter_stands_beside_it() -> None:
    traffic = with_hardware_traffic(Observation("gpu", traffic=INTERPRETED), Counted(MEASURED)).traffic
    assert traffic is not None
    assert (traffic.source, traffic.requested, traffic.l2) == ("cupti", Level(200, 100), Level(190, 100))
    assert traffic.counted == Level(300, 100)
    assert traffic.per_tensor == INTERPRETED.per_tensor


def test_without_hardware_the_interpreters_count_is_graded_and_says_why() -> None:
    answer = Counted(None, reason="no libcupti; and ncu was not found")
    traffic = with_hardware_traffic(Observation("gpu", traffic=INTERPRETED), answer).traffic
    assert traffic is not None
    assert (traffic.source, traffic.requested) == ("interpreter", Level(300, 100))
    assert traffic.counted is None
    assert list(traffic.absent.values()) == ["no libcupti; and ncu was not found"]


def test_the_hardware_alone_has_no_count_of_each_tensor() -> None:
    observation = with_hardware_traffic(Observation("gpu"), Counted(MEASURED))
    assert observation.traffic == MEASURED


def test_neither_is_absent_with_the_reason() -> None:
    observation = with_hardware_traffic(Observation("gpu"), Counted(None, reason="no permission"))
    assert observation.traffic is None
    assert observation.absent["traffic"] == "no permission"
