"""The messages that cross between the controller and its workers.

Each message is one frame (see `tritonkata.boundary.channel`): a MessagePack
body of one of these types, followed by raw blobs. `TensorData` fields take
their bytes from the blobs, in order of appearance.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from tritonkata.model.answers import Arguments, Outcome
from tritonkata.model.faults import Fault, Name, Text
from tritonkata.model.observation import Speed, Traffic, Unwritten
from tritonkata.model.plan import MAX_CUBIN_BYTES, LaunchPlan, Origin
from tritonkata.model.tensors import TensorData, TensorSpec

MAX_SOURCE_BYTES = 256 << 10
Specs = Annotated[tuple[TensorSpec, ...], msgspec.Meta(max_length=16)]
Tensors = Annotated[tuple[TensorData, ...], msgspec.Meta(max_length=16)]
Names = Annotated[tuple[Name, ...], msgspec.Meta(max_length=16)]
Notes = Annotated[tuple[Text, ...], msgspec.Meta(max_length=16)]


class DeviceFigures(msgspec.Struct, frozen=True):
    """What host code may ask of the card. The defaults are an H100/H200 (sm_90)."""

    name: Name = "NVIDIA H200"
    capability: tuple[int, int] = (9, 0)
    multiprocessors: int = 132
    max_shared_bytes: int = 232448
    max_registers: int = 65536
    max_threads_per_multiprocessor: int = 2048
    warp_size: int = 32
    total_memory: int = 150_000_000_000
    l2_bytes: int = 62_914_560
    clock_khz: int = 1_980_000
    memory_clock_khz: int = 3_201_000
    memory_bus_bits: int = 6144


class Ready(msgspec.Struct, frozen=True, tag="ready"):
    """Worker to controller, once: libraries are imported, a submission may come."""

    triton: Name
    torch: Name
    numpy: Name
    notes: Notes = ()


class Load(msgspec.Struct, frozen=True, tag="load"):
    """Controller to worker, once: the submission. Answered by `Loaded` or `Failed`.

    `target` is what the tracer compiles for: `sm_80`, `sm_90`, `sm_100`, `gfx942`. With `keep_origins` plans hold
    what each kernel was compiled from.
    """

    filename: Name
    source: Annotated[bytes, msgspec.Meta(max_length=MAX_SOURCE_BYTES)]
    entry_points: Names
    target: Name
    device: DeviceFigures
    seconds: float
    keep_origins: bool = False


class Trace(msgspec.Struct, frozen=True, tag="trace"):
    """Controller to tracer: call `entry` on stand-ins. Answered by `Traced` or `Failed`.

    A tracer whose call took longer than `seconds` answers with a timeout, and ends.
    """

    entry: Name
    parameters: Names
    arguments: Specs
    seconds: float = 60.0


class Interpret(msgspec.Struct, frozen=True, tag="interpret"):
    """Controller to interpreter worker: call `entry` on these values.

    Blobs: one for each argument. Answered by `Interpreted` or `Failed`.
    """

    entry: Name
    parameters: Names
    arguments: Tensors
    seconds: float


class Evaluate(msgspec.Struct, frozen=True, tag="evaluate"):
    """Controller to interpreter worker: the value of a name in the submission, or of calls of it.

    Without calls the name is a constant. Answered by `Evaluated` or `Failed`.
    """

    name: Name
    calls: Annotated[tuple[Arguments, ...], msgspec.Meta(max_length=256)]
    seconds: float


class Loaded(msgspec.Struct, frozen=True, tag="loaded"):
    """The submission was imported and its entry points are callable."""


class Traced(msgspec.Struct, frozen=True, tag="traced"):
    """A launch plan. Nothing in it is believed before it is validated."""

    plan: LaunchPlan
    notes: Notes = ()


class Interpreted(msgspec.Struct, frozen=True, tag="interpreted"):
    """Outputs of one case (blobs: one for each output) and what the interpreter counted.

    `aliases` lists the outputs that share storage with an input, by output index.
    `inputs_changed` names the parameters whose storage changed.
    """

    outputs: Tensors
    returned_tuple: bool
    traffic: Traffic
    launches: int
    inputs_changed: Names = ()
    aliases: Annotated[tuple[int, ...], msgspec.Meta(max_length=16)] = ()
    unwritten: Annotated[tuple[Unwritten, ...], msgspec.Meta(max_length=16)] = ()
    notes: Notes = ()


class Evaluated(msgspec.Struct, frozen=True, tag="evaluated"):
    """One value, or the value of each call in order; in the place of a value may stand why there is none."""

    values: Annotated[tuple[Outcome, ...], msgspec.Meta(max_length=256)]


class Failed(msgspec.Struct, frozen=True, tag="failed"):
    """The request ended without a result; why. `ends` says that a launcher serves no more requests after this."""

    fault: Fault
    notes: Notes = ()
    ends: bool = False


class Recompile(msgspec.Struct, frozen=True, tag="recompile"):
    """Controller to recompiler: compile this again for `target`. Answered by `Recompiled` or `Failed`."""

    target: Name
    origin: Origin


class Recompiled(msgspec.Struct, frozen=True, tag="recompiled"):
    """The cubin that came of it."""

    cubin: Annotated[bytes, msgspec.Meta(max_length=MAX_CUBIN_BYTES)]


class Replay(msgspec.Struct, frozen=True, tag="replay"):
    """Controller to launcher: run a validated plan on fresh buffers. Blobs: one for each argument.

    `poison` is the byte that fills outputs, scratch and guard zones before the
    run; the launcher runs the plan once for each byte given.
    """

    plan: LaunchPlan
    arguments: Tensors
    poisons: Annotated[bytes, msgspec.Meta(max_length=4)]


class Replayed(msgspec.Struct, frozen=True, tag="replayed"):
    """Outputs of a replay (blobs: one for each output, of the first run).

    `guard_hits` names the buffers beside which a guard zone was written, with
    the signed byte offset of the first changed byte from the buffer's start.
    """

    outputs: Tensors
    inputs_changed: Names = ()
    guard_hits: Annotated[tuple[tuple[Name, int], ...], msgspec.Meta(max_length=64)] = ()
    unwritten: Annotated[tuple[Unwritten, ...], msgspec.Meta(max_length=16)] = ()
    chosen: Annotated[tuple[int, ...], msgspec.Meta(max_length=256)] = ()


class Count(msgspec.Struct, frozen=True, tag="count"):
    """Controller to launcher: run a validated plan under hardware counters. Blobs: one for each argument.

    `levels` are the groups of metrics to collect: `requested`, `l2`, `dram`, `time`.
    """

    plan: LaunchPlan
    arguments: Tensors
    levels: tuple[Name, ...] = ("requested", "l2", "dram")


class LaunchCounters(msgspec.Struct, frozen=True):
    """Raw counter values of one launch, by metric name as the profiler spells it."""

    kernel: Name
    values: dict[str, float]


class Counted(msgspec.Struct, frozen=True, tag="counted"):
    """Bytes of one run of the plan's steps, and the raw values they were made of.

    `traffic` is None if no source can be trusted here; `reason` says why, and why a
    better source was passed over where `traffic` is there. `ends` says that the launcher
    serves no more requests: its profiler failed, and its context with it. `seconds` is what the
    measurement took, without waiting for other processes.
    """

    traffic: Traffic | None
    launches: Annotated[tuple[LaunchCounters, ...], msgspec.Meta(max_length=4096)] = ()
    chosen: Annotated[tuple[int, ...], msgspec.Meta(max_length=256)] = ()
    reason: Text = ""
    seconds: float = 0.0
    ends: bool = False


class Time(msgspec.Struct, frozen=True, tag="time"):
    """Controller to launcher: time a validated plan beside copies. Blobs: the arguments of each case in turn.

    All cases have the layouts of the plan; the runs take them in turn. `copy_bytes` is what each
    copy moves, read plus written.
    """

    plan: LaunchPlan
    cases: Annotated[tuple[Tensors, ...], msgspec.Meta(min_length=1, max_length=4)]
    copy_bytes: Annotated[int, msgspec.Meta(ge=0, le=1 << 38)]
    rounds: Annotated[int, msgspec.Meta(ge=1, le=1000)] = 10


class Timed(msgspec.Struct, frozen=True, tag="timed"):
    """Times of a plan. Blobs: one for each output of each case's first run, in order.

    `differing` are the cases (by index) whose outputs were not the same, bit for bit, in all of their
    runs; for each of them the outputs of the last differing run follow the others.
    """

    speed: Speed
    outputs: Annotated[tuple[TensorData, ...], msgspec.Meta(max_length=128)]
    inputs_changed: Names = ()
    differing: Annotated[tuple[int, ...], msgspec.Meta(max_length=4)] = ()
    chosen: Annotated[tuple[int, ...], msgspec.Meta(max_length=256)] = ()


class Examine(msgspec.Struct, frozen=True, tag="examine"):
    """Controller to launcher: copy something and say what came of it. Asked after a fault, before the GPU is used."""


class Examined(msgspec.Struct, frozen=True, tag="examined"):
    """What a copy on the GPU gave: whether every byte arrived, how fast, and how much memory is free."""

    right: bool
    bytes_per_second: float
    free_bytes: int


class LauncherReady(msgspec.Struct, frozen=True, tag="launcher_ready"):
    """Launcher to controller, first on every connection: the context stands. `free_bytes` are those of the GPU."""

    device: DeviceFigures
    driver: Name
    free_bytes: int = 0


WorkerRequest = Load | Trace | Interpret | Evaluate
TracerReply = Ready | Loaded | Traced | Failed
InterpreterReply = Ready | Loaded | Interpreted | Evaluated | Failed
RecompilerReply = Ready | Recompiled | Failed
LauncherRequest = Replay | Count | Time | Examine
LauncherReply = LauncherReady | Replayed | Counted | Timed | Examined | Failed
