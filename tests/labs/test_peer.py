"""torch.softmax beside the lab: what its process says, and what is made of it."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import msgspec
import numpy as np
import pytest

from tritonkata.hidden.inputs import DTYPES
from tritonkata.labs import inputs, peer
from tritonkata.labs.model import LabRow, Options
from tritonkata.labs.peer import torch_row
from tritonkata.labs.torch_softmax import to_numpy, to_torch

OPTIONS = Options(4, 100, "float32", 0, 3)


def answered(monkeypatch: pytest.MonkeyPatch, output: bytes = b"", errors: bytes = b"", code: int = 0) -> LabRow | str:
    def run(*_: Any, **__: Any) -> subprocess.CompletedProcess[bytes]:
        return subprocess.CompletedProcess([], code, output, errors)

    monkeypatch.setattr(peer, "run_module", run)
    return torch_row(OPTIONS, lambda _: None)


def test_a_row_comes_back_as_it_was_said(monkeypatch: pytest.MonkeyPatch) -> None:
    row = LabRow("torch", "torch.softmax", effective=3.5)
    assert answered(monkeypatch, b"a warning\n" + msgspec.json.encode(row) + b"\n") == row


@pytest.mark.parametrize(
    ("output", "errors", "words"),
    [
        (b'{"reason": "no CUDA in it"}\n', b"", "no CUDA in it"),
        (b"", b"Traceback\nOSError: gone\n", "the process that measures it failed: OSError: gone"),
        (b"", b"", "no answer"),
        (b'{"variant": 3}', b"", "failed"),
        (b"[]", b"", "failed"),
        (b"nonsense", b"\x1b[31mred\n", "\\x1b[31mred"),
    ],
)
def test_anything_else_is_one_line(monkeypatch: pytest.MonkeyPatch, output: bytes, errors: bytes, words: str) -> None:
    answer = answered(monkeypatch, output, errors, code=1)
    assert isinstance(answer, str)
    assert words in answer
    assert "\n" not in answer


def test_a_process_that_does_not_end_is_one_line_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def hang(*_: Any, **__: Any) -> None:
        raise subprocess.TimeoutExpired("python", 5)

    monkeypatch.setattr(peer, "run_module", hang)
    answer = torch_row(OPTIONS, lambda _: None)
    assert isinstance(answer, str)
    assert "timed out" in answer


def test_a_torch_without_cuda_says_so_in_its_own_process() -> None:
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available():
        pytest.skip("this torch has CUDA")
    answer = torch_row(OPTIONS, lambda _: None)
    assert isinstance(answer, str)
    assert "without CUDA" in answer


def test_the_grader_itself_imports_neither_torch_nor_cuda() -> None:
    code = (
        "import sys, tritonkata.labs.running, tritonkata.labs.ceiling, tritonkata.labs.page, tritonkata.cli.lab; "
        "print(sorted({'torch', 'triton', 'cuda'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("dtype", DTYPES)
def test_values_pass_to_torch_and_back_bit_for_bit(dtype: str) -> None:
    torch = pytest.importorskip("torch")
    x = inputs.scores((3, 50), dtype, seed=0, poisoned=True)
    tensor = to_torch(torch, x, "cpu")
    assert str(tensor.dtype) == f"torch.{dtype}"
    np.testing.assert_array_equal(tensor.float().numpy(), x.astype(np.float32))
    back = to_numpy(torch, tensor)
    assert back.dtype == x.dtype
    assert back.tobytes() == x.tobytes()
