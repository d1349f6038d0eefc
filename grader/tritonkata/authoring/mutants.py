"""The solution with one thing changed at a time: tests that pass such a file have a gap, or the change is none."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

_COMPARISONS: dict[type[ast.cmpop], ast.cmpop] = {
    ast.Lt: ast.LtE(),
    ast.LtE: ast.Lt(),
    ast.Gt: ast.GtE(),
    ast.GtE: ast.Gt(),
    ast.Eq: ast.NotEq(),
    ast.NotEq: ast.Eq(),
}
_OPERATORS: dict[type[ast.operator], ast.operator] = {
    ast.Add: ast.Sub(),
    ast.Sub: ast.Add(),
    ast.Mult: ast.Add(),
    ast.Div: ast.Mult(),
    ast.FloorDiv: ast.Mult(),
    ast.BitAnd: ast.BitOr(),
    ast.BitOr: ast.BitAnd(),
}
_CALLS = {
    "max": "min",
    "min": "max",
    "maximum": "minimum",
    "minimum": "maximum",
    "exp": "exp2",
    "exp2": "exp",
    "log": "log2",
    "log2": "log",
    "sum": "max",
}
_MASK_PLACE = {"load": 1, "store": 2}
"""Which argument of `tl.load` and `tl.store` is the mask, where it has no name; a fill follows it."""
_DROPPED = ("mask", "other")

Changed = tuple[ast.AST, str]


@dataclass(frozen=True)
class Mutation:
    """One change: where (line and column, counted from 1), what, and the whole file with it."""

    line: int
    column: int
    change: str
    source: str


def mutations(source: str) -> tuple[Mutation, ...]:
    """All single changes of operators, comparisons, constants, masks, fills, casts and reductions, in order of lines.

    Functions are changed throughout, and numbers that the file gives a name. Two changes that come to the same file
    count once.

    Raises:
        SyntaxError: the source is no Python.
    """
    tree = ast.parse(source)
    # Not splitlines: the parser counts fewer characters as the end of a line.
    lines = [line + "\n" for line in source.split("\n")]
    found = {ast.dump(tree): Mutation(0, 0, "", source)}
    for node in _changeable(tree):
        for changed, told in _changes(node):
            mutation = _mutation(lines, node, changed, told)
            found.setdefault(ast.dump(ast.parse(mutation.source)), mutation)
    return tuple(
        sorted((one for one in found.values() if one.change), key=lambda one: (one.line, one.column, one.change))
    )


def _changeable(tree: ast.Module) -> Iterator[ast.AST]:
    """Nodes of the bodies of functions, and the values of named numbers."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            for statement in node.body:
                yield from _without_f_strings(statement)
    for statement in tree.body:
        if isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is not None:
            yield from _without_f_strings(statement.value)


def _without_f_strings(node: ast.AST) -> Iterator[ast.AST]:
    """Parts of an f-string have no dependable place in the file."""
    if not isinstance(node, ast.JoinedStr):
        yield node
        for child in ast.iter_child_nodes(node):
            yield from _without_f_strings(child)


def _changes(node: ast.AST) -> Iterator[Changed]:
    """Each changed form of a node, and what to call the change; "" to show both forms."""
    match node:
        case ast.Compare(left, [operator], right) if type(operator) in _COMPARISONS:
            yield ast.Compare(left, [_COMPARISONS[type(operator)]], right), ""
        case ast.BinOp(left, operator, right) if type(operator) in _OPERATORS:
            yield ast.BinOp(left, _OPERATORS[type(operator)], right), ""
        case ast.AugAssign(target, operator, value) if type(operator) in _OPERATORS:
            yield ast.AugAssign(target, _OPERATORS[type(operator)], value), ""
        case ast.BoolOp(operator, values):
            yield ast.BoolOp(ast.Or() if isinstance(operator, ast.And) else ast.And(), values), ""
        case ast.UnaryOp(ast.USub() | ast.Not(), operand):
            yield operand, ""
        case ast.Constant(value) if type(value) is int or type(value) is float:
            yield ast.Constant(value + 1), ""
        case ast.Call():
            yield from _changed_calls(node)
            yield from _without_mask(node)


def _changed_calls(node: ast.Call) -> Iterator[Changed]:
    match node.func:
        case ast.Name("float") if isinstance(node.args[0] if node.args else None, ast.Constant):
            yield ast.Constant(0.0), ""
        case ast.Attribute(value, name) if name in _CALLS:
            other = ast.Attribute(value, _CALLS[name], ast.Load())
            yield ast.Call(other, node.args, node.keywords), f"{name} -> {_CALLS[name]}: {ast.unparse(node)}"
        case ast.Attribute(_, "where") if len(node.args) == 3:
            condition, one, two = node.args
            yield ast.Call(node.func, [condition, two, one], node.keywords), f"branches swapped: {ast.unparse(node)}"
        case ast.Attribute(value, "to"):
            yield value, f"cast dropped: {ast.unparse(node)}"


def _without_mask(node: ast.Call) -> Iterator[Changed]:
    """Loads and stores without their mask, and fills that are dropped or 0."""
    told = ast.unparse(node)
    for keyword in node.keywords:
        if keyword.arg in _DROPPED:
            kept = [one for one in node.keywords if one is not keyword]
            yield ast.Call(node.func, node.args, kept), f"{keyword.arg} dropped: {told}"
        if keyword.arg == "other":
            zero = ast.keyword("other", ast.Constant(0.0))
            filled = [zero if one is keyword else one for one in node.keywords]
            yield ast.Call(node.func, node.args, filled), f"other -> 0.0: {told}"
    place = _MASK_PLACE.get(node.func.attr) if isinstance(node.func, ast.Attribute) else None
    if place is not None and len(node.args) > place:
        # What follows a mask has no place without it.
        kept_keywords = [one for one in node.keywords if one.arg != "other"]
        yield ast.Call(node.func, node.args[:place], kept_keywords), f"mask dropped: {told}"


def _mutation(lines: list[str], node: ast.AST, changed: ast.AST, told: str) -> Mutation:
    assert isinstance(node, ast.expr | ast.stmt)
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    first, last = node.lineno - 1, node.end_lineno - 1
    # Columns count bytes of UTF-8.
    before = lines[first].encode()[: node.col_offset].decode()
    after = lines[last].encode()[node.end_col_offset :].decode()
    text = ast.unparse(ast.fix_missing_locations(changed))
    written = f"({text})" if isinstance(node, ast.expr) else text
    source = "".join([*lines[:first], before, written, after, *lines[last + 1 :]])
    return Mutation(node.lineno, len(before) + 1, told or f"{ast.unparse(node)} -> {text}", source.removesuffix("\n"))
