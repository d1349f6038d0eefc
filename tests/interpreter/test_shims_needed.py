"""Fails when an installed Triton no longer needs one of the shims, which can then go for that release."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

STOCK = Path(__file__).with_name("stock.py")
RELEASE = tuple(int(part) for part in version("triton").split(".")[:2])

# Which release still needs it, as far as known.
NEEDED = {
    "nothing_special": False,
    "loop_variable": True,
    "scalar_condition": RELEASE >= (3, 9),
    "float_condition": True,
    "chained_assignment": True,
    "library_function": True,
    "alias": True,
    "constant_on_the_left": True,
    "mathematics_as_method": RELEASE < (3, 9),
    "bfloat16_rounding": True,
    "bfloat16_arithmetic": True,
}


@pytest.mark.parametrize("name", NEEDED)
def test_the_stock_interpreter(name):
    ran = subprocess.run([sys.executable, str(STOCK), name], capture_output=True, text=True, timeout=120, check=True)
    assert (ran.stdout.split()[-1] != "right") == NEEDED[name], ran.stdout
