"""What was measured, as single plain lines: traffic, speed, resources, and what could not be measured.

Every line here is plain text (cleaned, not escaped for Markdown), the same in a terminal and in Markdown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from tritonkata.feedback.clean import one_line
from tritonkata.feedback.numbers import few, number, pair, plural, shape, size
from tritonkata.model.course import Kata
from tritonkata.model.observation import Level, Resources, TensorTraffic, TrafficSource
from tritonkata.model.report import Report, SpeedReport, TrafficReport

SOURCES: Mapping[TrafficSource, str] = {
    "interpreter": "counted by the interpreter",
    "cupti": "measured by CUPTI on the GPU",
    "ncu": "measured by Nsight Compute",
}
"""Who counted."""

_MOST_KERNELS = 3
_BOTH_LEVELS = "traffic in L2 and DRAM"
_LEVELS = {
    "l2": "traffic in L2",
    "dram": "traffic in DRAM",
    "requested": "requested traffic",
    "spilled": "bytes of spilled registers",
    "async_copied": "asynchronous copies",
    "tma_loaded": "TMA loads",
    "tma_stored": "TMA stores",
    "cupti": "traffic by CUPTI",
    "ncu": "traffic by Nsight Compute",
}


def fact_lines(report: Report, kata: Kata) -> tuple[str, ...]:
    """Traffic, speed and resources, then what could not be measured, then notes."""
    lines = (
        *traffic_lines(report.traffic, kata, report.traffic_at_full_size),
        tensors_line(report.traffic),
        speed_line(report.speed),
        resources_line(report.resources),
        *absent_lines(report),
        *note_lines(report),
    )
    return tuple(line for line in lines if line)


def traffic_lines(
    traffic: TrafficReport | None, kata: Kata, at_full_size: TrafficReport | None = None
) -> tuple[str, ...]:
    """Traversals at each level, the requested ones against budget and par; bytes of special routes, if any.

    Where a full size was measured too, L2 and DRAM are told of that: a small input stays in the caches.
    """
    lines: list[str] = []
    if traffic is not None and traffic.unit_bytes:
        lines += [_requested(traffic, kata), *_routes(traffic)]
        lines[1:1] = [] if at_full_size else [_deeper(traffic)]
    if at_full_size is not None and at_full_size.unit_bytes:
        lines.append(_full_size(at_full_size))
    return tuple(one_line(line) for line in lines if line)


def tensors_line(traffic: TrafficReport | None) -> str:
    """How often each tensor was read and written, in passes over the bytes that were touched."""
    parts = [part for tensor in (traffic.per_tensor if traffic else ()) if (part := _passes(tensor))]
    return one_line(f"Passes: {', '.join(few(parts))}") if parts else ""


def speed_line(speed: SpeedReport | None) -> str:
    """Speed as a share of a copy of the same bytes, on which input, and the bandwidth that this comes to."""
    if speed is None:
        return ""
    timed = " ".join(part for part in (speed.dtype, shape(speed.shape) if speed.shape else "") if part)
    share = f"{number(100 * speed.fraction_of_copy, 3)} % of a copy{' on ' if timed else ''}{timed}"
    parts = [f"Speed: {share}: {number(speed.kernel_us, 4)} us, the copy {number(speed.copy_us, 4)} us"]
    if effective_gb_per_s(speed):
        parts.append(f"{number(effective_gb_per_s(speed), 4)} GB/s")
    if speed.repeated:
        parts.append(f"{plural(speed.repeated, 'round')} repeated")
    return one_line("; ".join(parts))


def effective_gb_per_s(speed: SpeedReport) -> float:
    """The bytes of the copy over the time of the kernel, in 10^9 bytes a second; 0 where either is not known."""
    return speed.copy_bytes / speed.kernel_us / 1e3 if speed.kernel_us > 0 else 0.0


def resources_line(resources: Iterable[Resources]) -> str:
    """The compiler's figures, one entry a kernel: the largest of each figure over all its variants."""
    kernels: dict[str, list[Resources]] = {}
    for one in resources:
        kernels.setdefault(one.kernel, []).append(one)
    if not kernels:
        return ""
    shown = [_kernel(name, variants) for name, variants in list(kernels.items())[:_MOST_KERNELS]]
    more = len(kernels) - len(shown)
    return one_line(f"Resources: {'; '.join(shown)}" + (f"; {plural(more, 'more kernel')}" if more else ""))


def absent_figures(report: Report) -> dict[str, tuple[str, ...]]:
    """For each reason, the figures that could not be measured for it, each once."""
    sources = [report.absent, *(one.absent for one in (report.traffic, report.traffic_at_full_size) if one)]
    reasons: dict[str, list[str]] = {}
    for name, reason in (item for absent in sources for item in absent.items()):
        reasons.setdefault(reason, []).append(_LEVELS.get(name.lower(), name))
    return {reason: _each_once(figures) for reason, figures in reasons.items()}


def absent_lines(report: Report) -> tuple[str, ...]:
    """What was not run or measured, and why; figures of one reason share a line."""
    checks = (f"Not run: {what}: {why}" for what, why in report.unavailable.items())
    figures = (f"Not measured: {', '.join(what)}: {why}" for why, what in absent_figures(report).items())
    return tuple(one_line(line) for line in (*checks, *figures))


def note_lines(report: Report) -> tuple[str, ...]:
    """Notes of the run, and of what disturbed the GPU while it was timed, each once."""
    timed = report.speed.notes if report.speed else ()
    return tuple(one_line(f"Note: {note}") for note in dict.fromkeys((*report.notes, *timed)))


def _requested(traffic: TrafficReport, kata: Kata) -> str:
    limits, found, unit_bytes = kata.file.traffic, traffic.bytes, traffic.unit_bytes
    total, loads, stores = _traversals(found.requested, unit_bytes, 4)
    other = ""
    if found.counted is not None and found.counted.total != found.requested.total:
        total, counted = pair(found.requested.total / unit_bytes, found.counted.total / unit_bytes)
        other = f"; counted by the interpreter: {counted}"
    split = f"(loads {loads}, stores {stores}; budget {number(limits.budget, 4)}, par {number(limits.par, 4)})"
    return f"Requested: {total} traversals of {traffic.unit} {split}, {SOURCES[traffic.source]}{other}"


def _deeper(traffic: TrafficReport) -> str:
    levels = (("in L2", traffic.bytes.l2), ("in DRAM", traffic.bytes.dram))
    seen = "; ".join(f"{name}: {_split(level, traffic.unit_bytes)}" for name, level in levels if level is not None)
    return seen[:1].upper() + seen[1:]


def _routes(traffic: TrafficReport) -> Iterator[str]:
    """Lines for bytes that took no plain load or store; one without bytes is not told."""
    found = traffic.bytes
    routes = (
        (found.async_copied, "asynchronous copies"),
        (found.tma_loaded, "TMA loads"),
        (found.tma_stored, "TMA stores"),
    )
    parts = [f"{size(nbytes)} by {name}" for nbytes, name in routes if nbytes]
    yield f"Of the requested bytes: {', '.join(parts)}" if parts else ""
    yield f"Spilled registers: {size(found.spilled)} more" if found.spilled else ""


def _full_size(traffic: TrafficReport) -> str:
    found, unit_bytes = traffic.bytes, traffic.unit_bytes
    requested, _, _ = _traversals(found.requested, unit_bytes, 4)
    levels = (("in L2", found.l2), ("in DRAM", found.dram))
    seen = [f"{name} {_split(level, unit_bytes)}" for name, level in levels if level is not None]
    spilled = [f"{size(found.spilled)} spilled"] if found.spilled else []
    parts = [f"requested {requested}", *seen, *spilled]
    return f"At full size ({traffic.unit} of {size(unit_bytes)}): {', '.join(parts)}"


def _split(level: Level, unit_bytes: int) -> str:
    total, loads, stores = _traversals(level, unit_bytes, 3)
    return f"{total} (loads {loads}, stores {stores})"


def _traversals(level: Level, unit_bytes: int, digits: int) -> tuple[str, str, str]:
    """In all, loads, stores."""
    total, loads, stores = (number(one / unit_bytes, digits) for one in (level.total, level.loaded, level.stored))
    return total, loads, stores


def _passes(tensor: TensorTraffic) -> str:
    moved = (("read", tensor.loaded, tensor.unique_loaded), ("written", tensor.stored, tensor.unique_stored))
    parts = [f"{verb} {number(total / once, 3)}x" for verb, total, once in moved if once]
    return f"{tensor.tensor} {' and '.join(parts)}" if parts else ""


def _kernel(name: str, variants: list[Resources]) -> str:
    registers = [one.registers for one in variants if one.registers is not None]
    spilled = [one.spilled_bytes for one in variants if one.spilled_bytes is not None]
    parts = [
        f"{max(registers)} registers a thread" if registers else "registers unknown",
        f"{number(max(spilled))} bytes spilled" if spilled else "spills unknown",
        f"{number(max(one.shared_bytes for one in variants))} bytes shared",
        plural(max(one.num_warps for one in variants), "warp"),
    ]
    many = f" ({len(variants)} variants, largest figures)" if len(variants) > 1 else ""
    return f"{name}{many} {', '.join(parts)}"


def _each_once(figures: list[str]) -> tuple[str, ...]:
    """The figures without repetition; the two levels behind L1 as one."""
    both = {_LEVELS["l2"], _LEVELS["dram"]}
    if both <= set(figures) or _BOTH_LEVELS in figures:
        figures = [_BOTH_LEVELS if figure in both else figure for figure in figures]
    return tuple(dict.fromkeys(figures))
