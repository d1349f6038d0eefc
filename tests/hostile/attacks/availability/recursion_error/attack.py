"""Recurses until Python stops it."""


def doubled(x):
    return doubled(x)
