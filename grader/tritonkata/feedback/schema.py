"""The JSON schema of a report, generated from its types: `python -m tritonkata.feedback.schema`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec

from tritonkata.model.report import FORMAT_VERSION, Report

SHIPPED = Path(__file__).parents[1] / "report.schema.json"


def report_schema() -> dict[str, Any]:
    """JSON Schema (draft 2020-12) of what `kata check --json` prints."""
    schema = msgspec.json.schema(Report)
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": f"tritonkata report {FORMAT_VERSION}"}
    return {**head, **schema}


def as_text() -> str:
    """The schema as it is shipped, keys sorted so that a change shows as one."""
    return json.dumps(report_schema(), indent=2, sort_keys=True) + "\n"


if __name__ == "__main__":
    print(as_text(), end="")
