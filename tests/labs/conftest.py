"""Results as an H200 would give them, built by hand, and engines with the labs' kernels loaded."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tritonkata.engine.base import Engine
from tritonkata.engine.engines import InterpreterEngine
from tritonkata.labs import variants
from tritonkata.labs.ceiling import decided_from, lengths
from tritonkata.labs.figures import bandwidth_for, bounded, ratios
from tritonkata.labs.model import (
    CeilingResult,
    Checked,
    Environment,
    LabResult,
    LabRow,
    Options,
    SweepPoint,
    WrongRow,
    bandwidth_of,
)
from tritonkata.labs.variants import COMPARED, SWEPT, VARIANTS, Lab, Variant
from tritonkata.model.course import Entry
from tritonkata.model.faults import Fault
from tritonkata.model.observation import Level, Observation, Resources, Speed, Traffic
from tritonkata.model.plan import LaunchPlan
from tritonkata.model.report import Engine as EngineReport

COPY_GB = 4200.0
GPU = EngineReport("gpu", "NVIDIA H200", "sm_90", "3.6.0", "2.11.0")
WHERE = Environment(
    date="2026-01-31",
    processor="A processor",
    python="3.12.3",
    tritonkata="0.1.0",
    numpy="2.4.0",
    triton="3.6.0",
    torch="2.11.0",
    card="NVIDIA H200",
    driver="580.1",
    cuda="13.0",
    l2_bytes=62_914_560,
)
POISONED_ROW = WrongRow(0, 1, (0, 1, 2), (100.0, -1.387, 0.25), (1.0, 9.3e-45, 4.8e-44), ("nan", 0.0, 0.0))


def gpu_row(variant: Variant, options: Options, *, absorbed: float = 0.0, spilled: int = 0) -> LabRow:
    """A variant whose time follows from the bytes that reach DRAM; a cache absorbs a share of the further loads."""
    predicted = variants.predicted(variant, options.rows, options.cols, options.itemsize)
    unit = options.unit_bytes
    deep = Level(predicted.loaded - round(absorbed * max(predicted.loaded - unit, 0)), predicted.stored)
    microseconds = 3.0 + (deep.total + spilled * options.rows * 1024) / (COPY_GB * 1e3)
    copy_us = 3.0 + 2 * unit / (COPY_GB * 1e3)
    speed = Speed(microseconds, copy_us, copy_us / microseconds, 2 * unit, options.rounds)
    wrong = variant.overflows
    return LabRow(
        variant=variant.name,
        title=variant.title,
        predicted=predicted,
        predicted_ran=predicted,
        traffic=Traffic("cupti", predicted.loaded, predicted.stored, spilled=spilled, l2=predicted, dram=deep),
        checked=Checked(
            options.rows * options.cols,
            int(wrong),
            int(wrong),
            "nan" if wrong else 4.4e-7,
            POISONED_ROW if wrong else None,
        ),
        speed=speed,
        effective=bandwidth_of(predicted.total, microseconds),
        launches=3 if variant.name == "unfused" else 1,
        resources=(Resources(f"{variant.name}_kernel", "sm_90", 8, 32, 40, spilled),),
    )


def gpu_result(lab: Lab, options: Options) -> LabResult:
    """A lab with everything that only a GPU measures; torch.softmax is there in the softmax lab."""
    rows = [gpu_row(variant, options, absorbed=0.4) for variant in VARIANTS[lab]]
    if lab == "softmax":
        peer = gpu_row(VARIANTS[lab][-1], options)
        rows.append(
            msgspec.structs.replace(
                peer, variant="torch", title="torch.softmax", predicted=None, predicted_ran=None, resources=()
            )
        )
    bandwidth = bandwidth_for(options, rows)
    return LabResult(
        lab=lab,
        options=options,
        ran=(options.rows, options.cols),
        engine=GPU,
        environment=WHERE,
        bandwidth=bandwidth,
        rows=tuple(bounded(row, bandwidth) for row in rows),
        ratios=tuple(ratios(rows, COMPARED[lab])),
    )


def gpu_sweep(options: Options) -> CeilingResult:
    """Passes that a cache absorbs less and less, until the longest row spills."""
    found = []
    for cols in lengths(options.cols):
        here = msgspec.structs.replace(options, cols=cols)
        absorbed = max(0.0, min(1.0, 1.35 - cols / 16384))
        spilled = 216 if cols >= 65536 else 0
        rows = tuple(gpu_row(one, here, absorbed=absorbed, spilled=spilled if one is SWEPT[-1] else 0) for one in SWEPT)
        found.append(SweepPoint(cols, here.unit_bytes, rows))
    bandwidth = bandwidth_for(options, found[-1].rows)
    return CeilingResult(
        options=options,
        ran_rows=options.rows,
        engine=GPU,
        environment=WHERE,
        bandwidth=bandwidth,
        points=tuple(found),
        decided_from=decided_from(found),
        outgrows_l2=1921,
    )


@pytest.fixture
def softmax_result() -> LabResult:
    """The softmax lab on a GPU."""
    return gpu_result("softmax", Options(8192, 4096, "float32", 0, 10))


@pytest.fixture
def fusion_result() -> LabResult:
    """The fusion lab on a GPU."""
    return gpu_result("fusion", Options(8192, 4096, "bfloat16", 0, 10))


@pytest.fixture
def sweep() -> CeilingResult:
    """The ceiling lab on a GPU."""
    return gpu_sweep(Options(8192, 65536, "float32", 0, 5))


@pytest.fixture(scope="session")
def softmax_engine() -> Iterator[Engine]:
    """The interpreter with the softmax kernels."""
    yield from _loaded("softmax")


@pytest.fixture(scope="session")
def fusion_engine() -> Iterator[Engine]:
    """The interpreter with the fusion kernels."""
    yield from _loaded("fusion")


def _loaded(lab: Lab) -> Iterator[Engine]:
    engine = InterpreterEngine(variants.assignment(lab))
    try:
        engine.load()
        yield engine
    finally:
        engine.close()


class PretendedGpu:
    """The interpreter in a GPU engine's clothes: hardware-like bytes, and times that follow from them."""

    def __init__(self, inner: Engine, fault: Fault | None = None) -> None:
        self._inner = inner
        self.fault = fault
        self.notes_given = ("a note",)

    def describe(self) -> EngineReport:
        return GPU

    def compile(self, entry: Entry, arguments: tuple[Any, ...]) -> LaunchPlan | Fault:
        return self._inner.compile(entry, arguments)

    def traffic(self, entry: Entry, arguments: tuple[Any, ...], *, counted: bool = True) -> Observation:
        assert not counted, "counting in the interpreter takes too long at a lab's shapes"
        if self.fault is not None:
            return Observation("gpu", fault=self.fault)
        found = self._inner.traffic(entry, arguments, counted=False).traffic
        assert found is not None
        hardware = msgspec.structs.replace(found, source="cupti", l2=found.requested, absent={"DRAM": "not trusted"})
        return Observation("gpu", traffic=hardware)

    def time(
        self, entry: Entry, cases: Sequence[tuple[Any, ...]], copy_bytes: int, rounds: int = 10
    ) -> tuple[Observation, ...]:
        (case,) = cases
        run = self._inner.run(entry, case)
        assert run.traffic is not None
        speed = Speed(
            run.traffic.requested.total / 1000, copy_bytes / 1000, 0.5, copy_bytes, rounds, notes=("it was hot",)
        )
        return (replace(run, engine="gpu", speed=speed, traffic=None),)

    def notes(self) -> tuple[str, ...]:
        return self.notes_given


@pytest.fixture
def pretended_gpu(softmax_engine: Engine) -> PretendedGpu:
    """A GPU with the softmax kernels."""
    return PretendedGpu(softmax_engine)


Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def kata(tmp_path: Path) -> Run:
    """Run `kata ARGUMENTS` in a folder of its own."""

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "tritonkata", *arguments],
            cwd=tmp_path,
            env={name: value for name, value in os.environ.items() if not name.startswith("KATA_")},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    return run
