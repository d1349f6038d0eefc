"""Returns an object whose class is named with escapes and markup."""

HOSTILE = "\x1b[2J<script>{{ 1234 * 1111 }}\u202e|**x**"


def doubled(x):
    return type(HOSTILE, (), {"__module__": HOSTILE})()
