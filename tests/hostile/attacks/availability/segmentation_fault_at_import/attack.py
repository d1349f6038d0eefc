"""Crashes while it is imported."""

import ctypes

ctypes.memset(0, 1, 1)
