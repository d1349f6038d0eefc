"""Which plans may reach the launcher: a broken plan for each rule, and no exception but InvalidPlan."""

from __future__ import annotations

import contextlib
from typing import Any

import msgspec
import pytest
from elf import cubin_of
from hypothesis import given, settings
from hypothesis import strategies as st

from tritonkata.boundary.messages import DeviceFigures
from tritonkata.boundary.validate import validate
from tritonkata.model.plan import (
    Buffer,
    Choice,
    Copy,
    Fill,
    InvalidPlan,
    Kernel,
    Launch,
    LaunchPlan,
    Pointer,
    Scalar,
    View,
)
from tritonkata.model.tensors import TensorSpec

DEVICE = DeviceFigures()
replace = msgspec.structs.replace


def dense(rows: int, columns: int, dtype: Any = "float32") -> TensorSpec:
    return TensorSpec(dtype, (rows, columns), (columns, 1), 0, rows * columns)


INPUT = dense(8, 16)
KERNEL = Kernel(
    "softmax", cubin_of("softmax"), 4, shared_bytes=1024, global_scratch_bytes=128, global_scratch_align=128
)
LAUNCH = Launch(0, (8, 1, 1), (Pointer(0, 0), Pointer(1, 0), Scalar("i32", 16), Scalar("fp32", 0.5)))
FILL = Fill(View(1, INPUT), 0.0)
COPY = Copy(View(0, INPUT), View(1, INPUT))
PLAN = LaunchPlan(
    "sm_90",
    1,
    (Buffer(512, "x"), Buffer(512, "y")),
    (KERNEL,),
    (FILL, COPY, Choice(((LAUNCH,), (FILL, LAUNCH)), ("BLOCK=16", "BLOCK=32")), LAUNCH),
    (View(1, INPUT),),
)


def check(plan: LaunchPlan, **options: Any) -> None:
    validate(plan, (INPUT,), DEVICE, **options)


def kernel(**changes: Any) -> LaunchPlan:
    return replace(PLAN, kernels=(replace(KERNEL, **changes),))


def launch(**changes: Any) -> LaunchPlan:
    return replace(PLAN, steps=(replace(LAUNCH, **changes),))


def hidden_launch(**changes: Any) -> LaunchPlan:
    return replace(PLAN, steps=(Choice(((LAUNCH,), (replace(LAUNCH, **changes),))),))


def steps(*parts: Any) -> LaunchPlan:
    return replace(PLAN, steps=parts)


def argument(value: Any) -> LaunchPlan:
    return launch(arguments=(value,))


def view(
    buffer: int = 1, dtype: Any = "float32", shape: Any = (8, 16), strides: Any = (16, 1), offset: int = 0
) -> View:
    return View(buffer, TensorSpec(dtype, shape, strides, offset, 128))


BROKEN = {
    "another card": (replace(PLAN, target="sm_100"), "sm_100"),
    "a later minor capability": (replace(PLAN, target="sm_91"), "sm_91"),
    "no inputs": (replace(PLAN, n_inputs=0), "inputs"),
    "input without buffer": (replace(PLAN, buffers=()), "no buffer"),
    "input of another size": (replace(PLAN, buffers=(Buffer(508), Buffer(512))), "508"),
    "more than the card": (replace(PLAN, buffers=(Buffer(512), Buffer(1 << 38))), "buffers take"),
    "empty cubin": (kernel(cubin=b""), "ELF"),
    "text for a cubin": (kernel(cubin=b"softmax" * 40), "ELF"),
    "an ELF for a processor": (kernel(cubin=cubin_of("softmax", header={"machine": 62})), "CUDA device"),
    "another kernel's cubin": (kernel(name="other"), "other"),
    "no name": (kernel(name=""), "name"),
    "a name with a newline": (kernel(name="a\nb", cubin=cubin_of("a\nb")), "name"),
    "too many warps": (kernel(num_warps=64), "threads"),
    "too much shared memory": (kernel(shared_bytes=232449), "shared"),
    "odd alignment": (kernel(global_scratch_align=3), "power of two"),
    "empty choice": (steps(Choice(())), "choice"),
    "labels of other variants": (steps(Choice(((LAUNCH,),), ("a", "b"))), "labels"),
    "too many launches": (steps(*[Choice(((LAUNCH,) * 64,) * 20)]), "launches"),
    "fill outside": (steps(Fill(view(offset=1), 0)), "ends at byte"),
    "fill of no buffer": (steps(Fill(view(buffer=2), 0)), "no buffer"),
    "fill of overlapping elements": (steps(Fill(view(strides=(0, 1)), 0)), "overlap"),
    "fill past the type": (steps(Fill(view(dtype="int8", shape=(4,), strides=(1,)), 128)), "fit"),
    "fill of ints with a fraction": (steps(Fill(view(dtype="int32", shape=(4,), strides=(1,)), 0.5)), "fit"),
    "fill past float16": (steps(Fill(view(dtype="float16"), 1e6)), "fit"),
    "strides missing": (steps(Fill(view(strides=(1,)), 0)), "strides"),
    "huge extents": (steps(Fill(view(shape=(1 << 40,) * 8, strides=(1 << 40,) * 8), 0)), "ends at byte"),
    "copy of another shape": (steps(Copy(view(0), view(1, shape=(16, 8), strides=(8, 1)))), "shapes"),
    "copy of another type": (steps(Copy(view(0, "float16"), view(1, "int16"))), "dtypes"),
    "copy from outside": (steps(Copy(view(0, offset=2), view(1))), "source"),
    "copy to outside": (steps(Copy(view(0), view(1, offset=2))), "target"),
    "no such kernel": (launch(kernel=1), "no kernel"),
    "grid of nothing": (launch(grid=(0, 1, 1)), "grid x"),
    "negative grid": (launch(grid=(1, -1, 1)), "grid y"),
    "grid too deep": (launch(grid=(1, 1, 65536)), "grid z"),
    "grid too long": (launch(grid=(1 << 31, 1, 1)), "grid x"),
    "grid too long in a choice": (hidden_launch(grid=(1 << 31, 1, 1)), "variant 1"),
    "scratch of a huge grid": (launch(grid=((1 << 31) - 1, 1, 1)), "scratch"),
    "pointer past its buffer": (argument(Pointer(1, 513)), "byte 513"),
    "pointer to no buffer": (argument(Pointer(2, 0)), "no buffer"),
    "i32 too large": (argument(Scalar("i32", 1 << 31)), "fit"),
    "u8 below zero": (argument(Scalar("u8", -1)), "fit"),
    "i1 of 2": (argument(Scalar("i1", 2)), "fit"),
    "float for an int": (argument(Scalar("i64", 1.0)), "fit"),
    "fp32 too large": (argument(Scalar("fp32", 1e39)), "fit"),
    "output outside": (replace(PLAN, outputs=(view(shape=(9, 16)),)), "output 0"),
    "output of no buffer": (replace(PLAN, outputs=(view(buffer=7),)), "output 0"),
    "an endless expanded output": (
        replace(PLAN, outputs=(view(shape=(1 << 40,) * 8, strides=(0,) * 8),)),
        "outputs take",
    ),
    "wrong type inside": (replace(PLAN, buffers=(Buffer("512"), Buffer(512))), "well formed"),  # type: ignore[arg-type]
    "a number over 64 bits": (launch(grid=(1 << 70, 1, 1)), "well formed"),
}


def test_a_valid_plan_passes() -> None:
    check(PLAN)


def test_a_plan_without_outputs_or_steps_passes() -> None:
    check(replace(PLAN, steps=(), outputs=(), kernels=()))


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_rule_is_named(name: str) -> None:
    plan, words = BROKEN[name]
    with pytest.raises(InvalidPlan, match=words):
        check(plan)


def test_a_lower_minor_capability_of_the_same_major_passes() -> None:
    older = replace(DEVICE, capability=(8, 6))
    validate(replace(PLAN, target="sm_80"), (INPUT,), older)


def test_clusters_need_the_hardware() -> None:
    plan = replace(kernel(num_ctas=2), target="sm_80")
    with pytest.raises(InvalidPlan, match="clusters"):
        validate(plan, (INPUT,), replace(DEVICE, capability=(8, 0)))
    check(kernel(num_ctas=2))


def test_the_cap_bounds_buffers_and_scratch_together() -> None:
    scratch = 128 * 8
    check(PLAN, memory_cap_bytes=1024 + scratch)
    with pytest.raises(InvalidPlan, match="scratch"):
        check(PLAN, memory_cap_bytes=1024 + scratch - 1)


def test_the_edges_of_what_is_allowed_pass() -> None:
    check(argument(Pointer(1, 512)))
    check(argument(Scalar("fp32", float("-inf"))))
    check(argument(Scalar("u64", (1 << 64) - 1)))
    check(steps(Fill(view(dtype="int32"), 3.0)))
    check(steps(Fill(view(strides=(1, 8)), 0)))
    check(steps(Copy(view(0, strides=(0, 1)), view(1))))
    check(replace(launch(grid=((1 << 31) - 1, 65535, 65535)), kernels=(replace(KERNEL, global_scratch_bytes=0),)))


def test_views_of_no_elements_pass() -> None:
    check(steps(Fill(view(shape=(0, 16)), 0), Copy(view(0, shape=(8, 0)), view(1, shape=(8, 0)))))


_NUMBERS = st.one_of(
    st.sampled_from([-1, 0, 1, 2, 511, 512, 513, 1 << 31, 1 << 38, 1 << 63, 1 << 70]), st.integers(-5, 600), st.floats()
)
_VALUES = st.one_of(_NUMBERS, st.text(max_size=3), st.binary(max_size=80), st.none(), st.booleans())


def _mutate(data: st.DataObject, node: Any) -> Any:
    """Descend to a random place of the plan's plain form and put something else there."""
    if isinstance(node, dict) and node and data.draw(st.integers(0, 9)):
        key = data.draw(st.sampled_from(sorted(node)))
        return {**node, key: _mutate(data, node[key])}
    if isinstance(node, list) and node and data.draw(st.integers(0, 9)):
        place = data.draw(st.integers(0, len(node) - 1))
        return [*node[:place], _mutate(data, node[place]), *node[place + 1 :]]
    if isinstance(node, list) and node and data.draw(st.booleans()):
        return node * data.draw(st.integers(0, 3))
    return data.draw(_VALUES)


def _plain(plan: LaunchPlan) -> Any:
    return msgspec.msgpack.decode(msgspec.msgpack.encode(plan))


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_no_mutated_plan_raises_anything_else(data: st.DataObject) -> None:
    plain = _plain(PLAN)
    for _ in range(data.draw(st.integers(1, 3))):
        plain = _mutate(data, plain)
    with contextlib.suppress(msgspec.MsgspecError, OverflowError):
        plan = msgspec.msgpack.decode(msgspec.msgpack.encode(plain), type=LaunchPlan)
        with contextlib.suppress(InvalidPlan):
            check(plan)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 10_000), st.integers(0, 255)), min_size=1, max_size=4))
def test_no_mutated_byte_raises_anything_else(changes: list[tuple[int, int]]) -> None:
    raw = bytearray(msgspec.msgpack.encode(PLAN))
    for place, byte in changes:
        raw[place % len(raw)] = byte
    with contextlib.suppress(msgspec.MsgspecError):
        plan = msgspec.msgpack.decode(raw, type=LaunchPlan)
        with contextlib.suppress(InvalidPlan):
            check(plan)


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_no_plan_built_by_hand_raises_anything_else(data: st.DataObject) -> None:
    place = data.draw(st.sampled_from(["kernel", "launch", "buffer", "view", "plan"]))
    value = data.draw(_VALUES)
    targets: dict[str, Any] = {"kernel": KERNEL, "launch": LAUNCH, "buffer": Buffer(512), "view": INPUT, "plan": PLAN}
    field = data.draw(st.sampled_from([f.name for f in msgspec.structs.fields(targets[place])]))
    changed = replace(targets[place], **{field: value})
    plan = {
        "kernel": lambda: replace(PLAN, kernels=(changed,)),
        "launch": lambda: steps(changed),
        "buffer": lambda: replace(PLAN, buffers=(Buffer(512), changed)),
        "view": lambda: replace(PLAN, outputs=(View(1, changed),)),
        "plan": lambda: changed,
    }[place]()
    with contextlib.suppress(InvalidPlan):
        check(plan)
