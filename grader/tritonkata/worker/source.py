"""The learner's file as a syntax tree."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from pathlib import Path
from typing import Any


def functions_of(path: Path) -> list[str]:
    """The names of all functions that the file defines, at any depth."""
    return [node.name for node in nodes_of(path, ast.FunctionDef)]


def nodes_of(path: Path, kind: type[Any]) -> Sequence[Any]:
    """All nodes of a kind; none where the file cannot be parsed."""
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError, OSError):
        return []
    return [node for node in ast.walk(tree) if isinstance(node, kind)]
