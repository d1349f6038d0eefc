"""Times of submission, as platforms write them, in one form."""

from __future__ import annotations

import re
from datetime import UTC, datetime

_TIME = re.compile(
    r"(?P<date>\d{4}-\d\d-\d\d)[T ]+(?P<time>\d\d:\d\d:\d\d)(?:\.\d+)? *(?P<zone>Z|UTC|GMT|[+-]\d\d:?\d\d)?", re.ASCII
)
_UTC_NAMES = ("Z", "UTC", "GMT")


def in_utc(text: str, *, without_zone_is_utc: bool = False) -> str | None:
    """A time in ISO 8601 and UTC, to the second; None for what is no time or has no zone that is certain.

    Args:
        text: such as `2026-03-01 09:30:05.123456000 Z` or `2026-03-01T09:30:05+01:00`.
        without_zone_is_utc: whether the writer of `text` means UTC where it names no zone.
    """
    match = _TIME.fullmatch(text.strip())
    if match is None or (match["zone"] is None and not without_zone_is_utc):
        return None
    zone = "+00:00" if match["zone"] in (None, *_UTC_NAMES) else match["zone"]
    try:
        at = datetime.strptime(f"{match['date']} {match['time']} {zone}", "%Y-%m-%d %H:%M:%S %z")
        return at.astimezone(UTC).isoformat()
    except (ValueError, OverflowError):
        return None
