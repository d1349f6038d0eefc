"""Hidden tests of the test kata."""

import numpy as np
import pytest

from tritonkata.hidden.asserts import assert_matches, assert_unchanged
from tritonkata.hidden.budget import assert_within_budget
from tritonkata.hidden.inputs import normal, padded


@pytest.mark.check("compiles", title="It compiles", points=1)
def test_compiles(candidate, rng):
    candidate.compile(normal(rng, (3, 8)))


@pytest.mark.check("values", title="Twice the input", points=2, depends=("compiles",))
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_values(candidate, oracle, rng, dtype):
    x = normal(rng, (3, 37), dtype)
    assert_matches(candidate(x), oracle(x))


@pytest.mark.check("strided", title="Rows with gaps", points=1, depends=("values",))
def test_strided(candidate, oracle, rng):
    x = padded(normal(rng, (3, 9)))
    observation = candidate.observe(x)
    assert_unchanged(observation)
    assert_matches(candidate(x), oracle(x))


@pytest.mark.check("traffic", title="One read, one write", points=1, depends=("values",))
def test_traffic(candidate, rng):
    x = normal(rng, (4, 100))
    assert_within_budget(candidate.traffic(x), unit=x)


@pytest.mark.check("many_rows", title="A million rows", points=1, engines=("gpu",), depends=("values",))
def test_many_rows(candidate, oracle):
    x = np.ones((1 << 20, 8), dtype=np.float32)
    assert_matches(candidate(x), oracle(x))
