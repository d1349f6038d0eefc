"""What platforms run, run as they would run it, in temporary folders laid out as documented."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tritonkata import __version__
from tritonkata.courses import load_course
from tritonkata.exports.words import ExportProblem
from tritonkata.exports.wrappers.checking import find_file
from tritonkata.exports.wrappers.classroom50 import package_classroom50
from tritonkata.exports.wrappers.github import workflow
from tritonkata.exports.wrappers.gradescope import package_gradescope

COURSE = Path(__file__).parents[1] / "course"
WRONG = COURSE / "katas" / "doubled" / "wrong" / "tripled" / "times_three.py"
NOT_PYTHON = "def doubled(x)\n    return x\n"
METADATA = {
    "id": 123456,
    "created_at": "2018-07-01T14:22:32.365935-07:00",
    "users": [{"email": "ada@example.org", "id": 1, "name": "Ada"}, {"email": "bob@example.org", "id": 2, "name": "B"}],
    "previous_submissions": [{"submission_time": "2017-04-06T14:24:48.087023-07:00", "score": 0.0}],
}
PLACE = {
    "CLASSROOM": "cs",
    "ASSIGNMENT": "doubled",
    "SUBMISSION_TAG": "submit/2025-03-01T10-00-00Z-abc1234",
    "COMMIT_URL": "https://github.com/x/y/commit/abc",
    "RELEASE_URL": "https://github.com/x/y/releases/tag/abc",
    "OWNER": "ada",
}


def doubled():
    return load_course(COURSE).kata("doubled")


def environment(**changes: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("KATA_", "GITHUB_"))}
    return {**kept, "KATA_PYTHON": sys.executable, **changes}


def unpacked(archive: Path, folder: Path) -> None:
    """As a platform does it: with the modes that the zip has."""
    with zipfile.ZipFile(archive) as found:
        for info in found.infolist():
            path = Path(found.extract(info, folder))
            path.chmod((info.external_attr >> 16) & 0o777)


def autograder(folder: Path, submission: dict[str, str | bytes], metadata: object = METADATA) -> Path:
    """/autograder, as Gradescope lays it out before a run."""
    root = folder / "autograder"
    for name in ("source", "submission", "results"):
        (root / name).mkdir(parents=True)
    package_gradescope(doubled(), folder / "autograder.zip")
    unpacked(folder / "autograder.zip", root / "source")
    shutil.copy(root / "source" / "run_autograder", root)
    for name, content in submission.items():
        (root / "submission" / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    if metadata is not None:
        (root / "submission_metadata.json").write_text(json.dumps(metadata))
    return root


def run_autograder(root: Path, **changes: str) -> tuple[dict[str, object], subprocess.CompletedProcess[str]]:
    ended = subprocess.run(
        [str(root / "run_autograder")],
        cwd=root,
        env=environment(KATA_AUTOGRADER=str(root), **changes),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    return json.loads((root / "results" / "results.json").read_text()), ended


def test_the_zip_has_the_scripts_at_its_root_and_the_course(tmp_path):
    names = package_gradescope(doubled(), tmp_path / "a.zip")
    with zipfile.ZipFile(tmp_path / "a.zip") as found:
        assert tuple(found.namelist()) == names
        for name in ("setup.sh", "run_autograder"):
            mode = found.getinfo(name).external_attr >> 16
            assert stat.S_ISREG(mode)
            assert mode & 0o111 == 0o111
            assert found.read(name).startswith(b"#!")
        assert found.read("requirements.txt").decode().strip() == f"tritonkata=={__version__}"
        assert json.loads(found.read("kata.json"))["kata"] == "doubled"
        assert found.testzip() is None
    assert "course/katas/doubled/hidden/test_doubled.py" in names
    assert not any("__pycache__" in name for name in names)


def test_the_built_in_course_is_not_packed_and_the_same_input_gives_the_same_zip(tmp_path):
    kata = load_course().kata("safe_softmax")
    for name in ("a.zip", "b.zip"):
        packed = package_gradescope(kata, tmp_path / name)
    assert set(packed) == {"setup.sh", "run_autograder", "kata.json", "requirements.txt"}
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()


def test_a_wheel_is_brought_along_and_anything_else_refused(tmp_path):
    wheel = tmp_path / "tritonkata-9.9-py3-none-any.whl"
    wheel.write_bytes(b"no zip")
    with pytest.raises(ExportProblem, match="is no wheel"):
        package_gradescope(doubled(), tmp_path / "a.zip", wheel=wheel)
    with zipfile.ZipFile(wheel, "w") as made:
        made.writestr("x", "y")
    names = package_gradescope(doubled(), tmp_path / "a.zip", wheel=wheel)
    assert wheel.name in names
    with zipfile.ZipFile(tmp_path / "a.zip") as found:
        assert found.read("requirements.txt").decode() == f"./{wheel.name}\n"
    assert wheel.name in package_classroom50(doubled(), tmp_path / "c", wheel=wheel)


def test_one_more_package_index_can_be_named(tmp_path):
    package_gradescope(doubled(), tmp_path / "a.zip", extra_index="https://example.org/cpu")
    with zipfile.ZipFile(tmp_path / "a.zip") as found:
        lines = found.read("requirements.txt").decode().splitlines()
    assert lines == ["--extra-index-url https://example.org/cpu", f"tritonkata=={__version__}"]
    with pytest.raises(ExportProblem, match="no address of a package index"):
        package_gradescope(doubled(), tmp_path / "b.zip", extra_index="https://example.org/\nevil")


def test_gradescope_gets_a_real_check(tmp_path):
    root = autograder(tmp_path, {"doubled.py": WRONG.read_bytes(), "notes.py": "x = 1\n"})
    result, ended = run_autograder(root)
    assert ended.returncode == 0, ended.stderr
    assert result["extra_data"]["verdict"] == "fail"
    assert result["extra_data"]["diagnosis"] == "tripled"
    assert result["extra_data"]["submitted_at"] == "2018-07-01T21:22:32+00:00"
    assert result["extra_data"]["attempt"] == 2
    assert 0 < result["score"] < result["extra_data"]["max_score"]
    wrong = next(test for test in result["tests"] if test["extra_data"]["diagnosis"] == "tripled")
    assert "multiply by 2" in wrong["output"]


def test_a_file_that_is_no_python_is_the_students_zero_and_nothing_beside_it_is_imported(tmp_path):
    trap = "raise SystemExit('imported')\n"
    files = {"doubled.py": NOT_PYTHON, "json.py": trap, "tritonkata.py": trap}
    result, ended = run_autograder(autograder(tmp_path, files, metadata=None))
    assert "imported" not in ended.stderr
    assert result["extra_data"]["verdict"] == "error"
    assert result["score"] == 0
    assert "SyntaxError" in result["output"]


def test_a_check_that_cannot_run_is_no_score_and_no_stale_result(tmp_path):
    root = autograder(tmp_path, {"doubled.py": NOT_PYTHON})
    (root / "results" / "results.json").write_text('{"score": 100}')
    shutil.rmtree(root / "source" / "course")
    result, _ = run_autograder(root)
    assert "score" not in result
    assert "no fault of the submission" in result["output"]
    assert "course.toml" in result["output"]


def test_nothing_handed_in_scores_nothing_and_is_said(tmp_path):
    result, _ = run_autograder(autograder(tmp_path, {}))
    assert result["score"] == 0
    assert "doubled.py: cannot be read: there is no such file" in result["output"]


def test_even_a_grader_that_does_not_start_leaves_a_result(tmp_path):
    root = autograder(tmp_path, {"doubled.py": NOT_PYTHON})
    result, ended = run_autograder(root, KATA_PYTHON=str(tmp_path / "missing"))
    assert ended.returncode == 0
    assert "score" not in result
    assert all("score" not in test for test in result["tests"])
    assert "no fault of the submission" in result["output"]


@pytest.mark.parametrize(
    ("names", "chosen"),
    [
        (["doubled.py", "a.py"], "doubled.py"),
        (["a.py"], "a.py"),
        (["a.py", "b.py"], "doubled.py"),
        ([], "doubled.py"),
        (["-x.py"], "-x.py"),
    ],
)
def test_the_file_named_after_the_kata_goes_first_then_the_only_one(tmp_path, names, chosen):
    for name in names:
        (tmp_path / name).write_text("")
    assert find_file(tmp_path, "doubled").name == chosen


def fake_tools(folder: Path, log: Path, *, pip_fails: bool = False) -> Path:
    """An `apt-get` and a `python3` that write down how they were called."""
    folder.mkdir()
    python = f"""#!/bin/sh
echo "python $*" >>{log}
case "$*" in
  *"-m venv"*) for last; do :; done; mkdir -p "$last/bin"; cp "$0" "$last/bin/python" ;;
  *"-m pip"*) exit {int(pip_fails)} ;;
esac
"""
    for name, text in (("apt-get", f'#!/bin/sh\necho "apt-get $*" >>{log}\n'), ("python-of-test", python)):
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    return folder


def run_setup(tmp_path: Path, **options: bool) -> tuple[int, list[str]]:
    root, log = autograder(tmp_path, {}), tmp_path / "log"
    tools = fake_tools(tmp_path / "tools", log, **options)
    variables = environment(
        KATA_AUTOGRADER=str(root), KATA_PYTHON="python-of-test", PATH=f"{tools}:{os.environ['PATH']}"
    )
    ended = subprocess.run(
        [str(root / "source" / "setup.sh")], env=variables, capture_output=True, timeout=60, check=False
    )
    return ended.returncode, log.read_text().splitlines()


def test_setup_installs_the_sandbox_and_the_grader(tmp_path):
    code, calls = run_setup(tmp_path)
    assert code == 0
    assert any(call.startswith("apt-get install") and "bubblewrap" in call for call in calls)
    assert any("-m pip install" in call and call.endswith("-r requirements.txt") for call in calls)
    assert calls[-1] == "python -m tritonkata --version"


def test_setup_fails_where_the_grader_cannot_be_installed(tmp_path):
    code, calls = run_setup(tmp_path, pip_fails=True)
    assert code != 0
    assert "--version" not in calls[-1]


def classroom50_checkout(tmp_path: Path) -> Path:
    """A bundle beside a checkout in which a result was committed, and a module that must not be imported."""
    package_classroom50(doubled(), tmp_path / "bundle")
    checkout = tmp_path / "checkout"
    checkout.mkdir()
    (checkout / "doubled.py").write_text(NOT_PYTHON)
    (checkout / "result.json").write_text('{"score": 100}')
    (checkout / "json.py").write_text("raise SystemExit('imported')\n")
    return checkout


def run_classroom50(checkout: Path) -> subprocess.CompletedProcess[str]:
    bundle, output = checkout.parent / "bundle", checkout.parent / "output"
    return subprocess.run(
        [sys.executable, str(bundle / "autograder.py")],
        cwd=checkout,
        env=environment(**PLACE, CLASSROOM50_BUNDLE_DIR=str(bundle), GITHUB_OUTPUT=str(output)),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_classroom50_gets_a_result_a_page_and_an_honest_summary(tmp_path):
    checkout = classroom50_checkout(tmp_path)
    ended = run_classroom50(checkout)
    assert ended.returncode == 0, ended.stderr
    result = json.loads((checkout / "result.json").read_text())
    assert result["schema"] == "classroom50/result/v1"
    assert (result["classroom"], result["owner"], result["score"]) == ("cs", "ada", 0)
    assert "SyntaxError" in (checkout / "release-body.md").read_text()
    assert (tmp_path / "output").read_text() == "status=failure\nsummary=Score 0. Nothing could be graded.\n"


def test_classroom50_learns_of_a_fault_by_the_exit_code_and_finds_no_result(tmp_path):
    checkout = classroom50_checkout(tmp_path)
    shutil.rmtree(tmp_path / "bundle" / "course")
    ended = run_classroom50(checkout)
    assert ended.returncode == 1
    assert "::error::" in ended.stderr
    assert not (checkout / "result.json").exists()


def test_a_workflow_grades_a_repository(tmp_path):
    checkout = tmp_path / "checkout"
    checkout.mkdir()
    (checkout / "safe_softmax.py").write_text("def safe_softmax(x)\n")
    (checkout / "json.py").write_text("raise SystemExit('imported')\n")
    text = workflow(load_course().kata("safe_softmax"))
    assert 'KATA_SLUG: "safe_softmax"' in text
    assert f"'tritonkata=={__version__}'" in text
    assert "@" not in text.replace("@v4", "").replace("@v5", "")
    # The step that grades, as it stands in the file.
    (command,) = [line.strip() for line in text.splitlines() if "wrappers.github" in line]
    ended = subprocess.run(
        ["bash", "-euc", command.replace('"$RUNNER_TEMP/venv/bin/python"', '"$KATA_PYTHON"')],
        cwd=checkout,
        env=environment(
            KATA_SLUG="safe_softmax",
            KATA_ENGINE="interpreter",
            KATA_OUT=str(tmp_path / "out"),
            GITHUB_ACTOR="ada",
            GITHUB_STEP_SUMMARY=str(tmp_path / "summary.md"),
        ),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ended.returncode == 1, ended.stderr
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "feedback.md",
        "feedback.html",
        "record.jsonl",
        "junit.xml",
    }
    assert json.loads((tmp_path / "out" / "record.jsonl").read_text())["student"] == "ada"
    assert "SyntaxError" in (tmp_path / "summary.md").read_text()


def test_a_workflow_is_refused_for_a_course_that_the_runner_would_not_have():
    with pytest.raises(ExportProblem, match="built-in course"):
        workflow(doubled())
    with pytest.raises(ExportProblem, match="cannot stand in a workflow"):
        workflow(load_course().kata("safe_softmax"), requirement="x'; rm -rf /tmp/x")
