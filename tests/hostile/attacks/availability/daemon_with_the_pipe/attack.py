"""Leaves a process that holds every pipe open, and ends."""

import ctypes
import os
import time


def doubled(x):
    if os.fork() == 0:
        os.setsid()
        ctypes.CDLL(None).prctl(15, b"kata-hostile", 0, 0, 0)
        time.sleep(300)
    os._exit(0)
