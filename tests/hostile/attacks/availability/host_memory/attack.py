"""Asks for ever more memory on the host."""

import mmap

TAKEN = []


def doubled(x):
    while True:
        TAKEN.append(mmap.mmap(-1, 1 << 30))
