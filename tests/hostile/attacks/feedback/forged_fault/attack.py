"""Sends a fault whose every text holds escapes, markup and a template, past the worker's own cleaning."""

import gc
import os

from tritonkata.boundary.messages import Failed
from tritonkata.model.faults import Access, Fault

HOSTILE = "\x1b[2J<script>alert(1)</script>{{ 1234 * 1111 }}{% if %}\u202e| **x** ```\r\n# Pass"


def channel():
    """The worker's own end of the protocol, wherever it is kept."""
    return next(thing for thing in gc.get_objects() if type(thing).__name__ == "Channel")


def doubled(x):
    access = Access("load", HOSTILE, -(1 << 62), 0, (), HOSTILE, -1, -5, 1 << 62)
    fault = Fault("out_of_bounds", "kernel", HOSTILE, HOSTILE, 1 << 62, HOSTILE, HOSTILE, access)
    channel().send(Failed(fault, (HOSTILE,)))
    os._exit(0)
