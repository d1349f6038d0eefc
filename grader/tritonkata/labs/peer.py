"""torch.softmax beside the lab's own kernels, measured in a process of its own: the grader never imports torch."""

from __future__ import annotations

import subprocess
from collections.abc import Callable

import msgspec

from tritonkata.feedback.clean import one_line
from tritonkata.labs.child import run_module
from tritonkata.labs.model import LabRow, Options

PEER_SECONDS = 600.0


class Refused(msgspec.Struct, frozen=True):
    """Why there is no row."""

    reason: str


def torch_row(options: Options, progress: Callable[[str], None]) -> LabRow | str:
    """torch.softmax on the first GPU, or one line on why it could not be measured."""
    progress("torch.softmax: importing torch, counting and timing")
    asked = msgspec.json.encode(options).decode()
    try:
        done = run_module("tritonkata.labs.torch_softmax", asked, seconds=PEER_SECONDS)
    except (OSError, subprocess.TimeoutExpired) as error:
        return one_line(f"the process that measures it failed: {error}", limit=300)
    return _read(done.stdout, done.stderr)


def _read(output: bytes, errors: bytes) -> LabRow | str:
    """The last line of the output: a row, or a reason."""
    lines = output.strip().splitlines()
    try:
        answer = msgspec.json.decode(lines[-1]) if lines else None
        if isinstance(answer, dict) and "reason" in answer:
            return msgspec.convert(answer, Refused).reason
        return msgspec.convert(answer, LabRow)
    except (msgspec.DecodeError, msgspec.ValidationError):
        told = errors.decode(errors="replace").strip().splitlines()[-1:]
        return one_line(f"the process that measures it failed: {told[0] if told else 'no answer'}", limit=300)
