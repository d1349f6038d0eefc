"""Clears the screen, sets its title and writes a pass through the text of an error."""


def doubled(x):
    raise ValueError("\x1b[2J\x1b]0;pwned\x07\x1b[1;32mpass\x1b[0m\x9b31m\r\x08")
