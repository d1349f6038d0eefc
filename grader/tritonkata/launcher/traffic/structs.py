"""The parameter structs of CUPTI's profiler API, field by field as its headers have them.

Every call takes one struct. Its first field is its own size, counted up to the end of its
last field (CUPTI grows structs at the end, and tells versions apart by this size).
Sources: `cupti_range_profiler.h`, `cupti_profiler_host.h`, `cupti_profiler_target.h`, `cupti_target.h`.
"""

from __future__ import annotations

import ctypes
from ctypes import c_char_p, c_double, c_int, c_size_t, c_uint8, c_uint16, c_uint32, c_void_p
from typing import Any

CUPTI_USER_RANGE = 2
CUPTI_USER_REPLAY = 3
CUPTI_PROFILER_TYPE_RANGE_PROFILER = 0

_strings = ctypes.POINTER(c_char_p)
_doubles = ctypes.POINTER(c_double)

FIELDS: dict[str, tuple[tuple[str, Any], ...]] = {
    "CUpti_Profiler_Initialize_Params": (),
    "CUpti_Profiler_DeInitialize_Params": (),
    "CUpti_Profiler_GetCounterAvailability_Params": (
        ("ctx", c_void_p),
        ("counterAvailabilityImageSize", c_size_t),
        ("pCounterAvailabilityImage", c_void_p),
    ),
    "CUpti_Device_GetChipName_Params": (("deviceIndex", c_size_t), ("pChipName", c_char_p)),
    "CUpti_Profiler_Host_Initialize_Params": (
        ("profilerType", c_int),
        ("pChipName", c_char_p),
        ("pCounterAvailabilityImage", c_void_p),
        ("pHostObject", c_void_p),
    ),
    "CUpti_Profiler_Host_Deinitialize_Params": (("pHostObject", c_void_p),),
    "CUpti_Profiler_Host_GetMetricProperties_Params": (
        ("pHostObject", c_void_p),
        ("pMetricName", c_char_p),
        ("pDescription", c_char_p),
        ("pHwUnit", c_char_p),
        ("pDimUnit", c_char_p),
        ("metricType", c_int),
    ),
    "CUpti_Profiler_Host_ConfigAddMetrics_Params": (
        ("pHostObject", c_void_p),
        ("ppMetricNames", _strings),
        ("numMetrics", c_size_t),
    ),
    "CUpti_Profiler_Host_GetConfigImageSize_Params": (("pHostObject", c_void_p), ("configImageSize", c_size_t)),
    "CUpti_Profiler_Host_GetConfigImage_Params": (
        ("pHostObject", c_void_p),
        ("configImageSize", c_size_t),
        ("pConfigImage", c_void_p),
    ),
    "CUpti_Profiler_Host_GetNumOfPasses_Params": (
        ("configImageSize", c_size_t),
        ("pConfigImage", c_void_p),
        ("numOfPasses", c_size_t),
    ),
    "CUpti_Profiler_Host_EvaluateToGpuValues_Params": (
        ("pHostObject", c_void_p),
        ("pCounterDataImage", c_void_p),
        ("counterDataImageSize", c_size_t),
        ("rangeIndex", c_size_t),
        ("ppMetricNames", _strings),
        ("numMetrics", c_size_t),
        ("pMetricValues", _doubles),
    ),
    "CUpti_RangeProfiler_Enable_Params": (("ctx", c_void_p), ("pRangeProfilerObject", c_void_p)),
    "CUpti_RangeProfiler_Disable_Params": (("pRangeProfilerObject", c_void_p),),
    "CUpti_RangeProfiler_GetCounterDataSize_Params": (
        ("pRangeProfilerObject", c_void_p),
        ("pMetricNames", _strings),
        ("numMetrics", c_size_t),
        ("maxNumOfRanges", c_size_t),
        ("maxNumRangeTreeNodes", c_uint32),
        ("counterDataSize", c_size_t),
    ),
    "CUpti_RangeProfiler_CounterDataImage_Initialize_Params": (
        ("pRangeProfilerObject", c_void_p),
        ("counterDataSize", c_size_t),
        ("pCounterData", c_void_p),
    ),
    "CUpti_RangeProfiler_SetConfig_Params": (
        ("pRangeProfilerObject", c_void_p),
        ("configSize", c_size_t),
        ("pConfig", c_void_p),
        ("counterDataImageSize", c_size_t),
        ("pCounterDataImage", c_void_p),
        ("range", c_int),
        ("replayMode", c_int),
        ("maxRangesPerPass", c_size_t),
        ("numNestingLevels", c_uint16),
        ("minNestingLevel", c_uint16),
        ("passIndex", c_size_t),
        ("targetNestingLevel", c_uint16),
    ),
    "CUpti_RangeProfiler_Start_Params": (("pRangeProfilerObject", c_void_p),),
    "CUpti_RangeProfiler_Stop_Params": (
        ("pRangeProfilerObject", c_void_p),
        ("passIndex", c_size_t),
        ("targetNestingLevel", c_size_t),
        ("isAllPassSubmitted", c_uint8),
    ),
    "CUpti_RangeProfiler_PushRange_Params": (("pRangeProfilerObject", c_void_p), ("pRangeName", c_char_p)),
    "CUpti_RangeProfiler_PopRange_Params": (("pRangeProfilerObject", c_void_p),),
    "CUpti_RangeProfiler_DecodeData_Params": (("pRangeProfilerObject", c_void_p), ("numOfRangeDropped", c_size_t)),
    "CUpti_RangeProfiler_GetCounterDataInfo_Params": (
        ("pCounterDataImage", c_void_p),
        ("counterDataImageSize", c_size_t),
        ("numTotalRanges", c_size_t),
    ),
    "CUpti_RangeProfiler_CounterData_GetRangeInfo_Params": (
        ("pCounterDataImage", c_void_p),
        ("counterDataImageSize", c_size_t),
        ("rangeIndex", c_size_t),
        ("rangeDelimiter", c_char_p),
        ("rangeName", c_char_p),
    ),
}

_FUNCTIONS = {
    "CUpti_RangeProfiler_CounterDataImage_Initialize_Params": "cuptiRangeProfilerCounterDataImageInitialize",
    "CUpti_RangeProfiler_CounterData_GetRangeInfo_Params": "cuptiRangeProfilerCounterDataGetRangeInfo",
}


def _structure(name: str) -> type[Any]:
    head = (("structSize", c_size_t), ("pPriv", c_void_p))
    return type(name, (ctypes.Structure,), {"_fields_": [*head, *FIELDS[name]]})


TYPES: dict[str, type[Any]] = {name: _structure(name) for name in FIELDS}


def params(name: str, **values: Any) -> Any:
    """A struct with its size and the given fields set, all else zero. `name` lacks `CUpti_` and `_Params`."""
    made = TYPES[f"CUpti_{name}_Params"](**values)
    last = made._fields_[-1][0]
    field = getattr(type(made), last)
    made.structSize = field.offset + field.size
    return made


def function_name(name: str) -> str:
    """The function that takes the struct `name`."""
    full = f"CUpti_{name}_Params"
    return _FUNCTIONS.get(full, "cupti" + name.replace("_", ""))
