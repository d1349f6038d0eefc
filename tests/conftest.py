"""What tests of several folders share: modules that they import, and a station."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tritonkata.engine.station import Station, open_station

sys.path.insert(0, str(Path(__file__).parent / "support"))


@pytest.fixture(scope="session")
def station() -> Iterator[Station]:
    """As in bulk grading: workers are forked from templates, so that torch and Triton are not imported for each."""
    with open_station() as opened:
        yield opened
