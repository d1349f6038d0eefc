"""Asks for a tebibyte of memory on the host while it is imported."""

TAKEN = bytearray(1 << 40)


def doubled(x):
    return x
