"""Host code: what honest submissions write works, the rest is refused by name."""

from __future__ import annotations

import numpy as np
import pytest

KERNEL = """
@triton.jit
def double(y_ptr, x_ptr, n, BLOCK: tl.constexpr):
    cols = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + cols, mask=cols < n, other=0.0)
    tl.store(y_ptr + cols, x * 2, mask=cols < n)

def launch(x, y):
    double[(triton.cdiv(x.numel(), 8),)](y, x, x.numel(), BLOCK=8)

"""
X = np.arange(12, dtype=np.float32).reshape(3, 4)

HONEST = {
    "questions": """
def run(x):
    assert x.is_cuda and x.device.type == "cuda" and str(x.device) == "cuda:0" and x.dtype is torch.float32
    assert x.is_contiguous() and x.dim() == x.ndim == 2 and len(x) == 3 and x.numel() == 12
    assert isinstance(x, torch.Tensor) and not x.requires_grad and x.element_size() == 4 and x.data_ptr() % 16 == 0
    print(x, f"{x}", repr(x), x.shape)
    y = torch.empty(x.shape, dtype=x.dtype, device="cuda")
    launch(x, y)
    return y
""",
    "device": """
def run(x):
    properties = torch.cuda.get_device_properties(x.device)
    figures = triton.runtime.driver.active.utils.get_device_properties(torch.cuda.current_device())
    assert properties.multi_processor_count == figures["multiprocessor_count"] == 132
    assert figures["max_shared_mem"] == 232448 and torch.cuda.get_device_capability() == (9, 0)
    assert torch.cuda.is_available() and torch.cuda.device_count() == 1
    y = torch.empty_like(x)
    with torch.cuda.device(x.device), torch.no_grad():
        launch(x, y)
    torch.cuda.synchronize()
    return y
""",
    "occupancy": """
def run(x):
    y = torch.empty_like(x)
    kernel = double.warmup(y, x, x.numel(), BLOCK=8, num_warps=4, grid=(1,))
    kernel._init_handles()
    occupancy = min(65536 // (kernel.n_regs * 32 * 4), 232448 // kernel.metadata.shared)
    assert occupancy >= 1
    kernel[(triton.cdiv(x.numel(), 8), 1, 1)](y, x, x.numel(), 8)
    return y
""",
    "views": """
def run(x):
    flat = x.view(-1)
    assert flat.shape == (12,) and x.t().shape == (4, 3) and x[1].shape == (4,) and x[:, None].shape == (3, 1, 4)
    assert x[1, 2:].storage_offset() == 6 and x.unsqueeze(0).expand(2, 3, 4).stride(0) == 0
    y = torch.zeros_like(flat)
    y[:] = 7
    for row in range(x.shape[0]):
        launch(x[row], y.view(3, 4)[row])
    return y.reshape(x.shape)
""",
    "fills": """
def run(x):
    y = torch.full((3, 4), 5.0, device=x.device)
    y.fill_(1).zero_()
    z = x.new_empty(3, 4)
    z.copy_(y)
    z = z.clone()
    assert x.new_full((2, 2), 3).shape == x.new_zeros([2, 2]).shape
    launch(x, z)
    return z
""",
    "autograd": """
class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        y = torch.empty_like(x)
        launch(x, y)
        return y

def run(x):
    return Double.apply(x)
""",
    "dataclass": """
import dataclasses, logging

@dataclasses.dataclass(frozen=True)
class Shape:
    rows: int
    cols: int

def run(x):
    shape = Shape(*x.shape)
    logging.getLogger(__name__).warning("shape %s of %s", shape, x)
    y = torch.empty((shape.rows, shape.cols), device=x.device, dtype=x.dtype)
    launch(x, y)
    return y

if __name__ == "__main__":
    raise SystemExit("the self-test ran")
""",
    "autotune": """
tuned = triton.autotune(configs=[triton.Config({"BLOCK": 4}), triton.Config({"BLOCK": 16})], key=["n"])(double)

def run(x):
    y = torch.empty_like(x)
    tuned[lambda meta: (triton.cdiv(meta["n"], meta["BLOCK"]),)](y, x, x.numel())
    return y
""",
    "heuristics": """
tuned = triton.heuristics({"BLOCK": lambda args: triton.next_power_of_2(args["n"])})(double)

def run(x):
    y = torch.empty_like(x)
    tuned[(1,)](y, x, x.numel())
    return y
""",
    "interpreter switched off": """
import os
os.environ["TRITON_INTERPRET"] = "0"

@triton.jit
def other(y_ptr, x_ptr):
    tl.store(y_ptr + tl.arange(0, 4), tl.load(x_ptr + tl.arange(0, 4)) * 2)

def run(x):
    y = torch.empty_like(x)
    for row in range(3):
        other[(1,)](y[row], x[row])
    return y
""",
}


@pytest.mark.parametrize("name", HONEST)
def test_honest_host_code(worker, name):
    reply, (y,) = worker.run(KERNEL + HONEST[name], {"x": X})
    np.testing.assert_array_equal(y, 2 * X)
    assert reply.inputs_changed == ()


REFUSED = {
    "torch.softmax(x, dim=1)": "torch.softmax",
    "x.sum()": "Tensor.sum",
    "x.float().half()": "Tensor.half",
    "x.to(torch.float16)": "Tensor.to",
    "x[0, 0].item()": "Tensor.item",
    "float(x[0, 0])": "Tensor.__float__",
    "1 if x else 2": "Tensor.__bool__",
    "x + 1": "",
    "torch.nn.functional.pad(x, (0, 4))": "",
    "x.cpu()": "",
    "x.tolist()": "Tensor.tolist",
    "x[x > 0]": "",
}


@pytest.mark.parametrize("expression", REFUSED)
def test_other_operations_are_refused_by_name(worker, expression):
    fault = worker.fault(f"def run(x):\n    y = {expression}\n    return y\n", {"x": X})
    assert (fault.verdict, fault.phase) == ("forbidden_host_op", "host")
    assert fault.line == 6
    assert fault.advice
    assert REFUSED[expression] in fault.operation


@pytest.mark.parametrize(
    ("expression", "name"),
    [
        ("torch.linalg.norm(x, dim=1)", "torch.linalg.norm"),
        ("torch.linalg.vector_norm(x, dim=1)", "torch.linalg.vector_norm"),
        ("torch.norm(x, dim=1)", "torch.norm"),
        ("x.norm(dim=1)", "Tensor.norm"),
        ("torch.nn.functional.normalize(x, dim=1)", "torch.nn.functional.normalize"),
        ("torch.special.logsumexp(x, 1)", "torch.special.logsumexp"),
    ],
)
def test_one_operation_gets_its_learners_name_and_one_advice_however_it_is_spelt(worker, expression, name):
    fault = worker.fault(f"def run(x):\n    y = {expression}\n    return y\n", {"x": X})
    assert fault.operation == name
    assert fault.advice.startswith("Do this inside the kernel")


def test_a_refusal_that_the_submission_catches_still_counts(worker):
    source = "def run(x):\n    try:\n        return x.sum()\n    except BaseException:\n        return x\n"
    assert worker.fault(source, {"x": X}).verdict == "forbidden_host_op"


@pytest.mark.parametrize(
    ("grid", "told"),
    [
        ("(-1,)", "-1"),
        ("(1.5,)", "1.5"),
        ("('1',)", "'1'"),
        ("(None,)", "grid[0] is None"),
        ("()", "0 entries"),
        ("(1, 1, 1, 1)", "4 entries"),
        ("5", "the grid is 5, and must be a tuple: (5,)"),
        ("None", "the grid is None, and must be a tuple"),
        ("1.5", "the grid is 1.5, and must be a tuple"),
        ("lambda meta: None", "the function for the grid returned None, and must be a tuple"),
        ("lambda meta: 5", "the function for the grid returned 5, and must be a tuple: (5,)"),
    ],
)
def test_bad_grids(worker, grid, told):
    fault = worker.fault(KERNEL + f"def run(x):\n    double[{grid}](x, x, 1, BLOCK=8)\n    return x\n", {"x": X})
    assert (fault.verdict, fault.phase) == ("runtime_error", "host")
    assert told in fault.message
    assert fault.line is not None


def test_an_empty_grid_launches_nothing(worker):
    source = KERNEL + "def run(x):\n    y = torch.empty_like(x)\n    double[(0,)](y, x, 0, BLOCK=8)\n    return y\n"
    reply, (y,) = worker.run(source, {"x": np.zeros((0, 5), np.float32)})
    assert y.shape == (0, 5)
    assert reply.traffic.loaded == reply.traffic.stored == 0


RESULTS = {
    "None": "run returned None, not a tensor: is the return statement missing?",
    "1.0": "run returned a float, not a tensor",
    "__import__('numpy').zeros(3)": "numpy.ndarray",
    "torch.zeros(3)": "CPU",
    "(x, 3)": "value 2 of 2 that run returned is an int, not a tensor",
    "[x, None]": "value 2 of 2 that run returned is None, not a tensor",
}


@pytest.mark.parametrize("expression", RESULTS)
def test_results_that_are_no_tensors_on_the_device(worker, expression):
    fault = worker.fault(f"def run(x):\n    return {expression}\n", {"x": X})
    assert (fault.verdict, fault.phase) == ("invalid_output", "result")
    assert RESULTS[expression] in fault.message


def test_a_tuple_of_results(worker):
    source = KERNEL + "def run(x):\n    y = torch.empty_like(x)\n    launch(x, y)\n    return y, y.t()\n"
    reply, (y, transposed) = worker.run(source, {"x": X})
    assert reply.returned_tuple
    assert [data.spec.strides for data in reply.outputs] == [(4, 1), (1, 4)]
    np.testing.assert_array_equal(transposed, y.T)


def test_a_tensor_on_the_cpu_is_no_kernel_argument(worker):
    fault = worker.fault(KERNEL + "def run(x):\n    y = torch.empty(3, 4)\n    launch(x, y)\n    return x\n", {"x": X})
    assert fault.verdict == "runtime_error"
    assert "y_ptr" in fault.message
    assert "CPU" in fault.message


@pytest.mark.parametrize(
    "move", ["x.cuda()", "x.cuda(0)", "x.to('cuda')", "x.to(x.device)", "x.to(device='cuda:0')", "x.t().cuda().t()"]
)
def test_a_tensor_that_is_sent_to_the_device_it_is_on_is_the_same(worker, move):
    """As on a card; it costs no traffic."""
    source = KERNEL + f"def run(x):\n    x = {move}\n    y = torch.empty_like(x)\n    launch(x, y)\n    return y\n"
    reply, (y,) = worker.run(source, {"x": X})
    plain, (expected,) = worker.run(source.replace(move, "x"), {"x": X})
    np.testing.assert_array_equal(y, expected)
    assert reply.traffic == plain.traffic


@pytest.mark.parametrize("move", ["x.cpu()", "x.to('cpu')", "x.to(torch.float16)", "x.to('cuda', torch.float16)"])
def test_a_tensor_does_not_leave_the_device_or_change_by_the_way(worker, move):
    fault = worker.fault(KERNEL + f"def run(x):\n    return {move}\n", {"x": X})
    assert fault.verdict == "forbidden_host_op"
