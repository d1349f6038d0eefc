"""Evidence in the source of a worksheet: `^` where a power was meant."""

from __future__ import annotations

import ast

from tritonkata.diagnosis.syntax import parsed


def has_exclusive_or(source: str, name: str) -> bool:
    """Whether `^` stands between numbers in the function or the assignment that gives `name` its value.

    The last one counts, as it does for Python. Between comparisons `^` is what it looks like.
    """
    found = [statement for statement in parsed(source).body if _defines(statement, name)]
    return bool(found) and any(_is_of_numbers(node) for node in ast.walk(found[-1]))


def _defines(statement: ast.stmt, name: str) -> bool:
    targets: list[ast.expr] = []
    match statement:
        case ast.FunctionDef():
            return statement.name == name
        case ast.Assign():
            targets = statement.targets
        case ast.AnnAssign():
            targets = [statement.target]
    return any(isinstance(node, ast.Name) and node.id == name for target in targets for node in ast.walk(target))


def _is_of_numbers(node: ast.AST) -> bool:
    match node:
        case ast.BinOp(left=left, op=ast.BitXor(), right=right):
            return not any(isinstance(side, ast.Compare | ast.BoolOp) for side in (left, right))
        case ast.AugAssign(op=ast.BitXor()):
            return True
    return False
