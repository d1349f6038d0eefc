"""Launches that cannot be: each is named, with the learner's line and what to write instead."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tracer_session import PLAIN, SOFTMAX, Session, dense, tracer

from tritonkata.boundary.messages import Failed, Loaded

LAUNCHES = {
    "no_grid": "kernel(x, x, 4, 4, 4, BLOCK=4)",
    "no_jit": "plain[(1,)](x)",
    "left_out": "kernel[(1,)](x, x, 4, 4, BLOCK=4)",
    "two_left_out": "kernel[(1,)](x, x, 4, 4)",
    "misspelt": "kernel[(1,)](x, x, 4, 4, 4, BLOCK=4, BLOK=4)",
    "twice": "kernel[(1,)](x, x, 4, 4, 4, 4, BLOCK=4)",
    "too_many": "kernel[(1,)](x, x, 4, 4, 4, 4, 4)",
    "warps_7": "kernel[(1,)](x, x, 4, 4, 4, BLOCK=4, num_warps=7)",
    "warps_2_0": "kernel[(1,)](x, x, 4, 4, 4, BLOCK=4, num_warps=2.0)",
    "on_cpu": "kernel[(1,)](x, torch.empty(4), 4, 4, 4, BLOCK=4)",
}
EXPECTED = {
    "no_grid": ("kernel is launched without a grid", "kernel[(n_rows,)](...)"),
    "no_jit": ("plain is launched like a kernel", "@triton.jit above `def plain`"),
    "left_out": ("kernel is launched without n_cols", "def kernel(x_ptr, y_ptr, x_stride, y_stride, n_cols, BLOCK)"),
    "two_left_out": ("kernel is launched without n_cols and BLOCK", "Pass every parameter"),
    "misspelt": ("kernel is launched with BLOK, and has no such parameter", "correct its name"),
    "twice": ("kernel is given BLOCK twice", "one too many"),
    "too_many": ("kernel() takes 6 positional arguments but 7 were given", "Count the arguments"),
    "warps_7": ("num_warps is 7, and must be a power of two", "num_warps=1, 2, 4"),
    "warps_2_0": ("num_warps is 2.0, and must be a power of two", "num_warps=1, 2, 4"),
    "on_cpu": ("the argument y_ptr is a tensor on the CPU", "device=x.device"),
}
OWN = {
    "subscript": ("(lambda: 0)[x]", "TypeError"),
    "assertion": ("_check(7)", "AssertionError"),
    "key": ("{}['Keyword argument a']", "KeyError"),
}
SOURCE = (
    SOFTMAX
    + PLAIN
    + "\n\ndef plain(x_ptr):\n    pass\n\n\ndef _check(num_warps):\n    assert num_warps == 8, 'eight'\n\n\n"
    + "".join(f"def {name}(x):\n    {launch}\n    return x\n\n\n" for name, launch in LAUNCHES.items())
    + "".join(f"def {name}(x):\n    return {code}\n\n\n" for name, (code, _) in OWN.items())
)


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    with tracer(SOURCE) as session:
        assert isinstance(session.loaded, Loaded), session.loaded
        yield session


@pytest.mark.parametrize("name", LAUNCHES)
def test_a_launch_that_cannot_be_is_named_with_its_line(session: Session, name: str) -> None:
    reply = session.trace(dense(4, 4), entry=name)
    assert isinstance(reply, Failed), reply
    message, advice = EXPECTED[name]
    assert (reply.fault.verdict, reply.fault.phase) == ("runtime_error", "host")
    assert message in reply.fault.message
    assert advice in reply.fault.advice
    lines = SOURCE.splitlines()
    assert lines[(reply.fault.line or 0) - 1].strip() == LAUNCHES[name]


@pytest.mark.parametrize("name", OWN)
def test_the_learners_own_error_keeps_its_words(session: Session, name: str) -> None:
    reply = session.trace(dense(4, 4), entry=name)
    assert isinstance(reply, Failed), reply
    assert (reply.fault.error, reply.fault.advice) == (OWN[name][1], "")
