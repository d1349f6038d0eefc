"""Recurses without end, with Python's own limit raised."""

import sys


class Nested:
    def __init__(self, inner):
        self.inner = inner

    def __repr__(self):
        return repr(Nested(self))


def doubled(x):
    sys.setrecursionlimit(1_000_000)
    return repr(Nested(x))
