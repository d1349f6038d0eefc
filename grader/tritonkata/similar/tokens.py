"""A Python file as a row of symbols that renaming, reformatting and new literals leave as it is."""

from __future__ import annotations

import io
import keyword
import token
import tokenize
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

_LAYOUT = frozenset(
    {token.NL, token.COMMENT, token.INDENT, token.DEDENT, token.ENCODING, token.ENDMARKER, token.TYPE_COMMENT}
)
# From Python 3.12 on, a formatted string is a row of tokens of its own.
_OPENS = {number for name, number in vars(token).items() if name in ("FSTRING_START", "TSTRING_START")}
_CLOSES = {number for name, number in vars(token).items() if name in ("FSTRING_END", "TSTRING_END")}
_CLOSING = frozenset({")", "]", "}"})
_IMPORTS = frozenset({"import", "from"})


@dataclass(frozen=True)
class Stream:
    """The symbols of a file, and the line (from 1) of each."""

    symbols: tuple[str, ...]
    lines: array[int]


def stream_of(source: str) -> Stream:
    """Read a file.

    Names become one symbol and literals another; keywords, operators and names behind a dot stay. Comments, docstrings,
    imports, layout and the comma before a closing bracket go. Of a file that is not Python, what stands before the
    place where reading ends is taken.
    """
    symbols: list[str] = []
    lines = array("I")
    for statement in _statements(_tokens(source)):
        for symbol, line in _symbols(statement):
            symbols.append(symbol)
            lines.append(line)
    return Stream(tuple(symbols), lines)


def _tokens(source: str) -> Iterator[tokenize.TokenInfo]:
    """Tokens up to the first error; a formatted string is one of them on every version."""
    depth = 0
    # Some versions fail on these two in ways of their own: a null character ends Python, a lone surrogate is no text.
    readable = source.partition("\0")[0].encode("utf-8", errors="replace").decode("utf-8")
    try:
        for one in tokenize.generate_tokens(io.StringIO(readable).readline):
            depth += one.type in _OPENS
            if depth == 0:
                yield one
            elif one.type in _CLOSES:
                depth -= 1
                if depth == 0:
                    yield one._replace(type=token.STRING)
    except (tokenize.TokenError, SyntaxError, ValueError):
        return


def _statements(tokens: Iterable[tokenize.TokenInfo]) -> Iterator[list[tokenize.TokenInfo]]:
    """Logical lines without layout; neither imports nor strings that stand alone."""
    statement: list[tokenize.TokenInfo] = []
    for one in tokens:
        if one.type in _LAYOUT:
            continue
        if one.type != token.NEWLINE:
            statement.append(one)
            continue
        if _counts(statement):
            yield statement
        statement = []
    if _counts(statement):
        yield statement


def _counts(statement: list[tokenize.TokenInfo]) -> bool:
    return (
        bool(statement) and statement[0].string not in _IMPORTS and any(one.type != token.STRING for one in statement)
    )


def _symbols(statement: list[tokenize.TokenInfo]) -> Iterator[tuple[str, int]]:
    before = ""
    for place, one in enumerate(statement):
        following = statement[place + 1].string if place + 1 < len(statement) else ""
        if not (one.string == "," and following in _CLOSING):
            yield _symbol(one, before), one.start[0]
        before = one.string


def _symbol(one: tokenize.TokenInfo, before: str) -> str:
    if one.type == token.NAME:
        return one.string if before == "." or keyword.iskeyword(one.string) else "name"
    if one.type in (token.NUMBER, token.STRING):
        return "literal"
    return one.string
