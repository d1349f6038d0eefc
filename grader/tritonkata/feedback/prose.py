"""Light Markdown as terminal text: paragraphs, lists, tables, code blocks, bold and code.

rich has a Markdown renderer too; it draws boxes and bullets that do not
survive a pipe or an ASCII terminal. Here everything is a `Text` without markup, so what a
submission wrote can never become a style.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from tritonkata.feedback.clean import to_ascii

_INLINE = re.compile(r"\\([!-/:-@\[-`{-~])|`([^`]+)`|\*\*(.+?)\*\*|([^\\`*]+|.)", re.DOTALL)
_ITEM = re.compile(r"(\s*)([-*]|\d+\.)\s+(.*)")
_RULE = re.compile(r"\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?")
_CELL_END = re.compile(r"(?<!\\)\|")


@dataclass(frozen=True)
class Block:
    """One block: `kind` is paragraph, item, table or code; `lines` are its source lines.

    An item's `lead` is its mark, such as `- `.
    """

    kind: str
    lines: tuple[str, ...]
    lead: str = ""


def inline(markdown: str) -> Text:
    """One paragraph's text, with bold and code as styles and escapes resolved."""
    text = Text()
    for match in _INLINE.finditer(markdown):
        escaped, code, bold, plain = match.groups()
        if code is not None:
            text.append(code.strip(), style="cyan")
        elif bold is not None:
            text.append_text(inline(bold))
            text.stylize("bold", len(text) - len(inline(bold)))
        else:
            text.append(escaped or plain)
    return text


def plain(markdown: str) -> str:
    """Markdown as unstyled text, not wrapped."""
    lines: list[str] = []
    for block in blocks(markdown):
        if block.kind == "table":
            lines += [line.plain for line in _table(block)]
        elif block.kind == "code":
            lines += block.lines
        else:
            lines.append(block.lead + inline(" ".join(block.lines)).plain)
    return "\n".join(lines)


def wrapped(console: Console, markdown: str, width: int, indent: str = "") -> Iterator[Text]:
    """Lines of at most `width` cells, each after `indent`, one block after another without empty lines."""
    for block in blocks(markdown):
        if block.kind == "table":
            for line in _table(block):
                yield from hanging(console, line, width, indent + "  ")
        elif block.kind == "code":
            for raw in block.lines:
                yield from hanging(console, Text(raw, style="cyan"), width, indent + "  ")
        else:
            yield from hanging(console, inline(" ".join(block.lines)), width, indent, block.lead)


def hanging(console: Console, text: Text, width: int, indent: str = "", lead: str = "") -> Iterator[Text]:
    """`text` wrapped to `width` cells: `lead` before the first line, as many spaces before the others."""
    room = max(width - cell_len(indent + lead), 8)
    text = encodable(console, text)
    for place, line in enumerate(text.wrap(console, room, overflow="fold")):
        line.rstrip()
        yield Text(indent + (lead if place == 0 else " " * cell_len(lead))).append_text(line)


def encodable(console: Console, text: Text) -> Text:
    """`text` itself, or with escapes where the console's encoding is not a Unicode one."""
    if console.encoding.startswith("utf"):
        return text
    parts = [(to_ascii(segment.text), segment.style or "") for segment in text.render(console)]
    return Text.assemble(*parts)


def blocks(markdown: str) -> list[Block]:
    """The blocks of a text, in order. Anything not recognised is a paragraph."""
    found: list[Block] = []
    open_block: Block | None = None
    fenced = False
    for line in markdown.split("\n"):
        if line.lstrip().startswith("```"):
            fenced = not fenced
            found += [open_block] if open_block else []
            open_block = None
            continue
        following = Block("code", (line,)) if fenced else _block(line)
        if open_block and following and _continues(open_block, following):
            open_block = Block(open_block.kind, open_block.lines + following.lines, open_block.lead)
            continue
        found += [open_block] if open_block else []
        open_block = following
    return found + ([open_block] if open_block else [])


def _block(line: str) -> Block | None:
    if not line.strip():
        return None
    if line.lstrip().startswith("|"):
        return Block("table", (line.strip(),))
    item = _ITEM.fullmatch(line)
    if item:
        return Block("item", (item[3],), f"{item[1]}{item[2]} ")
    return Block("paragraph", (line.strip().lstrip("#").strip(),))


def _continues(block: Block, following: Block) -> bool:
    if following.kind == "paragraph":
        # The next step stands on a line of its own, whether or not the author left one empty before it.
        return block.kind in ("paragraph", "item") and not following.lines[0].startswith("Next:")
    return following.kind == block.kind and block.kind != "item"


def _table(block: Block) -> Iterator[Text]:
    rows = [
        [inline(cell.strip()) for cell in _CELL_END.split(line.strip("|"))]
        for line in block.lines
        if not _RULE.fullmatch(line)
    ]
    count = max(len(row) for row in rows)
    rows = [row + [Text()] * (count - len(row)) for row in rows]
    widths = [max(row[place].cell_len for row in rows) for place in range(count)]
    for number, row in enumerate(rows):
        line = Text("  ").join(
            Text(" " * (width - cell.cell_len)).append_text(cell) for cell, width in zip(row, widths, strict=True)
        )
        if number == 0:
            line.stylize("bold")
        yield line
