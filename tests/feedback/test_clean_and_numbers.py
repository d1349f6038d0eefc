"""Small functions: text made harmless, numbers made readable."""

from __future__ import annotations

import pytest
from feedback_samples import CASE
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from tritonkata.feedback import numbers
from tritonkata.feedback.clean import clean, escape_markdown, one_line, to_ascii
from tritonkata.feedback.prose import inline, plain, wrapped


@given(st.text())
def test_clean_text_has_only_printable_characters_and_newlines(text):
    assert all(
        character == "\n" or character.isprintable() or character == "\u3000" or character.isspace()
        for character in clean(text)
    )
    assert not any(ord(character) < 32 and character != "\n" for character in clean(text))


@given(st.text(max_size=200))
def test_escaped_markdown_shows_the_text_itself(text):
    assert inline(escape_markdown(text)).plain == one_line(text)


@given(st.text(max_size=500), st.integers(10, 100))
def test_wrapped_lines_fit(text, width):
    lines = list(wrapped(Console(width=200), escape_markdown(text), width))
    assert all(line.cell_len <= width for line in lines)


def test_hidden_characters_are_shown():
    assert clean("a\x1b[2J\u202e\u200b\u2028\U000e0041\ud800") == "a\\x1b[2J\\u202e\\u200b\\u2028\\U000e0041\\ud800"
    assert clean("a\r\nb\tc") == "a\nb   c"
    assert clean("\r") == "\\x0d"


def test_long_text_is_cut_with_a_note():
    assert clean("x" * 30, limit=10) == "x" * 10 + " ... (20 more characters)"


def test_ascii():
    assert to_ascii("1 \u00d7 2 \u2026 \u00e9") == "1 x 2 ... \\xe9"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.7310585786, "0.73106"),
        (1.4286e-5, "1.4286e-5"),
        (1e22, "1e22"),
        (0.0, "0"),
        (-200.0, "-200"),
        (131072, "131,072"),
        (1000, "1000"),
        ("-inf", "-inf"),
        (float("nan"), "nan"),
        (None, "not measured"),
    ],
)
def test_number(value, text):
    assert numbers.number(value) == text


@pytest.mark.parametrize(
    ("expected", "got", "texts"),
    [
        (0.5, 0.25, ("0.5", "0.25")),
        (0.7310585, 0.7310586, ("0.7310585", "0.7310586")),
        (1.0, 1.0 + 2**-23, ("1", "1.0000001")),
        (0.1 + 0.2, 0.3, ("0.30000000000000004", "0.29999999999999999")),
        ("nan", "nan", ("nan", "nan")),
        (0.5, "inf", ("0.5", "inf")),
    ],
)
def test_pair_shows_the_difference(expected, got, texts):
    assert numbers.pair(expected, got) == texts


@pytest.mark.parametrize(
    ("indices", "text"),
    [
        ((), "no column"),
        ((3,), "column 3"),
        ((0, 1), "columns 0 and 1"),
        ((4, 5, 6), "columns 4 to 6"),
        ((0, 2, 5), "columns 0, 2 and 5"),
    ],
)
def test_columns(indices, text):
    assert numbers.columns(indices) == text


def test_words_for_sizes_and_shapes():
    assert numbers.plural(1, "row") == "1 row"
    assert numbers.plural(0, "pass", "passes") == "0 passes"
    assert numbers.size(16_000) == "16,000 bytes"
    assert numbers.size(3 << 19) == "1.5 MiB"
    assert numbers.shape((5,)) == "(5,)"
    assert numbers.described(CASE) == "float32 (7, 1000) with strides (1005, 1)"


def test_plain_text_of_all_kinds_of_blocks():
    source = "# Head\nA **b** `c`\nd\n\n- one\n- two\n\n| x | y |\n|---|---:|\n| 1 | 22 |\n\n```\n  raw *x*\n```"
    assert plain(source) == "Head A b c d\n- one\n- two\nx   y\n1  22\n  raw *x*"


def test_the_next_step_has_a_line_of_its_own():
    assert plain("Why it\nfailed.\nNext: do this.") == "Why it failed.\nNext: do this."
