"""The layouts that are known, and the choice among them."""

from __future__ import annotations

from tritonkata.feedback.numbers import joined
from tritonkata.intake.download import Download
from tritonkata.intake.layouts import canvas, github, gradescope, moodle, nbgrader, plain
from tritonkata.intake.layouts.common import Layout
from tritonkata.intake.names import printable
from tritonkata.intake.types import IntakeProblem

LAYOUTS: dict[str, Layout] = {
    module.LAYOUT.name: module.LAYOUT for module in (plain, canvas, moodle, gradescope, nbgrader, github)
}
# Half the files, so that a stray folder does not hide a layout and a stray file does not make one.
_FITS = 0.5


def layout_named(name: str) -> Layout:
    """The layout of that name.

    Raises:
        IntakeProblem: there is none.
    """
    if name not in LAYOUTS:
        raise IntakeProblem(f"--layout {printable(name)}: there is no such layout; choose from {', '.join(LAYOUTS)}")
    return LAYOUTS[name]


def recognise(download: Download) -> Layout:
    """The layout that the names fit best.

    Raises:
        IntakeProblem: none fits, or two fit equally well.
    """
    if not download.members:
        raise IntakeProblem(f"{download.where}: holds no files; name the folder or archive of submissions")
    sure = {layout.name: layout.sure(download) for layout in LAYOUTS.values()}
    certain = {name: value for name, value in sure.items() if value >= _FITS} or {
        name: value for name, value in sure.items() if name == plain.LAYOUT.name and value > 0
    }
    best = [name for name, value in certain.items() if value == max(certain.values())]
    if not best:
        raise IntakeProblem(
            f"{download.where}: is laid out in no way that is known; say --layout with one of {_shapes()}"
        )
    if len(best) > 1:
        raise IntakeProblem(
            f"{download.where}: fits the layouts {joined(best)} equally well; say which with --layout NAME"
        )
    return LAYOUTS[best[0]]


def _shapes() -> str:
    return joined([f"{layout.name} ({layout.shape})" for layout in LAYOUTS.values()])
