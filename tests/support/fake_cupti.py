"""A library that answers as CUPTI does, without a GPU."""

from __future__ import annotations

from typing import Any

HARDWARE_BUSY = 26


class Library:
    """Answers every function of CUPTI as one that works, but for the first `failures` calls of one of them."""

    def __init__(self, failures: int = 0, code: int = HARDWARE_BUSY, refused: str = "") -> None:
        self.failures, self.code, self.refused = failures, code, refused
        self.calls: list[str] = []

    def __getattr__(self, name: str) -> Any:
        def answered(reference: Any, *_: Any) -> int:
            self.calls.append(name.removeprefix("cupti"))
            if name == self.refused and self.failures:
                self.failures -= 1
                return self.code
            for field, value in {
                "pChipName": b"gh100",
                "pHostObject": 1,
                "pRangeProfilerObject": 1,
                "counterAvailabilityImageSize": 8,
                "configImageSize": 8,
                "counterDataSize": 8,
                "numOfPasses": 1,
                "isAllPassSubmitted": 1,
            }.items():
                if hasattr(getattr(reference, "_obj", None), field):
                    setattr(reference._obj, field, value)
            return 1 if name == "cuptiGetResultString" else 0

        return answered
