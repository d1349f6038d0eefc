"""Everything about a kata that can be told before any submission is graded."""

from __future__ import annotations

from tritonkata.authoring import contents, files
from tritonkata.authoring.states import template_problems
from tritonkata.model.course import Kata

_LOOKS = (
    files.missing,
    files.stray,
    files.marked,
    contents.toml,
    contents.todos,
    contents.twice,
    contents.oracle,
    contents.hidden,
    contents.mistakes,
    template_problems,
)


def problems_of(kata: Kata) -> tuple[str, ...]:
    """One line for each thing to put right: file, key or place, and the fix."""
    try:
        unreadable = tuple(files.unreadable(kata))
        # The rest reads and imports these files.
        return unreadable or tuple(problem for look in _LOOKS for problem in look(kata))
    except OSError as error:
        place = error.filename or kata.folder
        return (f"{place}: cannot be read ({error.strerror}); correct its permissions, or take it out",)
