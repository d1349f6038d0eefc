"""What is counted: a fixed sequence of launches, with host operations between them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tritonkata.launcher import driver
from tritonkata.launcher.traffic.cupti import Ranged

Start = Callable[[], None]


@dataclass(frozen=True)
class Work:
    """Launches to count, each as the kernel's name and a function that starts it.

    A name of None is a host operation: it is run, and not counted.
    """

    launches: Sequence[tuple[str | None, Start]]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the launches that are counted, in order."""
        return tuple(name for name, _ in self.launches if name is not None)

    def run(self) -> None:
        """Start everything and wait."""
        for _, start in self.launches:
            start()
        driver.synchronize()

    def run_counted(self, ranged: Ranged) -> None:
        """Run, each launch in a range of its own, named by its number."""
        number = 0
        for name, start in self.launches:
            if name is None:
                start()
                continue
            with ranged(str(number)):
                start()
                driver.synchronize()
            number += 1
