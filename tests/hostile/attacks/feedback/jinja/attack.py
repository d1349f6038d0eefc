"""Puts expressions, statements and comments of a template into the text of an error."""


def doubled(x):
    raise ValueError("{{ 1234 * 1111 }} {{ ''.__class__.__mro__ }} {% for i in range(10**9) %}x{% endfor %} {# gone #}")
