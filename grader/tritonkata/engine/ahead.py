"""Launch plans that are traced before they are needed, on a machine that need not have the GPU.

The hidden tests of a kata ask every submission for the same layouts. Once one grading has told which, a tracer
anywhere can make the plans of the next submission, and the machine with the GPU only validates and replays them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from tritonkata.boundary.messages import DeviceFigures
from tritonkata.model.plan import LaunchPlan
from tritonkata.model.tensors import TensorSpec


@dataclass(frozen=True)
class Layout:
    """An entry point and the tensors that it is called with."""

    entry: str
    arguments: tuple[TensorSpec, ...]


Plans = Mapping[Layout, LaunchPlan]


@dataclass(frozen=True)
class Wanted:
    """What a grading asked a tracer for: of which device, compiled for what, and which layouts, in order."""

    device: DeviceFigures
    target: str
    layouts: tuple[Layout, ...] = ()

    def joined(self, other: Wanted | None) -> Wanted:
        """These layouts, and those of another grading for the same device that are not among them."""
        if other is None or (other.device, other.target) != (self.device, self.target):
            return self
        return replace(self, layouts=tuple(dict.fromkeys((*self.layouts, *other.layouts))))


@dataclass
class Ahead:
    """Plans that were made before, and a note of what a grading asks for, for those that come after it."""

    plans: Plans = field(default_factory=dict)
    wanted: Wanted | None = None

    def loaded(self, device: DeviceFigures, target: str) -> None:
        """Note for what the submission is traced."""
        if self.wanted is None:
            self.wanted = Wanted(device, target)

    def plan(self, layout: Layout) -> LaunchPlan | None:
        """Note the layout; the plan, where there is one."""
        if self.wanted is not None:
            self.wanted = self.wanted.joined(replace(self.wanted, layouts=(layout,)))
        return self.plans.get(layout)
