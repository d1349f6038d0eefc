"""Where a lab runs: card, driver, versions, date."""

from __future__ import annotations

import platform
import subprocess
from datetime import UTC, datetime
from importlib import metadata

import msgspec

from tritonkata import __version__
from tritonkata.engine.machine import processor_name
from tritonkata.labs.child import run_module
from tritonkata.labs.model import Environment
from tritonkata.model.report import Engine

ASK_SECONDS = 60.0


class Card(msgspec.Struct, frozen=True):
    """What `python -m tritonkata.labs.card` says of the first GPU."""

    name: str
    cuda: str
    l2_bytes: int


def look_around(engine: Engine) -> Environment:
    """The environment of a run on this engine; a card is asked for only where the engine has one."""
    card = ask_card() if engine.name == "gpu" else None
    return Environment(
        date=datetime.now(UTC).date().isoformat(),
        processor=processor_name(),
        python=platform.python_version(),
        tritonkata=__version__,
        numpy=metadata.version("numpy"),
        triton=engine.triton,
        torch=engine.torch,
        card=engine.device if engine.name == "gpu" else None,
        driver=_driver() if engine.name == "gpu" else None,
        cuda=card.cuda if card else None,
        l2_bytes=card.l2_bytes if card else None,
    )


def ask_card() -> Card | None:
    """The first GPU's figures, asked in a process of its own; None where it does not answer."""
    try:
        done = run_module("tritonkata.labs.card", seconds=ASK_SECONDS)
        return msgspec.json.decode(done.stdout, type=Card)
    except (OSError, subprocess.SubprocessError, msgspec.MsgspecError):
        return None


def _driver() -> str | None:
    """NVIDIA's number of the driver, from its own tool."""
    command = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=ASK_SECONDS, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.splitlines()[0].strip() if done.stdout.strip() else None
