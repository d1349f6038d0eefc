"""Fingerprints of a row of symbols by winnowing.

S. Schleimer, D. S. Wilkerson, A. Aiken: Winnowing: local algorithms for document fingerprinting. SIGMOD 2003.
Two rows that share GRAM + WINDOW - 1 symbols in a row share a fingerprint, wherever the symbols stand.
"""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Iterator, Sequence
from functools import lru_cache

GRAM = 16
"""Symbols that are hashed together; fewer in common are no match."""
WINDOW = 5
"""Of so many hashes side by side, one is kept."""

_PRIME = (1 << 61) - 1
_BASE = 0x1B873593CC9E2D51 % _PRIME


def gram_hashes(symbols: Sequence[str], gram: int = GRAM) -> list[int]:
    """The hash of every run of `gram` symbols, by where it begins; the same in every process (Karp and Rabin)."""
    first = pow(_BASE, gram, _PRIME)
    numbers = [_number(symbol) for symbol in symbols]
    hashes: list[int] = []
    rolling = 0
    for place, number in enumerate(numbers):
        rolling = (rolling * _BASE + number) % _PRIME
        if place >= gram:
            rolling = (rolling - numbers[place - gram] * first) % _PRIME
        if place >= gram - 1:
            hashes.append(rolling)
    return hashes


def winnowed(hashes: Sequence[int], window: int = WINDOW) -> Iterator[tuple[int, int]]:
    """(hash, place) of the least hash of each window, each once; of equal ones the last.

    Fewer hashes than a window holds are one window.
    """
    rising: deque[int] = deque()
    last = -1
    for place, value in enumerate(hashes):
        while rising and hashes[rising[-1]] >= value:
            rising.pop()
        rising.append(place)
        if rising[0] <= place - window:
            rising.popleft()
        is_full = place >= window - 1 or place == len(hashes) - 1
        if is_full and rising[0] != last:
            last = rising[0]
            yield hashes[last], last


@lru_cache(maxsize=65536)
def _number(symbol: str) -> int:
    digest = hashlib.blake2b(symbol.encode("utf-8", errors="surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big") % _PRIME
