"""CUPTI's range profiler: counter values of single launches, by user ranges and user replay."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any

from tritonkata.launcher import modules
from tritonkata.launcher.traffic import library, structs

Values = dict[str, float]
Ranged = Callable[[str], AbstractContextManager[None]]
"""Makes a context manager; what is launched inside is counted under the name."""

_INVALID_METRIC_NAME = 17
_INSUFFICIENT_PRIVILEGES = (35, 40)
_HARDWARE_BUSY = 26
_UNKNOWN = 999
_OTHER_PROFILER = (_HARDWARE_BUSY, 36, 39)
_MAX_PASSES = 32

_PERMISSION = (
    "this user may not read hardware counters; an administrator writes "
    "`options nvidia NVreg_RestrictProfilingToAdminUsers=0` into /etc/modprobe.d/nvidia-profiling.conf, rebuilds the "
    "initramfs and restarts; in a container: --cap-add=SYS_ADMIN"
)
_OCCUPIED = "another profiler holds the counters of this GPU; end it (ncu, nsys, DCGM with profiling) and check again"


class CuptiError(Exception):
    """A call failed: CUPTI's `code` and `call`. The message says what to do where that is known."""

    def __init__(self, call: str, code: int, text: str) -> None:
        failed = f"{call} failed: {text} ({code})"
        advice = _advice(code)
        super().__init__(f"{advice} ({failed})" if advice else failed)
        self.call = call
        self.code = code
        self.is_broken = code != _HARDWARE_BUSY
        """Whether this process may be in no state to count again. Else another one has the counters for now."""
        self.may_pass = not self.is_broken or (
            code == _UNKNOWN and call == structs.function_name("RangeProfiler_Start")
        )
        """Whether to try again. An H200 refused starts so, for seconds, as twelve graders or more took turns."""


def _advice(code: int) -> str | None:
    if code in _INSUFFICIENT_PRIVILEGES:
        return _PERMISSION
    return _OCCUPIED if code in _OTHER_PROFILER else None


@dataclass(frozen=True)
class _Config:
    """What CUPTI worked out for a set of metrics."""

    metrics: tuple[str, ...]
    image: Any
    passes: int


class RangeProfiler:
    """The counters of one device, for a context that is current. Set-up takes about a second, once.

    Raises:
        CuptiMissing: there is no library.
        CuptiError: no permission, another process that counts at this moment, or a device that is not supported.
    """

    def __init__(self, context: int, device_index: int) -> None:
        self._library, self.version, self.path = library.load()
        self._context = context
        self._call("Profiler_Initialize")
        chip = self._call("Device_GetChipName", deviceIndex=device_index)
        self.chip = chip.pChipName.decode()
        self._availability = self._counter_availability()
        self._configs: dict[tuple[str, ...], _Config] = {}
        self._host = self._new_host()
        self._profiler: int | None = None

    def supported(self, metrics: Sequence[str]) -> tuple[str, ...]:
        """Those of the metrics that this chip has."""
        return tuple(name for name in metrics if self._has(name))

    def passes(self, metrics: Sequence[str]) -> int:
        """How often a workload is run to collect the metrics."""
        return self._config(tuple(metrics)).passes

    def count(self, metrics: Sequence[str], work: Callable[[Ranged], None], ranges: int) -> dict[str, Values]:
        """Values by the name of each range that `work` opens, at most `ranges` different ones.

        `work` is called once for each pass and must launch the same kernels every time. Afterwards this process has
        the counters until `release`.

        Raises:
            CuptiError: the counters could not be read, and are released; unless it `is_broken`, another process has
                them.
        """
        config = self._config(tuple(metrics))
        if self._profiler is None:
            self._profiler = self._call("RangeProfiler_Enable", ctx=self._context).pRangeProfilerObject
            modules.keep()
        try:
            data = self._counter_data(self._profiler, config, ranges)
            self._collect(self._profiler, config, data, work, ranges)
            return self._values(config, data)
        except BaseException as error:
            # What went wrong first is what counts; after a kernel's fault the context is gone anyway.
            try:
                self.release()
            except CuptiError:
                if isinstance(error, CuptiError):
                    error.is_broken, error.may_pass = True, False
            raise

    def release(self) -> None:
        """Give the counters back, if this process has them.

        Raises:
            CuptiError: CUPTI refuses.
        """
        profiler, self._profiler = self._profiler, None
        if profiler is not None:
            try:
                self._call("RangeProfiler_Disable", pRangeProfilerObject=profiler)
            finally:
                modules.let_go()

    def close(self) -> None:
        """Leave CUPTI."""
        self.release()
        self._call("Profiler_Host_Deinitialize", pHostObject=self._host)
        self._call("Profiler_DeInitialize")

    def _collect(self, profiler: int, config: _Config, data: Any, work: Callable[[Ranged], None], ranges: int) -> None:
        self._call(
            "RangeProfiler_SetConfig",
            pRangeProfilerObject=profiler,
            configSize=len(config.image),
            pConfig=ctypes.addressof(config.image),
            counterDataImageSize=len(data),
            pCounterDataImage=ctypes.addressof(data),
            range=structs.CUPTI_USER_RANGE,
            replayMode=structs.CUPTI_USER_REPLAY,
            maxRangesPerPass=ranges,
            numNestingLevels=1,
            minNestingLevel=1,
            passIndex=0,
            targetNestingLevel=1,
        )
        for _ in range(_MAX_PASSES):
            self._call("RangeProfiler_Start", pRangeProfilerObject=profiler)
            work(lambda name: self._range(profiler, name))
            if self._call("RangeProfiler_Stop", pRangeProfilerObject=profiler).isAllPassSubmitted:
                break
        else:
            raise CuptiError("RangeProfiler_Stop", 0, f"not all counters were collected in {_MAX_PASSES} passes")
        self._call("RangeProfiler_DecodeData", pRangeProfilerObject=profiler)

    @contextmanager
    def _range(self, profiler: int, name: str) -> Iterator[None]:
        self._call("RangeProfiler_PushRange", pRangeProfilerObject=profiler, pRangeName=name.encode())
        yield
        self._call("RangeProfiler_PopRange", pRangeProfilerObject=profiler)

    def _counter_data(self, profiler: int, config: _Config, ranges: int) -> Any:
        names = _strings(config.metrics)
        size = self._call(
            "RangeProfiler_GetCounterDataSize",
            pRangeProfilerObject=profiler,
            pMetricNames=names,
            numMetrics=len(config.metrics),
            maxNumOfRanges=ranges,
            maxNumRangeTreeNodes=ranges,
        ).counterDataSize
        data = (ctypes.c_uint8 * size)()
        self._call(
            "RangeProfiler_CounterDataImage_Initialize",
            pRangeProfilerObject=profiler,
            counterDataSize=size,
            pCounterData=ctypes.addressof(data),
        )
        return data

    def _values(self, config: _Config, data: Any) -> dict[str, Values]:
        place = {"pCounterDataImage": ctypes.addressof(data), "counterDataImageSize": len(data)}
        found = {}
        names = _strings(config.metrics)
        for index in range(self._call("RangeProfiler_GetCounterDataInfo", **place).numTotalRanges):
            info = self._call("RangeProfiler_CounterData_GetRangeInfo", **place, rangeIndex=index, rangeDelimiter=b"/")
            values = (ctypes.c_double * len(config.metrics))()
            self._call(
                "Profiler_Host_EvaluateToGpuValues",
                pHostObject=self._host,
                **place,
                rangeIndex=index,
                ppMetricNames=names,
                numMetrics=len(config.metrics),
                pMetricValues=values,
            )
            found[info.rangeName.decode()] = dict(zip(config.metrics, values, strict=True))
        return found

    def _config(self, metrics: tuple[str, ...]) -> _Config:
        if metrics not in self._configs:
            self._configs[metrics] = self._scheduled(metrics)
        return self._configs[metrics]

    def _scheduled(self, metrics: tuple[str, ...]) -> _Config:
        """A host object keeps the metrics that were added to it, so each set has one of its own."""
        host = self._new_host()
        try:
            names = _strings(metrics)
            self._call("Profiler_Host_ConfigAddMetrics", pHostObject=host, ppMetricNames=names, numMetrics=len(metrics))
            size = self._call("Profiler_Host_GetConfigImageSize", pHostObject=host).configImageSize
            image = (ctypes.c_uint8 * size)()
            place = {"configImageSize": size, "pConfigImage": ctypes.addressof(image)}
            self._call("Profiler_Host_GetConfigImage", pHostObject=host, **place)
            return _Config(metrics, image, self._call("Profiler_Host_GetNumOfPasses", **place).numOfPasses)
        finally:
            self._call("Profiler_Host_Deinitialize", pHostObject=host)

    def _has(self, metric: str) -> bool:
        try:
            self._call(
                "Profiler_Host_GetMetricProperties",
                pHostObject=self._host,
                pMetricName=metric.partition(".")[0].encode(),
            )
        except CuptiError as error:
            if error.code == _INVALID_METRIC_NAME:
                return False
            raise
        return True

    def _new_host(self) -> int:
        made = self._call(
            "Profiler_Host_Initialize",
            profilerType=structs.CUPTI_PROFILER_TYPE_RANGE_PROFILER,
            pChipName=self.chip.encode(),
            pCounterAvailabilityImage=ctypes.addressof(self._availability),
        )
        return int(made.pHostObject)

    def _counter_availability(self) -> Any:
        asked = self._call("Profiler_GetCounterAvailability", ctx=self._context)
        image = (ctypes.c_uint8 * asked.counterAvailabilityImageSize)()
        self._call(
            "Profiler_GetCounterAvailability",
            ctx=self._context,
            counterAvailabilityImageSize=len(image),
            pCounterAvailabilityImage=ctypes.addressof(image),
        )
        return image

    def _call(self, name: str, **values: Any) -> Any:
        """Call the function of one parameter struct; the struct afterwards, with what CUPTI wrote into it."""
        made = structs.params(name, **values)
        function = structs.function_name(name)
        status = getattr(self._library, function)(ctypes.byref(made))
        if status != 0:
            raise CuptiError(function, status, self._result_string(status))
        return made

    def _result_string(self, status: int) -> str:
        text = ctypes.c_char_p()
        if self._library.cuptiGetResultString(status, ctypes.byref(text)) != 0 or text.value is None:
            return "an unknown error"
        return text.value.decode("utf-8", "replace")


def _strings(names: Sequence[str]) -> Any:
    return (ctypes.c_char_p * len(names))(*(name.encode() for name in names))
