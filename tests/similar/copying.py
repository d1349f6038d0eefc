"""What is done to a file to make it look like another one."""

from __future__ import annotations

import ast
import io
import keyword
import random
import re
import tokenize

KEPT = frozenset({"tl", "torch", "triton", "range", "float", "int", "max", "min"})


def renamed(source: str, seed: int = 1) -> str:
    """Every name of the file's own is another one; what stands behind a dot stays."""
    rng = random.Random(seed)
    names: dict[str, str] = {}
    changed: list[tuple[int, str]] = []
    before = ""
    for one in tokenize.generate_tokens(io.StringIO(source).readline):
        text = one.string
        if one.type == tokenize.NAME and before != "." and text not in KEPT and not keyword.iskeyword(text):
            text = names.setdefault(text, f"v{rng.randrange(10**9)}")
        before = one.string
        changed.append((one.type, text))
    return tokenize.untokenize(changed)


def with_other_literals(source: str) -> str:
    """Every whole number another, every text another."""
    changed: list[tuple[int, str]] = []
    for one in tokenize.generate_tokens(io.StringIO(source).readline):
        text = one.string
        if one.type == tokenize.NUMBER:
            text = f"1{text}" if text.isdigit() else text
        elif one.type == tokenize.STRING and "\n" not in text:
            text = '"changed"'
        changed.append((one.type, text))
    return tokenize.untokenize(changed)


def commented(source: str) -> str:
    """A comment behind every line and a blank line after it, where no text runs over lines; other docstrings."""
    tree = ast.parse(source)
    long_texts = {
        line
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant | ast.JoinedStr)
        for line in range(node.lineno, (node.end_lineno or node.lineno))
    }
    lines = []
    for number, line in enumerate(source.splitlines(), start=1):
        plain = number not in long_texts and not line.endswith("\\")
        lines.append(f"{line}  # line {number}\n" if plain else line)
    return "\n".join(lines) + "\n"


def reordered(source: str) -> str:
    """Functions and classes in the opposite order, behind everything else."""
    tree = ast.parse(source)
    defined = [node for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    others = [node for node in tree.body if node not in defined]
    return "\n\n".join(ast.unparse(node) for node in (*others, *reversed(defined)))


def reprinted(source: str) -> str:
    """As Python prints it: other quotes and brackets, no comments."""
    return ast.unparse(ast.parse(source))


def edited(source: str, seed: int = 2, share: float = 0.2) -> str:
    """A statement of its own behind a share of the assignments."""
    rng = random.Random(seed)
    lines = []
    for line in source.splitlines():
        lines.append(line)
        found = re.match(r"(\s+)\w+ = .*[^(,\[{\\]$", line)
        if found and rng.random() < share:
            lines.append(f"{found[1]}spare_{rng.randrange(99)} = {rng.randrange(9)} + tl.cdiv(3, 4)")
    return "\n".join(lines) + "\n"
