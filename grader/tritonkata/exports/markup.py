"""Light Markdown (what feedback templates are written in) as HTML: paragraphs, lists, tables, code, bold.

Every piece of text is escaped on its way, so that what stands in it can never become markup.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby, pairwise

from markupsafe import Markup, escape

from tritonkata.feedback.prose import Block, blocks, inline

_RULE = re.compile(r"\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?")
_CELL_END = re.compile(r"(?<!\\)\|")


def to_html(markdown: str) -> Markup:
    """The blocks of a text."""
    return Markup("\n").join(_groups(markdown))


def line_to_html(markdown: str) -> Markup:
    """One line: code and bold, without a paragraph around it."""
    text = inline(markdown)
    edges = sorted({0, len(text.plain), *(edge for span in text.spans for edge in (span.start, span.end))})
    pieces = []
    for start, end in pairwise(edges):
        styles = {str(span.style) for span in text.spans if span.start <= start and end <= span.end}
        piece = escape(text.plain[start:end])
        piece = Markup("<code>{}</code>").format(piece) if "cyan" in styles else piece
        pieces.append(Markup("<strong>{}</strong>").format(piece) if "bold" in styles else piece)
    return Markup("").join(pieces)


def _groups(markdown: str) -> Iterator[Markup]:
    for lead, group in groupby(blocks(markdown), key=_list_tag):
        found = list(group)
        if lead:
            items = Markup("").join(Markup("<li>{}</li>").format(_words(block)) for block in found)
            yield Markup("<{0}>{1}</{0}>").format(Markup(lead), items)
        else:
            yield from (_block(block) for block in found)


def _list_tag(block: Block) -> str:
    if block.kind != "item":
        return ""
    return "ul" if block.lead.strip() in ("-", "*") else "ol"


def _block(block: Block) -> Markup:
    if block.kind == "code":
        return Markup("<pre>{}</pre>").format("\n".join(block.lines))
    if block.kind == "table":
        return _table(block)
    return Markup("<p>{}</p>").format(_words(block))


def _words(block: Block) -> Markup:
    return line_to_html(" ".join(block.lines))


def _table(block: Block) -> Markup:
    rows = [_CELL_END.split(line.strip("|")) for line in block.lines if not _RULE.fullmatch(line)]
    head, *body = [[line_to_html(cell.strip()) for cell in row] for row in rows]
    first = Markup("").join(Markup('<th scope="col">{}</th>').format(cell) for cell in head)
    others = (Markup("").join(Markup("<td>{}</td>").format(cell) for cell in row) for row in body)
    lines = Markup("").join(Markup("<tr>{}</tr>").format(row) for row in others)
    return Markup("<table><thead><tr>{}</tr></thead><tbody>{}</tbody></table>").format(first, lines)
