"""From raw counter values, recorded on an H200, to traffic."""

from __future__ import annotations

import pytest

from tritonkata.launcher.traffic import calibration, metrics
from tritonkata.model.observation import Level, Traffic
from tritonkata.model.report import traffic_report

# A copy of 251,658,240 bytes on an H200, by CUPTI (driver 580.159.04, 2026-11-29).
COPIED = 251_658_240
RECORDED_COPY = {
    "smsp__sass_data_bytes_mem_global_op_ld.sum": 251658240.0,
    "smsp__sass_data_bytes_mem_global_op_st.sum": 251658240.0,
    "smsp__sass_data_bytes_mem_global_op_ldgsts.sum": 0.0,
    "smsp__sass_data_bytes_mem_global_op_atom.sum": 0.0,
    "smsp__sass_data_bytes_mem_global_op_red.sum": 0.0,
    "smsp__sass_data_bytes_mem_local.sum": 0.0,
    "l1tex__m_xbar2l1tex_read_bytes_mem_global_op_tma_ld.sum": 0.0,
    "l1tex__m_l1tex2xbar_write_bytes_mem_global_op_tma_st.sum": 0.0,
    "lts__t_sectors_srcunit_tex_op_read.sum": 7864320.0,
    "lts__t_sectors_srcunit_tex_op_write.sum": 7864320.0,
    "dram__bytes_read.sum": 251678464.0,
    "dram__bytes_write.sum": 250274304.0,
}


def measured(**changes: float) -> Traffic:
    names = {name.upper(): getattr(metrics, name.upper()) for name in changes}
    values = {**RECORDED_COPY, **{names[name.upper()]: value for name, value in changes.items()}}
    return metrics.traffic("cupti", [values])


def test_a_recorded_copy_has_two_traversals_at_every_level() -> None:
    traversals = traffic_report(measured(), "x", COPIED).traversals
    assert traversals.requested == 2.0
    assert traversals.l2 == 2.0
    assert traversals.dram == pytest.approx(2.0, abs=0.01)


def test_a_recorded_copy_is_trusted() -> None:
    assert calibration.verdict(measured(), COPIED) == ("", {})


@pytest.mark.parametrize(("counter", "value"), [("loaded", COPIED - 32), ("stored", 0), ("loaded", 2 * COPIED)])
def test_a_source_that_miscounts_what_a_copy_requests_is_not_trusted(counter: str, value: float) -> None:
    problem, _ = calibration.verdict(measured(**{counter: value}), COPIED)
    assert "2 traversals" in problem
    assert str(COPIED) in problem


def test_spills_of_others_do_not_make_a_copy_untrusted() -> None:
    assert calibration.verdict(measured(spilled=4096.0), COPIED)[0] == ""


@pytest.mark.parametrize(("counter", "level"), [("l2_read", "L2"), ("dram_written", "DRAM")])
def test_a_level_that_miscounts_is_left_out_with_the_reason(counter: str, level: str) -> None:
    problem, absent = calibration.verdict(measured(**{counter: 0.0}), COPIED)
    assert problem == ""
    assert list(absent) == [level]
    traffic = metrics.traffic("cupti", [RECORDED_COPY], absent=absent)
    assert (traffic.l2 is None) == (level == "L2")
    assert (traffic.dram is None) == (level == "DRAM")
    assert traffic.absent == absent
    assert traffic.requested.total == 2 * COPIED


def test_launches_add_up_and_host_copies_come_on_top() -> None:
    traffic = metrics.traffic("cupti", [RECORDED_COPY, RECORDED_COPY], copied=Level(100, 300))
    assert traffic.requested == Level(2 * COPIED + 100, 2 * COPIED + 300)
    assert traffic.l2 == Level(2 * COPIED, 2 * COPIED)


def test_no_launch_is_no_traffic() -> None:
    traffic = metrics.traffic("cupti", [])
    assert traffic.requested == Level(0, 0)
    assert set(traffic.absent) == {"L2", "DRAM"}


def test_asynchronous_copies_and_bulk_copies_are_requested_bytes() -> None:
    traffic = measured(async_copied=1000.0, tma_loaded=200.0, tma_stored=30.0, spilled=5.0)
    assert traffic.requested == Level(COPIED + 1200, COPIED + 30)
    assert (traffic.async_copied, traffic.tma_loaded, traffic.tma_stored, traffic.spilled) == (1000, 200, 30, 5)


def test_an_atomic_reads_and_writes() -> None:
    assert measured(atomic=8.0, reduced=16.0).requested == Level(COPIED + 24, COPIED + 24)


def test_a_card_without_bulk_copies_has_no_figure_for_them() -> None:
    values = {name: value for name, value in RECORDED_COPY.items() if "tma" not in name}
    traffic = metrics.traffic("cupti", [values])
    assert traffic.tma_loaded is None
    assert traffic.requested == Level(COPIED, COPIED)


def test_metrics_are_asked_for_by_level_and_only_where_the_card_has_them() -> None:
    everything = [name for level in metrics.LEVELS.values() for name in level]
    assert metrics.wanted(["l2"], everything) == (metrics.L2_READ, metrics.L2_WRITTEN)
    assert metrics.wanted(["l2"], [metrics.L2_READ]) == ()
    older = [name for name in everything if "tma" not in name]
    assert metrics.LOADED in metrics.wanted(["requested"], older)
    assert metrics.TMA_LOADED not in metrics.wanted(["requested"], older)
    assert metrics.wanted(["requested"], [metrics.LOADED]) == ()
