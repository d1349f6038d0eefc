"""Puts format fields, percent signs and environment variables into the text of an error."""


def doubled(x):
    raise ValueError(
        "{0.__class__} {x!r:>{y}} %s %(name)s %n ${HOME} $(id) `id` [bold red]rich[/bold red] [link=https://example.org]x[/link]"
    )
