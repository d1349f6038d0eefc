"""Sends a fault that blames the grader while it is imported."""

import gc
import os

from tritonkata.boundary.messages import Failed
from tritonkata.model.faults import Fault


def channel():
    """The worker's own end of the protocol, wherever it is kept."""
    return next(thing for thing in gc.get_objects() if type(thing).__name__ == "Channel")


channel().send(Failed(Fault("grader_error", "load", "the grader is broken")))
os._exit(0)
