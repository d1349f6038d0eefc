"""Raises an error whose class is named with escapes and markup."""

HOSTILE = "\x1b[2J<script>{{ 1234 * 1111 }}\u202e|**x**"


def doubled(x):
    raise type(HOSTILE, (Exception,), {"__str__": lambda _: HOSTILE, "__module__": HOSTILE})()
