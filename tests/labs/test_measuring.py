"""A lab from its options to its result, in the interpreter and on something that claims to be a GPU."""

from __future__ import annotations

import dataclasses
from contextlib import nullcontext
from typing import Any

import msgspec
import pytest

from tritonkata.engine.client import GraderError, LoadFailed
from tritonkata.labs import measuring, peer, running
from tritonkata.labs.figures import H200_BANDWIDTH, bandwidth_for
from tritonkata.labs.measuring import measured
from tritonkata.labs.memory import TooLarge
from tritonkata.labs.model import Bandwidth, LabResult, LabRow, Options
from tritonkata.labs.running import NoGpu, counted_shape, run_lab
from tritonkata.labs.variants import SOFTMAX
from tritonkata.model.faults import Fault

SMALL = Options(6, 260, "float32", 3, 10)


def quiet(_: str) -> None:
    """No progress."""


def on_pretended_gpu(engine: Any, options: Options, monkeypatch: pytest.MonkeyPatch, torch: Any = "none") -> LabResult:
    monkeypatch.setattr(peer, "torch_row", lambda *_: torch)
    monkeypatch.setattr(running, "opened", lambda *_: nullcontext(engine))
    return run_lab("softmax", options, "gpu", quiet)


def test_the_interpreter_gives_exact_bytes_bounds_and_what_the_compiler_says() -> None:
    options = Options(8192, 600, "bfloat16", 1, 10, bandwidth=1000.0)
    said: list[str] = []
    result = run_lab("softmax", options, "interpreter", said.append)
    assert result.engine.name == "interpreter"
    assert result.ran == (8, 600)
    assert [row.as_predicted for row in result.rows] == [True] * 4
    assert [row.checked is not None and row.checked.passed for row in result.rows] == [False, True, True, True]
    unit = 8192 * 600 * 2
    assert [row.predicted and row.predicted.total // unit for row in result.rows] == [3, 4, 3, 2]
    assert result.rows[1].lower_bound_us == pytest.approx(4 * unit / 1000e9 * 1e6)
    assert result.bandwidth == Bandwidth(1000.0, "--bandwidth")
    for row in result.rows:
        assert row.speed is None
        assert row.absent["speed"] == "needs a GPU"
        assert [one.target for one in row.resources] == ["sm_90"]
        assert all(one.registers for one in row.resources)
    assert "torch.softmax" in result.missing
    assert any("counting" in step for step in said)
    assert any("checking" in step for step in said)


def test_fusion_compares_a_ratio_of_bytes_of_three_and_a_half() -> None:
    result = run_lab("fusion", Options(128, 128, "float16", 1, 10), "interpreter", quiet)
    assert (result.ratios[0].slow, result.ratios[0].fast) == ("unfused", "fused")
    assert result.ratios[0].predicted == result.ratios[0].requested == 3.5
    assert result.ratios[0].time is None
    assert result.ratios[1].requested == pytest.approx(2 / (0.75 + 1))
    assert result.bandwidth == H200_BANDWIDTH


def test_a_smaller_shape_that_ran_says_nothing_of_the_ratio_in_full() -> None:
    result = run_lab("fusion", Options(300, 600, "float32", 1, 10), "interpreter", quiet)
    assert result.ran == (256, 256)
    assert all(row.as_predicted for row in result.rows)
    assert [one.requested for one in result.ratios] == [None] * 3


@pytest.mark.parametrize(
    ("lab", "rows", "cols", "ran"),
    [
        ("softmax", 8192, 4096, (8, 4096)),
        ("softmax", 3, 4096, (3, 4096)),
        ("softmax", 8192, 65_536, (2, 65_536)),
        ("softmax", 1, 131_072, (1, 131_072)),
        ("fusion", 8192, 4096, (256, 256)),
        ("fusion", 20, 4096, (20, 256)),
        ("fusion", 20, 30, (20, 30)),
    ],
)
def test_the_interpreter_runs_little_of_a_large_shape(lab: Any, rows: int, cols: int, ran: tuple[int, int]) -> None:
    assert counted_shape(lab, Options(rows, cols, "float32", 0, 10)) == ran


def test_a_gpu_runs_everything_and_its_times_become_bandwidths(
    pretended_gpu: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = LabRow("torch", "torch.softmax")
    result = on_pretended_gpu(pretended_gpu, SMALL, monkeypatch, torch=row)
    assert result.ran == (6, 260)
    assert [one.variant for one in result.rows][-1] == "torch"
    assert not result.missing
    for one in result.rows[:-1]:
        assert one.effective == pytest.approx(1.0)  # 1000 bytes a microsecond
        assert one.fraction_of_ceiling == pytest.approx(1.0)
        assert one.speed is not None
        assert one.speed.copy_bytes == 2 * SMALL.unit_bytes
        assert one.absent == {"DRAM": "not trusted"}
    assert result.bandwidth == Bandwidth(1.0, "the copy measured here")
    assert [one.time for one in result.ratios] == pytest.approx([2.0, 4 / 3, 1.5])
    assert [one.requested for one in result.ratios] == pytest.approx([2.0, 4 / 3, 1.5])
    assert result.notes == ("a note", "it was hot")
    assert result.environment.card == "NVIDIA H200"


def test_a_missing_torch_is_one_line_of_the_result(pretended_gpu: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    result = on_pretended_gpu(pretended_gpu, SMALL, monkeypatch, torch="no CUDA in it")
    assert result.missing == {"torch.softmax": "no CUDA in it"}
    assert len(result.rows) == len(SOFTMAX)


def test_a_result_survives_json(pretended_gpu: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    result = on_pretended_gpu(pretended_gpu, SMALL, monkeypatch)
    assert msgspec.json.decode(msgspec.json.encode(result), type=LabResult) == result


def test_too_little_gpu_memory_names_both_sizes_and_a_smaller_shape(
    pretended_gpu: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "this case needs 900 bytes of GPU memory, 30 are free"
    pretended_gpu.fault = Fault("skipped", "kernel", text, error="CUDA_ERROR_OUT_OF_MEMORY")
    with pytest.raises(TooLarge, match=r"6 x 260 does not fit.*needs 900 bytes.*30 are free.*try --rows 2"):
        on_pretended_gpu(pretended_gpu, SMALL, monkeypatch)


def test_a_fault_of_the_launcher_is_not_a_finding(pretended_gpu: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    pretended_gpu.fault = Fault("grader_error", "kernel", "the GPU fell off the bus")
    with pytest.raises(GraderError, match="fell off the bus; run `kata doctor`"):
        on_pretended_gpu(pretended_gpu, SMALL, monkeypatch)


def test_a_fault_of_a_kernel_is_one(pretended_gpu: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    pretended_gpu.fault = Fault("runtime_error", "kernel", "the kernel stopped")
    result = on_pretended_gpu(pretended_gpu, SMALL, monkeypatch)
    assert [row.fault for row in result.rows] == [pretended_gpu.fault] * 4
    assert all(row.checked is None and row.speed is None for row in result.rows)


def test_a_timed_run_that_gave_something_else_decides(pretended_gpu: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    honest = pretended_gpu.time

    def unsteady(*arguments: Any) -> Any:
        (one,) = honest(*arguments)
        return (dataclasses.replace(one, others=((one.outputs[0] * 2,),)),)

    monkeypatch.setattr(pretended_gpu, "time", unsteady)
    result = on_pretended_gpu(pretended_gpu, SMALL, monkeypatch)
    assert not any(row.checked is not None and row.checked.passed for row in result.rows)


def test_the_gpu_engine_without_a_gpu_names_the_next_step(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "gpu_problem", lambda: "no driver.")
    with pytest.raises(NoGpu, match=r"no GPU can be used: no driver; run `kata doctor`, or use --engine interpreter"):
        run_lab("softmax", SMALL, "gpu", quiet)


def test_a_shape_that_does_not_fit_is_refused_before_it_is_made(
    pretended_gpu: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "available_bytes", lambda: 4 << 30)
    with pytest.raises(TooLarge, match="--rows"):
        on_pretended_gpu(pretended_gpu, Options(65_536, 4096, "float32", 0, 10), monkeypatch)


def test_the_bandwidth_asked_for_stands_before_a_measured_one(softmax_result: LabResult) -> None:
    options = msgspec.structs.replace(softmax_result.options, bandwidth=77.0)
    assert bandwidth_for(options, softmax_result.rows).value == 77.0
    assert bandwidth_for(softmax_result.options, softmax_result.rows).source == "the copy measured here"
    assert bandwidth_for(softmax_result.options, ()) == H200_BANDWIDTH


def test_an_engine_is_closed_when_its_lab_fails(pretended_gpu: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    closed = []
    pretended_gpu.load = lambda: None
    pretended_gpu.close = lambda: closed.append(True)
    monkeypatch.setattr(running, "open_engine", lambda *_: pretended_gpu)
    monkeypatch.setattr(running, "available_bytes", lambda: 0)
    with pytest.raises(TooLarge):
        run_lab("softmax", SMALL, "auto", quiet)
    assert closed == [True]


def test_kernels_that_cannot_be_loaded_are_the_graders_fault(
    pretended_gpu: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        raise LoadFailed(Fault("runtime_error", "load", "No module named 'triton'"))

    pretended_gpu.load, pretended_gpu.close = fail, lambda: None
    monkeypatch.setattr(running, "open_engine", lambda *_: pretended_gpu)
    with pytest.raises(GraderError, match="softmax lab cannot be loaded: No module named 'triton'; run `kata doctor`"):
        run_lab("softmax", SMALL, "auto", quiet)


def test_a_variant_is_compiled_for_the_columns_asked_for(fusion_engine: Any) -> None:
    from tritonkata.labs import inputs
    from tritonkata.labs.truth import truth_of
    from tritonkata.labs.variants import FUSION

    options = Options(4, 65_536, "float32", 0, 10)
    bench = measuring.Bench(fusion_engine, options, truth_of("fusion"), inputs.scores((4, 100), "float32", 0))
    row = measured(bench, FUSION[1], quiet)
    assert row.resources[0].spilled_bytes
    assert row.resources[0].num_warps == 32
