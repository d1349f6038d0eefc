"""Raises an error whose text is a hundred megabytes long."""


def doubled(x):
    raise ValueError("pass " * 20_000_000)
