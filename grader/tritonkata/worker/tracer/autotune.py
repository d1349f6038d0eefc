"""Autotuned kernels: every configuration is recorded, and the launcher finds the fastest."""

from __future__ import annotations

from typing import Any

from triton.compiler.errors import CompileTimeAssertionFailure
from triton.runtime.autotuner import Autotuner
from triton.runtime.errors import OutOfResources, PTXASError

from tritonkata.model.plan import Step
from tritonkata.worker.hostops import refuse
from tritonkata.worker.tracer.recording import MAX_VARIANTS, Memory

# What Triton's own tuner takes as "this configuration does not fit", and goes on.
_UNFIT = (OutOfResources, CompileTimeAssertionFailure, PTXASError)


def install(memory: Memory) -> None:
    """Replace the tuner's benchmark by recording."""

    def run(self: Any, *args: Any, **kwargs: Any) -> Any:
        self.nargs = dict(zip(self.arg_names, args, strict=False))
        configs = self.prune_configs(kwargs) if len(self.configs) > 1 else self.configs
        try:
            if len(configs) == 1:
                return _run_one(self, configs[0], args, kwargs, reset=False)
            return _record_all(memory, self, configs, args, kwargs)
        finally:
            self.nargs = None

    Autotuner.run = run


def _run_one(tuner: Any, config: Any, args: tuple[Any, ...], kwargs: dict[str, Any], *, reset: bool) -> Any:
    """What Triton does once a configuration is chosen. `reset` is the zeroing that follows a benchmark."""
    conflicts = kwargs.keys() & config.kwargs.keys()
    if conflicts:
        raise ValueError(f"Conflicting meta-parameters: {', '.join(conflicts)}")
    full = {**tuner.nargs, **kwargs, **config.all_kwargs()}
    tuner.best_config = config
    if reset:
        tuner.pre_hook(full, reset_only=True)
    if config.pre_hook is not None:
        config.pre_hook(full)
    return tuner.fn.run(*args, **kwargs, **config.all_kwargs())


def _record_all(memory: Memory, tuner: Any, configs: list[Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if len(configs) > MAX_VARIANTS:
        advice = f"Keep at most {MAX_VARIANTS} configurations."
        raise refuse(f"triton.autotune with {len(configs)} configurations", advice)
    recording = memory.current()
    variants: list[tuple[str, list[Step]]] = []
    kernel, unfit = None, None
    for config in configs:
        try:
            with recording.variant() as steps:
                kernel = _run_one(tuner, config, args, kwargs, reset=True)
        except _UNFIT as error:
            unfit = error
            continue
        variants.append((str(config), steps))
    if not variants:
        assert unfit is not None  # there is at least one configuration
        raise unfit
    recording.add_choice(variants)
    return kernel
