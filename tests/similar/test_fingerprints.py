"""Symbols and fingerprints: what changes them, and what does not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tritonkata.similar.tokens import stream_of
from tritonkata.similar.winnowing import GRAM, WINDOW, gram_hashes, winnowed

SOURCE = '''"""What this is."""
import torch


def softmax(x, scale=1.5):
    """Say what."""
    rows = x.shape[0]  # how many
    y = torch.empty((rows, 3), dtype=x.dtype)
    return f"{y}" if scale > 2 else "no"
'''
symbols = st.sampled_from("abcdefgh")


def test_what_stays_of_a_file():
    assert " ".join(stream_of(SOURCE).symbols) == (
        "def name ( name , name = literal ) : name = name . shape [ literal ] "
        "name = name . empty ( ( name , literal ) , name = name . dtype ) "
        "return literal if name > literal else literal"
    )


def test_every_symbol_has_its_line():
    stream = stream_of(SOURCE)
    assert len(stream.lines) == len(stream.symbols)
    assert [stream.lines[0], stream.lines[-1]] == [5, 9]


@pytest.mark.parametrize(
    "other",
    [
        SOURCE.replace("softmax", "f").replace("rows", "n").replace("scale", "temperature"),
        SOURCE.replace("1.5", "7").replace('"no"', "'yes, and more'"),
        SOURCE.replace('f"{y}"', 'f"{y + 1} {rows!r:>{scale}} text"'),
        SOURCE.replace("# how many", "")
        .replace('    """Say what."""\n', "")
        .replace("import torch", "import triton, torch"),
        SOURCE.replace("    ", "\t"),
        SOURCE.replace("(rows, 3), dtype=x.dtype", "\n        (rows,\n         3,\n        ), dtype=x.dtype,\n"),
        SOURCE.replace("\n", "\r\n"),
    ],
)
def test_what_does_not_matter(other):
    assert other != SOURCE
    assert stream_of(other).symbols == stream_of(SOURCE).symbols


@pytest.mark.parametrize("pair", [("x.shape", "x.stride"), ("> 2", "< 2"), ("if scale", "if not scale")])
def test_what_does_matter(pair):
    assert stream_of(SOURCE.replace(*pair)).symbols != stream_of(SOURCE).symbols


@pytest.mark.parametrize(
    "broken", ["def f(:\n  x = (\n", "x = '''\n", "if x:\n  a\n b\n", "\x00", "", "\ud800 = 1", "(" * 500]
)
def test_a_file_that_is_not_python_is_read_as_far_as_it_goes(broken):
    stream = stream_of(f"def softmax(x):\n    return x.max()\n{broken}")
    assert stream.symbols == () or stream.symbols[:4] == ("def", "name", "(", "name")
    assert len(stream.lines) == len(stream.symbols)


@given(st.lists(symbols, max_size=80), st.lists(symbols, max_size=30), st.lists(symbols, max_size=30))
def test_what_is_long_enough_in_common_shares_a_fingerprint(common, before, after):
    one = {value for value, _ in winnowed(gram_hashes(common))}
    other = {value for value, _ in winnowed(gram_hashes([*before, *common, *after]))}
    if len(common) >= GRAM + WINDOW - 1:
        assert one & other


@given(st.lists(st.integers(0, 5), max_size=60))
def test_every_window_has_its_least_hash_kept(hashes):
    kept = list(winnowed(hashes))
    places = {place for _, place in kept}
    assert [hashes[place] for _, place in kept] == [value for value, _ in kept]
    assert len(places) == len(kept)
    for start in range(max(len(hashes) - WINDOW + 1, 1 if hashes else 0)):
        window = hashes[start : start + WINDOW]
        assert any(hashes[place] == min(window) for place in places if start <= place < start + WINDOW)


@given(st.lists(symbols, min_size=GRAM, max_size=60))
def test_a_hash_depends_on_its_own_symbols_alone(row):
    hashes = gram_hashes(row)
    assert len(hashes) == len(row) - GRAM + 1
    assert hashes == [gram_hashes(row[start : start + GRAM])[0] for start in range(len(hashes))]


def test_hashes_are_the_same_in_every_process():
    assert gram_hashes(["name", "=", "literal"], 3) == [1581751864477487367]
