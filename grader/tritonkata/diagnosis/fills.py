"""What lanes past the end of a row hold, as the source says it: the `other` of each masked load."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator
from dataclasses import dataclass

from tritonkata.diagnosis.syntax import parsed
from tritonkata.model.report import MaskedLoad

_LONGEST = 60
_DEEPEST = 8
"""Names are followed through so many assignments."""


@dataclass(frozen=True)
class Fill:
    """One masked load, or a `tl.where` with a number in the place of a score.

    `text` is its `other` as it stands in the file, empty where there is none. `value` is None where the source does
    not tell it. `pointer` is the first name of the address, None for a `tl.where`.
    """

    line: int
    pointer: str | None
    text: str
    value: float | None

    @property
    def is_missing(self) -> bool:
        """No value was named: the lanes are undefined."""
        return self.text == ""

    @property
    def is_zero(self) -> bool:
        """A score of 0 in each lane."""
        return self.value == 0.0

    @property
    def stands_in(self) -> bool:
        """A finite number below 0, in the place of -inf."""
        return self.value is not None and math.isfinite(self.value) and self.value < 0.0

    @property
    def evidence(self) -> MaskedLoad:
        """What the report says of it."""
        return MaskedLoad(self.line, self.text[:_LONGEST], self.pointer is not None)


def fills(source: str) -> tuple[Fill, ...]:
    """The masked loads of a file, and each `tl.where` with a finite stand-in for -inf, in the order of lines."""
    tree = parsed(source)
    lines = source.replace("\r\n", "\n").replace("\r", "\n").encode().split(b"\n")
    names = _assigned(tree)
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    found = [fill for call in calls for fill in (*_of_load(call, names, lines), *_of_where(call, names, lines))]
    return tuple(sorted(found, key=lambda fill: fill.line))


def _of_load(call: ast.Call, names: dict[str, ast.expr], lines: list[bytes]) -> Iterator[Fill]:
    if _called_name(call) != "load":
        return
    named = {keyword.arg: keyword.value for keyword in call.keywords}
    given = dict(zip(("pointer", "mask", "other"), call.args, strict=False)) | named
    if "mask" in given:
        other = given.get("other")
        text = "" if other is None else _text(other, lines)
        value = None if other is None else _number(other, names)
        yield Fill(call.lineno, _root(given.get("pointer"), names), text, value)


def _of_where(call: ast.Call, names: dict[str, ast.expr], lines: list[bytes]) -> Iterator[Fill]:
    if _called_name(call) != "where":
        return
    for argument in call.args[1:3]:
        fill = Fill(call.lineno, None, _text(argument, lines), _number(argument, names))
        if fill.stands_in:
            yield fill


def _text(node: ast.expr, lines: list[bytes]) -> str:
    """An expression as it stands in the file, of one over several lines the first; offsets in lines are bytes."""
    end = node.end_col_offset if node.end_lineno == node.lineno else None
    return lines[node.lineno - 1][node.col_offset : end].decode("utf-8", "replace").strip()


def _assigned(tree: ast.AST) -> dict[str, ast.expr]:
    """What each name is first bound to, wherever in the file that is."""
    found: dict[str, ast.expr] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            found.setdefault(node.targets[0].id, node.value)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
            found.setdefault(node.target.id, node.value)
    return found


def _number(node: ast.expr | None, names: dict[str, ast.expr], deep: int = 0) -> float | None:
    """The number that a literal is, with its sign, by a name, or in a call such as float("-inf") or tl.constexpr(0)."""
    if node is None or deep > _DEEPEST:
        return None
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float | str):
        try:
            return float(node.value)
        except (ValueError, OverflowError):
            return None
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = _number(node.operand, names, deep + 1)
        return None if value is None else -value
    if isinstance(node, ast.Call) and _called_name(node) in ("float", "constexpr") and len(node.args) == 1:
        return _number(node.args[0], names, deep + 1)
    if isinstance(node, ast.Name):
        return _number(names.get(node.id), names, deep + 1)
    return math.inf if isinstance(node, ast.Attribute) and node.attr == "inf" else None


def _root(node: ast.expr | None, names: dict[str, ast.expr]) -> str:
    """The first name of an address, where a name that is made from another counts as that one."""
    for _ in range(_DEEPEST):
        while isinstance(node, ast.BinOp | ast.Call):
            inside = [*node.args, *(keyword.value for keyword in node.keywords)] if isinstance(node, ast.Call) else []
            node = node.left if isinstance(node, ast.BinOp) else next(iter(inside), None)
        if not isinstance(node, ast.Name) or node.id not in names:
            break
        node = names[node.id]
    return node.id if isinstance(node, ast.Name) else ""


def _called_name(node: ast.Call) -> str:
    if isinstance(node.func, ast.Attribute):
        return node.func.attr
    return node.func.id if isinstance(node.func, ast.Name) else ""
