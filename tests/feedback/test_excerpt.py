"""The learner's own statement is shown whole, with the marker under its place."""

from __future__ import annotations

import ast

import pytest
from feedback_samples import fault
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from tritonkata.feedback.excerpt import Excerpt, excerpt
from tritonkata.model.faults import Access

LONG = (
    "x = tl.load(x_ptr + row * stride + cols * column_stride_of_the_tensor, mask=cols < n_cols, other=0.0)"
    ".to(tl.float32)"
)
SOURCE = f"""\
import triton.language as tl

def kernel(x_ptr,
           y_ptr):

    for i in range(3):
        {LONG}
    tl.store(
        y_ptr + i,

        x,
        mask=inside,
    )
    if (x
            > 3):
        pass
    elif x:
        pass
    y = '''
one {"word " * 60}'''
"""


def shown(line: int, operation: str = "", access: Access | None = None, width: int = 96, source: str = SOURCE):
    found = excerpt(fault("runtime_error", line=line, operation=operation, access=access), source)
    assert found is not None
    return found.lines(width)


def texts(*arguments, **options) -> list[str]:
    return [line for line, _ in shown(*arguments, **options)]


def access(operation) -> Access:
    return Access(operation, "y", 7, 7, (0, 0, 0), "kernel", None)


def numbers(lines: list[str]) -> list[int]:
    return [int(line.split("|")[0]) for line in lines if line.split("|")[0].strip()]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (3, [3, 4]),
        (4, [3, 4]),
        (6, [6]),
        (7, [7]),
        (8, [8, 9, 10, 11, 12, 13]),
        (12, [8, 9, 10, 11, 12, 13]),
        (15, [14, 15]),
        (16, [16]),
        (17, [17]),
    ],
)
def test_the_whole_statement_or_head_of_one_is_shown(line, expected):
    assert numbers(texts(line)) == expected


@pytest.mark.parametrize("width", [40, 60, 80, 100])
def test_a_long_line_goes_on_below_itself(width):
    lines = shown(7, access=access("load"), width=width)
    assert max(cell_len(line) for line, _ in lines) <= width
    words = " ".join(line.split("| ")[1] for line, is_marker in lines if not is_marker)
    assert "".join(words.split()) == "".join(LONG.split())


def test_the_marker_lies_under_the_access():
    above, below = shown(8, access=access("store"))[:2]
    assert below[1]
    assert above[0][below[0].index("^") :].startswith("tl.store")
    assert below[0].count("^") == len("tl.store")


@pytest.mark.parametrize("width", [30, 50, 96])
def test_the_marker_lies_under_what_is_past_the_first_piece(width):
    lines = shown(7, "other", width=width)
    (place,) = [number for number, (_, is_marker) in enumerate(lines) if is_marker]
    marker = lines[place][0]
    assert lines[place - 1][0][marker.index("^") : marker.rindex("^") + 1] == "other"


def test_without_a_word_to_mark_the_line_of_the_fault_is_marked():
    lines = shown(12)
    place = [is_marker for _, is_marker in lines].index(True)
    assert "mask=inside" in lines[place - 1][0]


def test_wide_characters_count_twice():
    source = 'x = "' + "\u6f22" * 60 + '" + torch.softmax(x)\n'
    lines = shown(1, "torch.softmax", width=50, source=source)
    assert max(cell_len(line) for line, _ in lines) <= 50
    place = [is_marker for _, is_marker in lines].index(True)
    before = lines[place - 1][0].partition("torch")[0]
    assert lines[place][0].index("^") == cell_len(before)


def test_a_statement_of_many_lines_is_shown_round_the_place():
    source = "x = [\n" + "".join(f"    f({number}),\n" for number in range(2, 60)) + "]\n"
    assert numbers(texts(30, source=source)) == list(range(27, 35))
    assert numbers(texts(60, source=source))[-1] == 60
    assert numbers(texts(1, source=source))[0] == 1


def test_an_endless_line_is_shown_round_the_place():
    source = "x = " + "1 + " * 2000 + "torch.exp(x) + " + "1 + " * 2000 + "1\n"
    lines = shown(1, "torch.exp", source=source)
    place = [is_marker for _, is_marker in lines].index(True)
    assert "torch.exp" in lines[place - 1][0]
    assert len(lines) < 8


def test_a_file_that_is_not_python_shows_its_line():
    assert texts(2, source="def f(x)\n    return (\n") == ["2 | return (", "  | ^"]


PIECES = st.sampled_from(
    ["x = 1\n", "if a:\n    b()\n", "f(\n  1,\n\n)\n", "\n", "\x0c", "\u202e#\n", "\tz\n", "\r\n", "'''\n"]
)


@given(st.lists(PIECES, max_size=8).map("".join), st.integers(-1, 12), st.integers(20, 60), st.sampled_from(["", "f"]))
def test_any_text_and_line_give_lines_that_fit_or_nothing(source, line, width, operation):
    found = excerpt(fault("runtime_error", line=line, operation=operation, access=None), source)
    if isinstance(found, Excerpt):
        lines = found.lines(width)
        assert line in numbers([text for text, _ in lines])
        assert all(cell_len(text) <= width and text.isprintable() for text, _ in lines)
        assert sum(is_marker for _, is_marker in lines) == 1


def test_the_sample_parses():
    ast.parse(SOURCE)
