r"""Text that came from a submission, made harmless before anyone sees it.

Names, messages and source lines are written by the learner's file. They may
hold terminal escapes, marks that reorder the line on screen, or markup of the
format they end up in. Nothing is dropped in silence: what is neutralised stays
visible as an escape such as `\x1b`.
"""

from __future__ import annotations

import re
import unicodedata

MAX_CHARACTERS = 2000

# Cc control, Cf format (bidirectional marks, zero-width, tags), Co private use, Cs surrogates,
# Cn unassigned (includes U+FFFE), Zl and Zp line and paragraph separators.
_HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"})
_MARKDOWN = re.compile(r"([\\`*_\[\]<>|~&#$])")
_URL = re.compile(r"://")
_COMMON = str.maketrans(
    {
        "\u2026": "...",
        "\u2013": "-",
        "\u2014": "-",
        "\u2212": "-",
        "\u00d7": "x",
        "\u00b7": "*",
        "\u2018": "'",
        "\u2019": "'",
        "\u201c": '"',
        "\u201d": '"',
        "\u2264": "<=",
        "\u2265": ">=",
        "\u2192": "->",
        "\u00a0": " ",
    }
)


def clean(text: str, *, limit: int = MAX_CHARACTERS) -> str:
    r"""`text` without control, format and private characters, each shown as an escape.

    Newlines stay (`\r\n` becomes `\n`), tabs become four spaces, and what is
    longer than `limit` characters is cut with a note of how much is missing.
    """
    cut = text[:limit]
    # A file with Windows line ends is fine; a lone carriage return could overwrite the line.
    shown = "".join(_visible(character) for character in cut.replace("\r\n", "\n").expandtabs(4))
    if len(text) > limit:
        shown += f" ... ({len(text) - limit} more characters)"
    return shown


def one_line(text: str, *, limit: int = MAX_CHARACTERS) -> str:
    """`clean` text with every run of white space as one space."""
    return " ".join(clean(text, limit=limit).split())


def escape_markdown(text: str) -> str:
    """One line of text that Markdown shows as it is: no emphasis, link, table, HTML or code."""
    escaped = _MARKDOWN.sub(r"\\\1", one_line(text))
    # Some renderers turn a bare address into a link.
    return _URL.sub(r":\\/\\/", escaped)


def to_ascii(text: str) -> str:
    """`text` for an output that cannot show more than ASCII; the rest as escapes."""
    return text.translate(_COMMON).encode("ascii", "backslashreplace").decode("ascii")


def _visible(character: str) -> str:
    if character == "\n" or (character.isascii() and character.isprintable()):
        return character
    if unicodedata.category(character) not in _HIDDEN_CATEGORIES:
        return character
    code = ord(character)
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
