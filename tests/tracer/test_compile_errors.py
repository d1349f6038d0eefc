"""What Triton does not compile, shown at the learner's line and explained."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tracer_session import SOFTMAX, Session, dense, tracer

from tritonkata.boundary.messages import DeviceFigures, Failed, Loaded
from tritonkata.model.faults import Fault


def fault(session: Session, entry: str, rows: int = 4) -> Fault:
    reply = session.trace(dense(rows, 4), entry=entry)
    assert isinstance(reply, Failed), reply
    return reply.fault


def line_of(source: str, text: str) -> int:
    return next(number for number, line in enumerate(source.splitlines(), 1) if text in line)


BROKEN = (
    SOFTMAX
    + """
import os


@triton.jit
def helper(x):
    return x + undefined_name


@triton.jit
def calls_helper(x_ptr, n, BLOCK: tl.constexpr):
    cols = tl.arange(0, BLOCK)
    tl.store(x_ptr + cols, helper(cols))


@triton.jit
def loops(x_ptr, n, BLOCK: tl.constexpr):
    for i in range(n):
        if i > 3:
            break
    tl.store(x_ptr, 1.0)


@triton.jit
def asserts(x_ptr, n, BLOCK: tl.constexpr):
    tl.static_assert(BLOCK > 100, "BLOCK is too small")


@triton.jit
def greedy(x_ptr, n, BLOCK: tl.constexpr):
    a = tl.arange(0, 64)
    x = tl.load(x_ptr + a[:, None] * 64 + a[None, :])
    tl.store(x_ptr + a[:, None] * 64 + a[None, :], tl.dot(x, tl.trans(x)))


@triton.jit
def no_allocator(x_ptr, n, BLOCK: tl.constexpr):
    d = tl.make_tensor_descriptor(x_ptr, [n, 16], [16, 1], [1, 16])
    d.store([0, 0], d.load([0, 0]) * 2.0)


@triton.jit
def ping(x, n):
    return pong(x, n) + 1.0


@triton.jit
def pong(x, n):
    return ping(x, n) - 1.0  # closes the circle


@triton.jit
def mutual(x_ptr, n, BLOCK: tl.constexpr):
    tl.store(x_ptr, ping(tl.load(x_ptr), n))


@triton.jit
def itself(x_ptr, n, BLOCK: tl.constexpr):
    itself(x_ptr, n, BLOCK)


@triton.jit
def chained(x_ptr, n, BLOCK: tl.constexpr):
    total = top = 0.0
    tl.store(x_ptr, total + top)


@triton.jit
def wrong_axis(x_ptr, n, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, BLOCK))
    tl.store(x_ptr, tl.max(x, axis=1))  # no such axis


def plain(x):
    return x * 2


@triton.jit
def calls_plain(x_ptr, n, BLOCK: tl.constexpr):
    x = tl.load(x_ptr)
    y = plain(x)  # not jitted
    tl.store(x_ptr, y)


@triton.jit
def calls_plain_inside(x_ptr, n, BLOCK: tl.constexpr):
    tl.store(x_ptr, plain(tl.load(x_ptr)))  # not jitted either


@triton.jit
def calls_torch(x_ptr, n, BLOCK: tl.constexpr):
    x = tl.load(x_ptr)
    y = torch.exp(x)  # torch in a kernel
    tl.store(x_ptr, y)


@triton.jit
def not_constexpr(x_ptr, n, BLOCK):
    tl.store(x_ptr + tl.arange(0, BLOCK), 1.0)  # not constexpr


@triton.jit
def any_size(x_ptr, n, BLOCK: tl.constexpr, odd: tl.constexpr = 100):
    tl.store(x_ptr + tl.arange(0, odd), 1.0)  # no power of two


@triton.jit
def written_size(x_ptr, n, BLOCK: tl.constexpr):
    tl.store(x_ptr + tl.arange(0, 100), 1.0)  # a literal that is none


KERNELS = {
    "helper": calls_helper, "loop": loops, "assert": asserts, "greedy": greedy, "allocator": no_allocator,
    "mutual": mutual, "itself": itself, "chained": chained,
    "axis": wrong_axis, "plain": calls_plain, "torch": calls_torch,
    "inside": calls_plain_inside,
    "constexpr": not_constexpr, "size": any_size, "written": written_size,
}


def short(x):
    # As on a machine that has no more room, processes or memory: the compiler meets it first.
    import errno
    from unittest.mock import patch

    number = [errno.ENOSPC, errno.EAGAIN, errno.EMFILE, errno.ENOMEM][x.shape[0]]
    with patch("builtins.open", side_effect=OSError(number, os.strerror(number))):
        kernel[(1,)](x, x, 1, 1, 4, BLOCK=16 << x.shape[0])  # short
    return x


def entry(x):
    names = list(KERNELS)
    KERNELS[names[x.shape[0]]][(1,)](x, 8, BLOCK=16)  # launch
    return x
"""
)


@pytest.fixture(scope="module")
def broken() -> Iterator[Session]:
    with tracer(BROKEN, figures=DeviceFigures(max_shared_bytes=2048)) as session:
        assert isinstance(session.loaded, Loaded), session.loaded
        yield session


@pytest.mark.parametrize(
    ("place", "line", "words"),
    [
        (0, "x + undefined_name", "undefined_name"),
        (1, "break", "break"),
        (2, "tl.static_assert", "BLOCK is too small"),
        (8, "# no such axis", "invalid axis 1"),
        (9, "# not jitted", "cannot call plain"),
        (10, "# torch in a kernel", "cannot call torch.exp"),
        (11, "# not jitted either", "cannot call plain"),
    ],
)
def test_compile_errors_show_the_learners_line(broken: Session, place: int, line: str, words: str) -> None:
    found = broken.fault(dense(place, 4))
    assert (found.verdict, found.phase) == ("compile_error", "compile")
    assert words.lower() in found.message.lower()
    assert "\n" not in found.message
    assert found.line == line_of(BROKEN, line)


@pytest.mark.parametrize(
    ("place", "advice"), [(9, "@triton.jit above `def plain`"), (10, "tl.exp"), (11, "@triton.jit above `def plain`")]
)
def test_a_function_that_is_none_of_tritons_is_told_with_what_to_write(
    broken: Session, place: int, advice: str
) -> None:
    found = broken.fault(dense(place, 4))
    assert advice in found.advice
    assert "0x" not in found.message


@pytest.mark.parametrize(
    ("place", "line", "words", "advice"),
    [
        (5, "# closes the circle", "ping calls itself", "loop"),
        (6, "itself(x_ptr, n, BLOCK)", "itself calls itself", "loop"),
        (7, "total = top = 0.0", "several names at once", "`total = 0.0`, then `top = 0.0`"),
        (12, "# not constexpr", "tl.constexpr", "`BLOCK: tl.constexpr` in the kernel's signature"),
        (13, "# no power of two", "power of 2", "Look at the launch, which gives `odd` its value"),
        (14, "# a literal that is none", "power of 2", "Write a power of two here"),
    ],
)
def test_what_kernels_cannot_say_is_explained(broken: Session, place: int, line: str, words: str, advice: str) -> None:
    found = broken.fault(dense(place, 4))
    assert (found.verdict, found.phase) == ("compile_error", "compile")
    assert words in found.message
    assert advice in found.advice
    assert found.line == line_of(BROKEN, line)


@pytest.mark.parametrize(
    ("place", "words"), list(enumerate(["no room is left for files", "process", "files are open", "memory limit"]))
)
def test_a_machine_that_runs_short_is_no_compile_error(broken: Session, place: int, words: str) -> None:
    reply = broken.trace(dense(place, 4), entry="short")
    assert isinstance(reply, Failed), reply
    assert reply.fault.verdict == "runtime_error"
    assert words in reply.fault.message
    assert "smaller blocks" not in reply.fault.advice
    assert reply.fault.line == line_of(BROKEN, "# short")


def test_more_shared_memory_than_the_card_has_is_a_compile_error(broken: Session) -> None:
    found = broken.fault(dense(3, 4))
    assert (found.verdict, found.phase, found.error) == ("compile_error", "compile", "OutOfResources")
    assert "shared memory" in found.message
    assert found.line == line_of(BROKEN, "# launch")


def test_descriptors_without_an_allocator(broken: Session) -> None:
    found = broken.fault(dense(4, 4))
    assert found.verdict == "runtime_error"
    assert "set_allocator" in found.message
