"""What honest submissions of many styles leave in a launch plan."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

import pytest
from styles import AUTOTUNED, STYLES
from tracer_session import PLAIN, SOFTMAX, Session, dense, tracer

from tritonkata.boundary.messages import DeviceFigures, Loaded, Traced
from tritonkata.boundary.validate import validate
from tritonkata.model.plan import Choice, Copy, Fill, Launch, Pointer, Scalar
from tritonkata.model.tensors import TensorSpec


@pytest.fixture(scope="module")
def styles() -> Iterator[Session]:
    with tracer(STYLES) as session:
        assert isinstance(session.loaded, Loaded), session.loaded
        yield session


def launches(session: Session, entry: str, *arguments: TensorSpec) -> tuple[Launch, ...]:
    reply = session.trace(*arguments, entry=entry)
    assert isinstance(reply, Traced), reply
    return tuple(step for step in reply.plan.steps if isinstance(step, Launch))


def test_plain_softmax(styles: Session) -> None:
    plan = styles.plan(dense(4, 1000))
    assert (plan.n_inputs, plan.target, plan.returned_tuple) == (1, "sm_90", False)
    assert [b.nbytes for b in plan.buffers] == [16000, 16000]
    assert plan.buffers[0].name == "x"
    width = Scalar("i32", 1000)
    assert plan.steps == (Launch(0, (4, 1, 1), (Pointer(0, 0), Pointer(1, 0), width, width, width)),)
    kernel = plan.kernels[0]
    assert kernel.name == "kernel"
    assert kernel.cubin.startswith(b"\x7fELF")
    assert kernel.num_warps == 4
    assert kernel.registers is not None
    assert kernel.registers > 8
    assert kernel.spilled_bytes == 0
    assert [(v.buffer, v.spec) for v in plan.outputs] == [(1, dense(4, 1000))]


def test_width_of_one_is_folded_away(styles: Session) -> None:
    (launch,) = styles.plan(dense(3, 1)).steps
    assert isinstance(launch, Launch)
    assert launch.arguments == (Pointer(0, 0), Pointer(1, 0))


def test_alignment_is_what_the_view_has(styles: Session) -> None:
    """An address that is no multiple of 16 must not be compiled as if it were one."""
    aligned = styles.plan(TensorSpec("float32", (4, 512), (528, 1), 16, 2200))
    odd = styles.plan(TensorSpec("float32", (4, 512), (528, 1), 3, 2200))
    assert isinstance(odd.steps[0], Launch)
    assert odd.steps[0].arguments[0] == Pointer(0, 12)
    assert odd.buffers[0].nbytes == 8800
    assert odd.kernels[0].cubin != aligned.kernels[0].cubin


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_precision(styles: Session, dtype: str) -> None:
    plan = styles.plan(dense(4, 100, dtype))
    assert plan.buffers[1].nbytes == 800
    assert plan.outputs[0].spec.dtype == dtype


def test_padded_rows(styles: Session) -> None:
    plan = styles.plan(TensorSpec("float32", (4, 5), (8, 1), 0, 40))
    assert plan.buffers[0].nbytes == 160
    assert isinstance(plan.steps[0], Launch)
    assert plan.steps[0].arguments[2:] == (Scalar("i32", 8), Scalar("i32", 5), Scalar("i32", 5))
    assert plan.outputs[0].spec.strides == (5, 1)


def test_contiguous_is_a_recorded_copy_only_where_it_copies(styles: Session) -> None:
    assert len(launches(styles, "contiguous", dense(4, 5))) == 1
    padded = TensorSpec("float32", (4, 5), (8, 1), 2, 40)
    reply = styles.trace(padded, entry="contiguous")
    assert isinstance(reply, Traced)
    copy, launch = reply.plan.steps
    assert isinstance(copy, Copy)
    assert (copy.source.buffer, copy.source.spec) == (0, padded)
    assert (copy.target.buffer, copy.target.spec) == (1, dense(4, 5))
    assert isinstance(launch, Launch)
    assert launch.arguments[0] == Pointer(1, 0)


@pytest.mark.parametrize(("entry", "values"), [("zeros", [0]), ("full", [-1.5]), ("filled", [2.0, 3])])
def test_fills(styles: Session, entry: str, values: list[float]) -> None:
    reply = styles.trace(dense(4, 5), entry=entry)
    assert isinstance(reply, Traced), reply
    fills = [step for step in reply.plan.steps if isinstance(step, Fill)]
    assert [fill.value for fill in fills] == values
    assert {fill.view.buffer for fill in fills} == {1}
    assert fills[-1].view.spec == dense(4, 5)


def test_views_become_offset_pointers(styles: Session) -> None:
    (launch,) = launches(styles, "views", dense(4, 6))
    assert launch.grid == (3, 1, 1)
    assert launch.arguments[:2] == (Pointer(0, 32), Pointer(1, 32))
    (launch,) = launches(styles, "expanded", dense(4, 6))
    assert launch.arguments[2] == Scalar("i32", 0)


def test_two_launches_and_a_list(styles: Session) -> None:
    reply = styles.trace(dense(4, 6), entry="two")
    assert isinstance(reply, Traced), reply
    assert reply.plan.returned_tuple
    assert [v.buffer for v in reply.plan.outputs] == [2, 1]
    assert len(reply.plan.kernels) == 1
    assert len(reply.plan.steps) == 2


def test_copies_are_recorded_with_broadcast_strides(styles: Session) -> None:
    reply = styles.trace(dense(4, 6), entry="copies")
    assert isinstance(reply, Traced), reply
    copies = [step for step in reply.plan.steps if isinstance(step, Copy)]
    assert [(c.source.buffer, c.target.buffer) for c in copies] == [(0, 1), (0, 1), (1, 2)]
    assert copies[0].source.spec.strides == (0, 1)
    assert copies[1].source.spec.offset == copies[1].target.spec.offset == 6


def test_an_output_that_is_the_input_is_recorded_as_such(styles: Session) -> None:
    reply = styles.trace(dense(4, 6), entry="alias")
    assert isinstance(reply, Traced)
    assert reply.plan.outputs[0].buffer == 0


def test_host_code_may_ask_print_and_log(styles: Session) -> None:
    assert len(launches(styles, "chatty", dense(4, 6))) == 1


def test_scalars_are_typed_from_the_signature(styles: Session) -> None:
    (launch,) = launches(styles, "scalars", dense(1, 12))
    assert launch.arguments[2:] == (Scalar("i32", 12), Scalar("fp32", 0.5), Scalar("u1", 1))
    (launch,) = launches(styles, "lambda_grid", dense(1, 40))
    assert launch.grid == (3, 1, 1)


def test_the_halves_of_nothing_are_a_plan_that_can_be_replayed(styles: Session) -> None:
    """torch puts the second half of an empty tensor beyond its end."""
    for rows in (0, 3):
        x = dense(rows, 5)
        reply = styles.trace(x, entry="halves")
        assert isinstance(reply, Traced)
        validate(reply.plan, (x,), DeviceFigures())
        assert [view.spec.offset for view in reply.plan.outputs] == [0, rows]


def test_an_empty_grid_launches_nothing(styles: Session) -> None:
    assert launches(styles, "nothing", dense(0, 5)) == ()


@pytest.mark.parametrize(("entry", "programs"), [("occupancy", 1000), ("sm_count", 132)])
def test_persistent_kernels_learn_the_card(styles: Session, entry: str, programs: int) -> None:
    (launch,) = launches(styles, entry, dense(100_000, 1000))
    assert launch.grid[0] % 132 == 0
    assert 132 <= launch.grid[0] <= max(programs, 132) * 10


def test_heuristics(styles: Session) -> None:
    (launch,) = launches(styles, "heuristics", dense(1, 20))
    assert launch.arguments == (Pointer(0, 0), Pointer(1, 0), Scalar("i32", 20))


def test_helper_kernel_and_custom_reduction(styles: Session) -> None:
    reply = styles.trace(dense(4, 20), entry="custom_reduce")
    assert isinstance(reply, Traced), reply
    assert [v.spec.shape for v in reply.plan.outputs] == [(4,), (4,)]
    assert reply.plan.returned_tuple


def test_device_descriptors_ask_for_scratch(styles: Session) -> None:
    reply = styles.trace(dense(4, 32), entry="descriptors")
    assert isinstance(reply, Traced), reply
    assert reply.plan.kernels[0].global_scratch_bytes > 0
    assert len(reply.plan.buffers) == 2


def test_every_configuration_of_an_autotuner_is_recorded() -> None:
    with tracer(AUTOTUNED) as session:
        for _ in range(2):  # a remembered choice must not hide the others from the next call
            plan = session.plan(dense(1, 200))
            (choice,) = plan.steps
            assert isinstance(choice, Choice)
            assert len(choice.variants) == 2, choice.labels
            assert "BLOCK: 64" in choice.labels[0]
            for fill, launch in choice.variants:
                assert isinstance(fill, Fill)
                assert fill.view.buffer == 1
                assert isinstance(launch, Launch)
            assert [v[1].grid[0] for v in choice.variants if isinstance(v[1], Launch)] == [4, 2]
            assert [k.num_warps for k in plan.kernels] == [2, 4]
        reply = session.trace(dense(1, 60), entry="one_configuration")
        assert isinstance(reply, Traced), reply
        assert [type(step) for step in reply.plan.steps] == [Fill, Launch]


@pytest.mark.parametrize("target", ["sm_80", "sm_100", "gfx942"])
def test_targets(target: str) -> None:
    with tracer(SOFTMAX + PLAIN, target) as session:
        plan = session.plan(dense(4, 1000))
    assert plan.target == target
    kernel = plan.kernels[0]
    assert bool(kernel.cubin) == target.startswith("sm_")
    assert kernel.registers is not None
    assert kernel.registers > 8
    assert kernel.spilled_bytes == 0


def test_left_over_debugging_settings_change_nothing() -> None:
    settings = """
    import os
    os.environ["TRITON_INTERPRET"] = "1"
    os.environ["TRITON_PTXAS_PATH"] = "/bin/true"
    os.environ["TRITON_DEFAULT_FP_FUSION"] = "0"
    import triton
    triton.knobs.runtime.interpret = True
    triton.knobs.nvidia.ptxas = "/bin/true"
    triton.knobs.compilation.always_compile = True
    """
    with tracer(SOFTMAX + PLAIN) as session:
        clean = session.plan(dense(4, 1000))
    with tracer(textwrap.dedent(settings) + SOFTMAX + PLAIN) as session:
        reply = session.trace(dense(4, 1000))
    assert isinstance(reply, Traced), reply
    assert "TRITON_INTERPRET" in reply.notes[0]
    assert reply.plan.kernels[0].registers == clean.kernels[0].registers
    assert reply.plan.kernels[0].cubin.startswith(b"\x7fELF")
