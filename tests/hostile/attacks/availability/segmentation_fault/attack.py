"""Reads the address nothing."""

import ctypes


def doubled(x):
    return ctypes.string_at(0)
