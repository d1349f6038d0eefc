"""From what an instructor downloaded to a list of submissions.

with open_download(path) as download:
    intake = take_in(download, "safe_softmax")
    for attempt in intake.attempts:
        source = download.source(attempt)
"""

from __future__ import annotations

from collections.abc import Sequence

from tritonkata.intake.choose import absent, choose
from tritonkata.intake.download import Download, open_download
from tritonkata.intake.layouts import LAYOUTS, layout_named, recognise
from tritonkata.intake.members import MemberProblem
from tritonkata.intake.roster import read_roster
from tritonkata.intake.table import named, print_intake
from tritonkata.intake.types import Attempt, Intake, IntakeProblem, LeftOut, Which
from tritonkata.model.record import Student

__all__ = [
    "LAYOUTS",
    "Attempt",
    "Download",
    "Intake",
    "IntakeProblem",
    "LeftOut",
    "MemberProblem",
    "Which",
    "named",
    "open_download",
    "print_intake",
    "read_roster",
    "take_in",
]


def take_in(
    download: Download,
    slug: str,
    *,
    layout: str | None = None,
    which: Which = "latest",
    roster: Sequence[Student] = (),
) -> Intake:
    """Find the submissions in a download; nothing is read but names, times and who is who.

    Args:
        download: what `open_download` opened; it stays open, to read the submissions from.
        slug: the kata; `<slug>.py` is the file that is looked for first.
        layout: the name of a layout; None to recognise it.
        which: `latest` gives one attempt for each student, `best` and `all` give every attempt.
        roster: those who are expected; who handed in nothing is among what is left out.

    Raises:
        IntakeProblem: the layout is unknown, or is not given and cannot be told.
    """
    chosen_layout = layout_named(layout) if layout else recognise(download)
    found = chosen_layout.take(download, slug)
    chosen = choose(found.attempts, which)
    left_out = (*found.left_out, *download.left_out, *chosen.left_out)
    missing = absent(found.attempts, found.left_out, roster)
    return Intake(chosen_layout.name, chosen.attempts, (*left_out, *missing), download.ignored)
