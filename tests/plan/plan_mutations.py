"""Launch plans bent at random: each is a recorded plan with a few of its parts changed, as it would come from a worker.

What must hold afterwards is said again here, in other words than the validator's own.
"""

from __future__ import annotations

import copy
from random import Random
from typing import Any

import msgspec

from tritonkata.boundary.messages import DeviceFigures
from tritonkata.boundary.validate import validate
from tritonkata.model.plan import Choice, Copy, Fill, InvalidPlan, Launch, LaunchPlan, View
from tritonkata.model.tensors import ITEMSIZE, TensorSpec

EDGES = (0, 1, -1, 2, 3, 7, 16, 127, 128, 255, 256, 1024, 1025, 4096, 65535, 65536, (1 << 20) + 1)
EDGES += (
    (1 << 31) - 1,
    1 << 31,
    -(1 << 31),
    (1 << 32) - 1,
    1 << 32,
    (1 << 40),
    (1 << 53) + 1,
    (1 << 63) - 1,
    -(1 << 63),
)
ODD = (None, True, False, "", "x", "sm_90", "float32", "pointer", b"", b"\0" * 8, [], {}, 0.5, float("inf"), -1e308)
ODD += ((1 << 64) - 1,)


def bent(plan: LaunchPlan, rng: Random, most: int = 4) -> bytes:
    """The plan with one to `most` parts changed, encoded as a worker would send it."""
    tree = msgspec.msgpack.decode(msgspec.msgpack.encode(plan))
    for _ in range(rng.randint(1, most)):
        _bend(tree, rng)
    data = bytearray(msgspec.msgpack.encode(tree))
    if rng.random() < 0.05:
        for _ in range(rng.randint(1, 8)):
            data[rng.randrange(len(data))] = rng.randrange(256)
    return bytes(data)


def _bend(tree: Any, rng: Random) -> None:
    """Change one node, drawn by walking down from the top."""
    holder, key = tree, None
    node = tree
    while isinstance(node, (dict, list)) and node and (key is None or rng.random() < 0.9):
        holder = node
        key = rng.choice(list(node)) if isinstance(node, dict) else rng.randrange(len(node))
        node = node[key]
    if key is None:
        return
    # Numbers are where a plan that can be read goes wrong; other parts mostly make it unreadable.
    if (not isinstance(node, int) or isinstance(node, bool)) and rng.random() < 0.9:
        _bend(tree, rng)
        return
    if isinstance(holder, list) and rng.random() < 0.2:
        _bend_list(holder, key, rng)
    elif isinstance(node, bytes) and node:
        holder[key] = _bend_bytes(node, rng)
    else:
        holder[key] = _value(node, rng)


def _bend_list(items: list[Any], place: int, rng: Random) -> None:
    kind = rng.randrange(4)
    if kind == 0:
        del items[place]
    elif kind == 1:
        items.insert(place, copy.deepcopy(items[rng.randrange(len(items))]))
    elif kind == 2:
        items.extend(copy.deepcopy(items[place]) for _ in range(rng.choice((1, 20, 300))))
    else:
        rng.shuffle(items)


def _bend_bytes(data: bytes, rng: Random) -> bytes:
    if rng.random() < 0.3:
        return data[: rng.randrange(len(data))]
    changed = bytearray(data)
    changed[rng.randrange(min(len(changed), 128))] = rng.randrange(256)
    return bytes(changed)


def _value(node: Any, rng: Random) -> Any:
    if isinstance(node, int) and not isinstance(node, bool) and rng.random() < 0.95:
        value = rng.choice((rng.choice(EDGES), node + 1, node - 1, node * 2, -node, node + rng.choice(EDGES)))
        return max(-(1 << 63), min(value, (1 << 64) - 1))  # what MessagePack can hold
    return copy.deepcopy(rng.choice((*EDGES, *ODD)))


def outcome(data: bytes, arguments: tuple[TensorSpec, ...], device: DeviceFigures) -> str:
    """`undecodable`, `invalid` or `accepted`.

    Raises:
        AssertionError: an accepted plan is out of bounds.
        Exception: whatever else the code under test raised, which it must not.
    """
    try:
        plan = msgspec.msgpack.decode(data, type=LaunchPlan)
    except (msgspec.MsgspecError, RecursionError):
        return "undecodable"
    try:
        validate(plan, arguments, device)
    except InvalidPlan:
        return "invalid"
    assert_within_bounds(plan, arguments, device)
    return "accepted"


def assert_within_bounds(plan: LaunchPlan, arguments: tuple[TensorSpec, ...], device: DeviceFigures) -> None:
    """Every byte that the launcher would touch lies in a buffer, and every launch within what the device can do."""
    sizes = [buffer.nbytes for buffer in plan.buffers]
    assert sum(sizes) <= device.total_memory
    assert sizes[: plan.n_inputs] == [spec.storage_elements * ITEMSIZE[spec.dtype] for spec in arguments]
    for view in plan.outputs:
        _assert_inside(view, sizes)
    launches = 0
    for step in plan.steps:
        for part in [one for variant in step.variants for one in variant] if isinstance(step, Choice) else [step]:
            launches += isinstance(part, Launch)
            _assert_step(part, plan, sizes, device)
    assert launches <= 1024


def _assert_step(step: Any, plan: LaunchPlan, sizes: list[int], device: DeviceFigures) -> None:
    if isinstance(step, Fill):
        _assert_inside(step.view, sizes)
    elif isinstance(step, Copy):
        _assert_inside(step.source, sizes)
        _assert_inside(step.target, sizes)
        assert (step.source.spec.shape, step.source.spec.dtype) == (step.target.spec.shape, step.target.spec.dtype)
    else:
        kernel = plan.kernels[step.kernel]
        assert all(1 <= extent <= limit for extent, limit in zip(step.grid, (2**31 - 1, 65535, 65535), strict=True))
        assert 32 <= 32 * kernel.num_warps <= 1024
        assert 0 <= kernel.shared_bytes <= device.max_shared_bytes
        assert kernel.cubin[:4] == b"\x7fELF"
        for argument in step.arguments:
            if hasattr(argument, "buffer"):
                assert 0 <= argument.offset <= sizes[argument.buffer]


def _assert_inside(view: View, sizes: list[int]) -> None:
    """Every element, by its first and last address along each axis."""
    spec = view.spec
    size = ITEMSIZE[spec.dtype]
    if 0 in spec.shape:
        return
    reach = [(extent - 1) * stride for extent, stride in zip(spec.shape, spec.strides, strict=True)]
    first = spec.offset + sum(min(part, 0) for part in reach)
    last = spec.offset + sum(max(part, 0) for part in reach)
    assert first >= 0
    assert (last + 1) * size <= sizes[view.buffer]
