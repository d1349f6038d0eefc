"""The shipped schema is the types' own, and reports keep to it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from feedback_samples import CASE, FAILING, UNIT, check, fault, full_check, passed, report, speed_report, traffic_report

from tritonkata.feedback.schema import SHIPPED, as_text, report_schema
from tritonkata.model.observation import Level
from tritonkata.model.report import Report

SCHEMA = report_schema()
ANNOTATIONS = {"title", "description", "default", "$schema", "$defs"}
TYPES: dict[str, Any] = {
    "object": dict,
    "array": list,
    "string": str,
    "boolean": bool,
    "null": type(None),
    "integer": int,
    "number": (int, float),
}


def problems(value: Any, schema: dict[str, Any], path: str = "$") -> list[str]:
    """What is wrong with `value`; an unknown keyword of JSON Schema is an error of this test."""
    unknown = schema.keys() - ANNOTATIONS - RULES.keys()
    assert not unknown, f"the test knows no keyword {unknown}"
    wanted = schema.get("type")
    if wanted and not has_type(value, wanted):
        return [f"{path}: {value!r} is no {wanted}"]
    return [
        f"{path}{problem}"
        for keyword in schema.keys() & RULES.keys()
        for problem in RULES[keyword](value, schema[keyword])
    ]


def has_type(value: Any, name: str) -> bool:
    return isinstance(value, TYPES[name]) and not (isinstance(value, bool) and name in ("integer", "number"))


def reference(value: Any, rule: str) -> list[str]:
    return problems(value, SCHEMA["$defs"][rule.rpartition("/")[2]], "")


def any_of(value: Any, rule: list[dict[str, Any]]) -> list[str]:
    return [f": {value!r} fits no option"] if all(problems(value, option) for option in rule) else []


def properties(value: dict[str, Any], rule: dict[str, Any]) -> list[str]:
    return [one for name in rule.keys() & value.keys() for one in problems(value[name], rule[name], f".{name}")]


def values(value: dict[str, Any], rule: dict[str, Any]) -> list[str]:
    return [one for name, item in value.items() for one in problems(item, rule, f".{name}")]


def items(value: list[Any], rule: Any) -> list[str]:
    # `false` closes a tuple whose entries `prefixItems` lists.
    return [one for place, item in enumerate(value) for one in problems(item, rule, f"[{place}]")] if rule else []


RULES: dict[str, Callable[[Any, Any], list[str]]] = {
    "type": lambda _value, _rule: [],  # looked at first
    "$ref": reference,
    "anyOf": any_of,
    "enum": lambda value, rule: [] if value in rule else [f": {value!r} is not one of {rule}"],
    "required": lambda value, rule: [f": no {name}" for name in rule if name not in value],
    "properties": properties,
    "additionalProperties": values,
    "items": items,
    "minimum": lambda value, rule: [f": {value} is below {rule}"] if value < rule else [],
    "maximum": lambda value, rule: [f": {value} is above {rule}"] if value > rule else [],
    "maxLength": lambda value, rule: [f": longer than {rule}"] if len(value) > rule else [],
    "minItems": lambda value, rule: [f": fewer than {rule}"] if len(value) < rule else [],
    "maxItems": lambda value, rule: [f": more than {rule}"] if len(value) > rule else [],
}


def encoded(result: Report) -> Any:
    return json.loads(msgspec.json.encode(result))


def test_shipped_schema_is_up_to_date():
    assert SHIPPED.read_text(encoding="utf-8") == as_text(), "run python -m tritonkata.feedback.schema > " + str(
        SHIPPED
    )


@pytest.mark.parametrize("verdict", FAILING)
def test_reports_keep_to_the_schema(verdict):
    traffic = traffic_report(
        l2=Level(UNIT, UNIT), dram=Level(), counted=Level(UNIT), spilled=7, tma_loaded=0, absent={"DRAM": "untrusted"}
    )
    result = report(
        *(passed(), full_check(verdict), check(verdict, case=CASE)),
        traffic=traffic,
        traffic_at_full_size=traffic,
        speed=speed_report(notes=("shared",)),
    )
    assert problems(encoded(result), SCHEMA) == []
    assert msgspec.json.decode(msgspec.json.encode(result), type=Report) == result


def test_reports_without_anything_graded_keep_to_the_schema():
    result = report(verdict="error", fault=fault("compile_error", "load"), traffic=None, resources=())
    assert problems(encoded(result), SCHEMA) == []


@pytest.mark.parametrize(
    ("key", "value"),
    [("verdict", "maybe"), ("score", "1"), ("checks", {}), ("seed", None), ("engine", {"name": "gpu"})],
)
def test_the_schema_refuses_what_is_no_report(key, value):
    assert problems({**encoded(report(passed())), key: value}, SCHEMA)


def test_the_schema_refuses_a_report_without_its_kata():
    whole = encoded(report(passed()))
    del whole["kata"]
    assert problems(whole, SCHEMA) == ["$: no kata"]
