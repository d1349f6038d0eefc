"""Submissions in many styles, each entry one of them."""

from tracer_session import PLAIN, SOFTMAX

STYLES = (
    SOFTMAX
    + PLAIN
    + """
import dataclasses
import logging
from triton.runtime import driver


def launch(x, y):
    kernel[(x.shape[0],)](x, y, x.stride(0), y.stride(0), x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
    return y


def contiguous(x):
    x = x.contiguous()
    return launch(x, torch.empty_like(x))


def zeros(x):
    return launch(x, torch.zeros_like(x))


def full(x):
    return launch(x, torch.full(x.shape, -1.5, dtype=x.dtype, device="cuda"))


def filled(x):
    y = x.new_empty(x.shape)
    y[0] = 2.0
    y.fill_(3)
    return launch(x, y)


def views(x):
    y = torch.empty_like(x)
    flat = y.view(-1).reshape(x.shape).unsqueeze(0).squeeze(0)
    assert flat.t().T.stride() == x.stride() and len(x) == x.shape[0]
    launch(x[1:, 2:], flat[1:, 2:])
    return y


def expanded(x):
    return launch(x[:1].expand(3, -1), torch.empty((3, x.shape[1]), device=x.device, dtype=x.dtype))


def halves(x):
    m, s = torch.empty((2, x.shape[0]), device=x.device)
    return m, s


def two(x):
    y = torch.empty_like(x)
    launch(x, y)
    return [launch(y, torch.empty_like(x)), y]


def copies(x):
    y = torch.empty_like(x).requires_grad_()
    y.copy_(x[0])
    y[1:] = x[1:]
    return launch(x, y.clone())


def alias(x):
    return launch(x, x)


class Op(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = launch(x, torch.empty_like(x))
        ctx.save_for_backward(y)
        return y


@dataclasses.dataclass
class Shape:
    rows: int


@torch.no_grad()
def chatty(x):
    print(x, f"{x} {x.shape}")
    logging.getLogger(__name__).warning("tracing %s", x)
    assert x.is_cuda and x.is_contiguous() and x.dim() == 2 and x.numel() == x.shape[0] * x.shape[1]
    assert x.device == torch.device("cuda", torch.cuda.current_device()) and torch.cuda.is_available()
    assert x.element_size() == 4 and x.data_ptr() % 256 == 0 and Shape(x.shape[0]).rows == len(x)
    assert x.to(torch.float32) is not None and x.cuda() is x and x.to("cuda").shape == x.shape
    with torch.cuda.device(x.device), torch.cuda.stream(torch.cuda.current_stream()):
        y = Op.apply(x)
    torch.cuda.synchronize()
    return y


@triton.jit
def scaled(x_ptr, y_ptr, n, one, scale, flag, BLOCK: tl.constexpr):
    cols = tl.arange(0, BLOCK)
    y = tl.load(x_ptr + cols * one, mask=cols < n) * scale
    tl.store(y_ptr + cols, tl.where(flag, y, 0.0), mask=cols < n)


def scalars(x):
    y = torch.empty_like(x)
    scaled[(1, 1)](x, y, x.shape[1], 1, 0.5, True, BLOCK=16)
    return y


def lambda_grid(x):
    y = torch.empty_like(x)
    scaled[lambda meta: (triton.cdiv(x.shape[1], meta["BLOCK"]),)](x, y, x.shape[1], 1, 0.5, False, BLOCK=16)
    return y


def nothing(x):
    y = torch.empty_like(x)
    if x.numel():
        raise AssertionError
    kernel[(x.shape[0],)](x, y, 1, 1, x.shape[1], BLOCK=1)
    return y


@triton.jit
def persistent(x_ptr, y_ptr, n_rows, n_cols, BLOCK: tl.constexpr):
    cols = tl.arange(0, BLOCK)
    for row in tl.range(tl.program_id(0), n_rows, tl.num_programs(0)):
        x = tl.load(x_ptr + row * n_cols + cols, mask=cols < n_cols, other=-float("inf"))
        e = tl.exp(x - tl.max(x, axis=0))
        tl.store(y_ptr + row * n_cols + cols, e / tl.sum(e, axis=0), mask=cols < n_cols)


def occupancy(x):
    properties = driver.active.utils.get_device_properties(torch.cuda.current_device())
    y = torch.empty_like(x)
    built = persistent.warmup(x, y, x.shape[0], x.shape[1], BLOCK=1024, num_warps=8, grid=(1,))
    built._init_handles()
    by_registers = properties["max_num_regs"] // (built.n_regs * properties["warpSize"] * 8)
    by_shared = properties["max_shared_mem"] // max(built.metadata.shared, 1)
    programs = properties["multiprocessor_count"] * min(by_registers, by_shared)
    persistent[(min(programs, x.shape[0]), 1, 1)](x, y, x.shape[0], x.shape[1], BLOCK=1024, num_warps=8)
    return y


def sm_count(x):
    y = torch.empty_like(x)
    count = torch.cuda.get_device_properties(x.device).multi_processor_count
    assert torch.cuda.get_device_capability() == (9, 0)
    persistent[(count,)](x, y, x.shape[0], x.shape[1], BLOCK=1024)
    return y


@triton.heuristics({"BLOCK": lambda args: triton.next_power_of_2(args["n"])})
@triton.jit
def guessed(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    cols = tl.arange(0, BLOCK)
    tl.store(y_ptr + cols, tl.load(x_ptr + cols, mask=cols < n), mask=cols < n)


def heuristics(x):
    y = torch.empty_like(x)
    guessed[(1,)](x, y, x.shape[1])
    return y


@triton.jit
def merge(m_a, s_a, m_b, s_b):
    m = tl.maximum(m_a, m_b)
    return m, s_a * tl.exp(m_a - m) + s_b * tl.exp(m_b - m)


@triton.jit
def row_stats(x_ptr, m_ptr, s_ptr, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n_cols + cols, mask=cols < n_cols, other=-1e30)
    m, s = tl.reduce((x, tl.full((BLOCK,), 1.0, tl.float32)), 0, merge)
    tl.store(m_ptr + row, m)
    tl.store(s_ptr + row, s)


def custom_reduce(x):
    m = torch.empty(x.shape[0], device=x.device)
    s = torch.empty((x.shape[0],), dtype=torch.float32, device=x.device)
    row_stats[(x.shape[0],)](x, m, s, x.shape[1], BLOCK=32)
    return m, s


@triton.jit
def described(x_ptr, y_ptr, rows, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    source = tl.make_tensor_descriptor(x_ptr, [rows, cols], [cols, 1], [1, BLOCK])
    target = tl.make_tensor_descriptor(y_ptr, [rows, cols], [cols, 1], [1, BLOCK])
    target.store([row, 0], source.load([row, 0]) * 2.0)


def descriptors(x):
    triton.set_allocator(lambda size, alignment, stream: torch.empty(size, device="cuda", dtype=torch.int8))
    y = torch.empty_like(x)
    described[(x.shape[0],)](x, y, x.shape[0], x.shape[1], BLOCK=32)
    return y
"""
)

AUTOTUNED = (
    SOFTMAX
    + """
@triton.autotune(
    configs=[triton.Config({"BLOCK": 64}, num_warps=2), triton.Config({"BLOCK": 128}, num_warps=4),
             triton.Config({"BLOCK": 256}, num_warps=4), triton.Config({"BLOCK": 8}, num_warps=1)],
    key=["n"],
    reset_to_zero=["y_ptr"],
    prune_configs_by={"early_config_prune": lambda configs, args, **_: [c for c in configs if c.kwargs["BLOCK"] > 8]},
)
@triton.jit
def tuned(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    tl.static_assert(BLOCK < 256)
    cols = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + cols, tl.load(x_ptr + cols, mask=cols < n), mask=cols < n)


def entry(x):
    y = torch.empty_like(x)
    tuned[lambda meta: (triton.cdiv(x.shape[1], meta["BLOCK"]),)](x, y, x.shape[1])
    return y


@triton.autotune(configs=[triton.Config({"BLOCK": 64}, pre_hook=lambda args: args["y_ptr"].zero_())], key=["n"])
@triton.jit
def single(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    cols = tl.arange(0, BLOCK)
    tl.store(y_ptr + cols, tl.load(x_ptr + cols, mask=cols < n), mask=cols < n)


def one_configuration(x):
    y = torch.empty_like(x)
    single[(1,)](x, y, x.shape[1])
    return y
"""
)
