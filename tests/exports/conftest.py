"""Make the helpers beside the tests importable, and those of the feedback tests."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "feedback")]
