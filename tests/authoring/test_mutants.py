"""Mutants of a solution: each kind of change, in the right place of the file."""

import ast

import pytest

from tritonkata.authoring.mutants import mutations


def changes(body: str) -> dict[str, str]:
    """Each change of a function's one statement, with the statement that it makes."""
    head = "def f(x, y):\n    "
    return {one.change: one.source.removeprefix(head) for one in mutations(head + body)}


@pytest.mark.parametrize(
    ("body", "change", "mutated"),
    [
        ("return x < y", "x < y -> x <= y", "return (x <= y)"),
        ("return x <= y", "x <= y -> x < y", "return (x < y)"),
        ("return x > y", "x > y -> x >= y", "return (x >= y)"),
        ("return x >= y", "x >= y -> x > y", "return (x > y)"),
        ("return x == y", "x == y -> x != y", "return (x != y)"),
        ("return x != y", "x != y -> x == y", "return (x == y)"),
        ("return x + y", "x + y -> x - y", "return (x - y)"),
        ("return x - y", "x - y -> x + y", "return (x + y)"),
        ("return x * y", "x * y -> x + y", "return (x + y)"),
        ("return x / y", "x / y -> x * y", "return (x * y)"),
        ("return x // y", "x // y -> x * y", "return (x * y)"),
        ("return x & y", "x & y -> x | y", "return (x | y)"),
        ("return x | y", "x | y -> x & y", "return (x & y)"),
        ("x += y", "x += y -> x -= y", "x -= y"),
        ("return x and y", "x and y -> x or y", "return (x or y)"),
        ("return x or y", "x or y -> x and y", "return (x and y)"),
        ("return -x", "-x -> x", "return (x)"),
        ("return not x", "not x -> x", "return (x)"),
        ("return 3", "3 -> 4", "return (4)"),
        ("return 0.5", "0.5 -> 1.5", "return (1.5)"),
        ("return float('-inf')", "float('-inf') -> 0.0", "return (0.0)"),
        ("return tl.max(x)", "max -> min: tl.max(x)", "return (tl.min(x))"),
        ("return tl.min(x)", "min -> max: tl.min(x)", "return (tl.max(x))"),
        ("return tl.maximum(x, y)", "maximum -> minimum: tl.maximum(x, y)", "return (tl.minimum(x, y))"),
        ("return tl.exp(x)", "exp -> exp2: tl.exp(x)", "return (tl.exp2(x))"),
        ("return tl.log2(x)", "log2 -> log: tl.log2(x)", "return (tl.log(x))"),
        ("return tl.sum(x)", "sum -> max: tl.sum(x)", "return (tl.max(x))"),
        ("return tl.where(x, y, x)", "branches swapped: tl.where(x, y, x)", "return (tl.where(x, x, y))"),
        ("return x.to(tl.int64)", "cast dropped: x.to(tl.int64)", "return (x)"),
        (
            "return tl.load(x, mask=y, other=1)",
            "mask dropped: tl.load(x, mask=y, other=1)",
            "return (tl.load(x, other=1))",
        ),
        (
            "return tl.load(x, mask=y, other=1)",
            "other dropped: tl.load(x, mask=y, other=1)",
            "return (tl.load(x, mask=y))",
        ),
        (
            "return tl.load(x, mask=y, other=1)",
            "other -> 0.0: tl.load(x, mask=y, other=1)",
            "return (tl.load(x, mask=y, other=0.0))",
        ),
        ("return tl.load(x, y)", "mask dropped: tl.load(x, y)", "return (tl.load(x))"),
        ("return tl.load(x, y, x)", "mask dropped: tl.load(x, y, x)", "return (tl.load(x))"),
        ("tl.store(x, y, y > x)", "mask dropped: tl.store(x, y, y > x)", "(tl.store(x, y))"),
    ],
)
def test_each_kind_of_change(body: str, change: str, mutated: str) -> None:
    assert changes(body)[change] == mutated


@pytest.mark.parametrize(
    "body", ["return x", "return True", "return 'text 3'", "return f'{3} of {x + y}'", "return x[y]"]
)
def test_what_is_left_alone(body: str) -> None:
    assert changes(body) == {}


def test_columns_count_characters_although_the_parser_counts_bytes() -> None:
    source = "def f(x):\n    return 'größer als ∞', x + 1  # ≥\n"
    mutants = {one.change: one for one in mutations(source)}
    assert mutants["x + 1 -> x - 1"].source == "def f(x):\n    return 'größer als ∞', (x - 1)  # ≥\n"
    assert source.splitlines()[1][mutants["1 -> 2"].column - 1] == "1"


def test_a_call_over_several_lines_is_replaced_whole() -> None:
    call = "tl.load(\n        p,  # here\n        mask=m,\n        other=7,\n    )"
    source = f"def f(p, m):\n    x = {call}.to(tl.float32)\n    return x\n"
    mutants = {one.change: one for one in mutations(source)}
    dropped = mutants["mask dropped: tl.load(p, mask=m, other=7)"]
    assert dropped.source == "def f(p, m):\n    x = (tl.load(p, other=7)).to(tl.float32)\n    return x\n"
    assert (dropped.line, dropped.column) == (2, 9)
    assert mutants["7 -> 8"].source == source.replace("other=7", "other=(8)")


@pytest.mark.parametrize("character", ["\f", "\x1c", "\u2028", "\x85"])
def test_only_what_the_parser_takes_for_a_line_end_is_one(character: str) -> None:
    # A form feed may only begin a line.
    source = f"{character if character == chr(12) else ''}def f(x):\n    text = '{character}'\n    return x < 3\n"
    sources = [one.source for one in mutations(source)]
    assert source.replace("x < 3", "(x <= 3)") in sources


def test_lines_are_those_of_the_file_and_nothing_outside_functions_changes_but_named_numbers() -> None:
    source = (
        '"""Text."""\n\nimport os\n\nWIDE = 8\nTABLE: int = 2 + len(os.sep)\n\n\n'
        '@jit(3)\ndef f(x=4):\n    """Of 5."""\n    return x\n'
    )
    found = [(one.line, one.change) for one in mutations(source)]
    assert found == [(5, "8 -> 9"), (6, "2 + len(os.sep) -> 2 - len(os.sep)"), (6, "2 -> 3")]


def test_functions_within_classes_and_functions_are_changed_once() -> None:
    source = "class A:\n    def f(self):\n        def g(x):\n            return x + 1\n        return g\n"
    assert sorted(one.change for one in mutations(source)) == ["1 -> 2", "x + 1 -> x - 1"]


def test_every_mutant_is_another_program_and_parses() -> None:
    source = "def f(x):\n    y = tl.load(x, mask=x < 0, other=0.0)\n    return tl.exp(-y) + 2 * y\n"
    programs = [ast.dump(ast.parse(one.source)) for one in mutations(source)]
    # `other=0.0` becomes 0.0 where it is 0.0 already.
    assert len(programs) == len(set(programs))
    assert ast.dump(ast.parse(source)) not in programs
    assert not any(one.change.startswith("other -> 0.0") for one in mutations(source))


def test_a_file_that_is_no_python_is_refused() -> None:
    with pytest.raises(SyntaxError):
        mutations("def f(:\n")
