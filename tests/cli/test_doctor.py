import json
from typing import Any

import pytest

from tritonkata.doctor.findings import (
    combination_finding,
    cupti_finding,
    forks_finding,
    gpu_finding,
    library_finding,
    profiling_finding,
    release,
)


@pytest.mark.parametrize(
    ("triton", "numpy", "status"),
    [
        ("3.6.0", "2.3.5", "ok"),
        ("3.6.0", "2.4.0", "warn"),
        ("3.6.1", "3.0.0", "warn"),
        ("3.7.0", "2.4.6", "ok"),
        ("3.9.0", "2.4.6", "ok"),
        ("", "2.4.6", "absent"),
    ],
)
def test_the_pair_that_breaks_the_interpreter_is_named(triton: str, numpy: str, status: str) -> None:
    finding = combination_finding(triton, numpy)
    assert finding.status == status
    assert bool(finding.fix) == (status == "warn")


@pytest.mark.parametrize(
    ("version", "number"),
    [
        ("2.13.0+cpu", (2, 13)),
        ("3.10.0rc1", (3, 10)),
        ("2.11.0.dev1", (2, 11)),
        ("3.9rc1", (3, 91)),
        ("unknown", (0, 0)),
    ],
)
def test_versions_are_compared_as_numbers(version: str, number: tuple[int, int]) -> None:
    assert release(version)[0] == number[0]
    assert (release(version) >= (2, 6)) == (number >= (2, 6))


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        ({"version": "3.5.1"}, "fail"),
        ({"version": "3.6.0"}, "ok"),
        ({"version": "3.10.0"}, "fail"),
        ({"error": "ModuleNotFoundError: No module named 'triton'"}, "fail"),
    ],
)
def test_an_unsupported_library_comes_with_the_command_that_mends_it(answer: dict[str, str], status: str) -> None:
    finding = library_finding("triton", answer, (3, 6), (3, 10))
    assert finding.status == status
    assert finding.fix == ('python -m pip install "triton>=3.6,<3.10"' if status == "fail" else "")


@pytest.mark.parametrize(
    ("parameters", "privileged", "status"),
    [
        (None, False, "absent"),
        ("A: 1\nRmProfilingAdminOnly: 0\n", False, "ok"),
        ("RmProfilingAdminOnly: 1\n", True, "ok"),
        ("RmProfilingAdminOnly: 1\nB: 0\n", False, "warn"),
        ("B: 0\n", False, "warn"),
    ],
)
def test_the_permission_to_read_counters(parameters: str | None, privileged: bool, status: str) -> None:
    finding = profiling_finding(parameters, privileged=privileged)
    assert finding.status == status
    assert ("NVreg_RestrictProfilingToAdminUsers=0" in finding.fix) == (status == "warn")


def test_a_card_is_described_and_a_missing_one_is_no_failure() -> None:
    device = {"name": "NVIDIA H200", "capability": [9, 0], "memory_bytes": 150 * 2**30}
    finding = gpu_finding({"driver": "13.0", "bindings": "13.0.1", "devices": [device]})
    assert finding.status == "ok"
    assert "NVIDIA H200 (sm_90, 150 GiB)" in finding.detail
    assert gpu_finding({"error": "no driver"}).status == "absent"
    assert cupti_finding({"error": "not found"}, has_gpu=False).status == "absent"
    assert cupti_finding({"error": "not found"}, has_gpu=True).fix


def test_where_workers_cannot_be_forked_the_reason_is_told() -> None:
    assert forks_finding({}).status == "ok"
    found = forks_finding({"error": "unshare: Operation not permitted"})
    assert found.status == "warn"
    assert "Operation not permitted" in found.detail
    assert found.fix


def test_doctor_examines_this_machine(kata: Any) -> None:
    done = kata("doctor", "--json")
    health = json.loads(done.stdout)
    by_name = {finding["name"]: finding for finding in health["findings"]}
    assert {
        "python",
        "numpy",
        "torch",
        "triton",
        "triton with numpy",
        "sandbox",
        "forked workers",
        "gpu",
        "cupti",
    } <= set(by_name)
    assert (done.returncode == 0) == bool(health["engines"])
    # The tests need torch and triton themselves, so the interpreter must be found to work.
    assert "interpreter" in health["engines"]


def test_a_library_that_ends_the_probe_is_a_finding_and_no_crash(kata: Any, tmp_path: Any) -> None:
    (tmp_path / "triton.py").write_text("import os\nos._exit(7)\n")
    done = kata("doctor", "--json", env={"PYTHONPATH": str(tmp_path)})
    by_name = {finding["name"]: finding for finding in json.loads(done.stdout)["findings"]}
    assert by_name["triton"]["status"] == "fail"
    assert "ended with code 7" in by_name["triton"]["detail"]
    assert done.returncode == 1
