"""Says itself that it was loaded, and ends before anybody looks."""

import gc
import os

from tritonkata.boundary.messages import Loaded


def channel():
    """The worker's own end of the protocol, wherever it is kept."""
    return next(thing for thing in gc.get_objects() if type(thing).__name__ == "Channel")


channel().send(Loaded())
os._exit(0)
