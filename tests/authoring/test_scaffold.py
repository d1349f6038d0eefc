"""`kata new`: where it writes, what it refuses, and that its kata passes the gate once its marks are gone."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import tomllib
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from tritonkata.authoring.files import course_problems
from tritonkata.authoring.gate import Plan, verify
from tritonkata.authoring.problems import problems_of
from tritonkata.authoring.scaffold import ScaffoldError, refuse_odd_slug, scaffold, with_kata
from tritonkata.courses import load_course
from tritonkata.model.course import KataFile

Run = Callable[..., "subprocess.CompletedProcess[str]"]
MARK = "TODO(author)"
HEAD = 'format_version = 1\ntitle = "C"\n'


def files_below(root: Path) -> dict[str, bytes]:
    """Those that were written there; what Python keeps of an import is none of them."""
    files = [path for path in root.rglob("*") if path.is_file() and path.parent.name != "__pycache__"]
    return {str(path.relative_to(root)): path.read_bytes() for path in files}


@pytest.mark.slow
def test_a_new_course_fails_with_one_line_a_file_and_passes_once_the_marks_are_gone(tmp_path: Path) -> None:
    root = tmp_path / "new" / "course"
    written = scaffold(root, "row_shift", 'The "row" shift')
    kata = load_course(root).kata("row_shift")
    marked = [path for path in written if MARK in path.read_text()]
    assert set(marked) == set(written)
    problems = [*problems_of(kata), *course_problems(load_course(root))]
    assert sorted(line.partition(": line ")[0] for line in problems) == sorted(map(str, written))
    for path in written:
        path.write_text(path.read_text().replace(MARK, "Done"))
    found = verify(load_course(root), ("row_shift",), Plan(jobs=2))
    assert found.problems == ()
    assert found.katas[0].problems == ()
    assert found.katas[0].failures == ()
    assert found.passes
    assert found.katas[0].title == 'The "row" shift'
    assert len(found.katas[0].checks) >= 6


def test_a_kata_is_added_to_a_course_and_nothing_else_changes(course_root: Path) -> None:
    before = files_below(course_root)
    written = scaffold(course_root, "row_shift", "Row shift")
    after = files_below(course_root)
    new = {str(path.relative_to(course_root)) for path in written} - {"katas/course.toml"}
    assert set(after) - set(before) == new
    assert {name for name in before if before[name] != after[name]} == {"katas/course.toml"}
    assert load_course(course_root).slugs == ("doubled", "row_shift")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('katas = ["a"]\n', 'katas = ["a", "b"]\n'),
        ("katas = []\n", 'katas = ["b"]\n'),
        ('katas = ["a",]\n', 'katas = ["a", "b"]\n'),
        ('katas = ["a" ] # ] all\n', 'katas = ["a", "b" ] # ] all\n'),
        ("katas = [\n    'a',\n]\n", "katas = [\n    'a',\n    \"b\",\n]\n"),
        ('katas = [\n  "a"\n]\n', 'katas = [\n  "a",\n  "b"\n]\n'),
        ('katas = [\n  "a", # the "first"]\n]\n', 'katas = [\n  "a", # the "first"]\n  "b",\n]\n'),
        ('katas = [\n  "a" # the "first"]\n]\n', 'katas = [\n  "a", # the "first"]\n  "b"\n]\n'),
        ("katas = [\n]\n", 'katas = [\n    "b",\n]\n'),
        ('katas = ["a",\n  "c"]\n', 'katas = ["a",\n  "c", "b"]\n'),
        ('katas = ["a"] # größer\r\n', 'katas = ["a", "b"] # größer\r\n'),
        ('katas = [\r\n  "a",\r\n]\r\n', 'katas = [\r\n  "a",\r\n  "b",\r\n]\r\n'),
    ],
)
def test_the_list_of_katas_keeps_its_layout(tmp_path: Path, old: str, new: str) -> None:
    toml = tmp_path / "course.toml"
    head = '# [one] "two"\n' + HEAD.replace('"C"', '"C [x] ]"')
    toml.write_bytes((head + old).encode())
    assert with_kata(toml, "b").decode() == head + new


def test_a_list_before_the_other_keys_is_found(tmp_path: Path) -> None:
    toml = tmp_path / "course.toml"
    toml.write_text('katas = ["a"]\n' + HEAD)
    assert with_kata(toml, "b").decode() == 'katas = ["a", "b"]\n' + HEAD


def test_a_kata_that_is_listed_already_is_refused(tmp_path: Path) -> None:
    (tmp_path / "katas").mkdir()
    (tmp_path / "katas" / "course.toml").write_text(HEAD + 'katas = ["b"]\n')
    with pytest.raises(ScaffoldError, match="has 'b' already"):
        scaffold(tmp_path, "b", "B")
    assert set(files_below(tmp_path)) == {"katas/course.toml"}


@pytest.mark.parametrize("slug", ["Row", "row-shift", "1row", "", "../row", "a" * 65, "class", "match", "torch", "tl"])
def test_a_slug_that_cannot_be_a_function_is_refused(slug: str) -> None:
    with pytest.raises(ScaffoldError, match="name"):
        refuse_odd_slug(slug)


@pytest.mark.parametrize("place", ["katas/row_shift/x", "skeletons/row_shift.py", "reference/row_shift/x"])
def test_nothing_is_overwritten(course_root: Path, place: str) -> None:
    (course_root / place).parent.mkdir(exist_ok=True)
    (course_root / place).write_text("mine")
    before = files_below(course_root)
    with pytest.raises(ScaffoldError, match="is there already"):
        scaffold(course_root, "row_shift", "Row shift")
    assert files_below(course_root) == before


def test_what_cannot_be_written_whole_is_taken_back(course_root: Path) -> None:
    shutil.rmtree(course_root / "skeletons")
    (course_root / "skeletons").write_text("no folder")
    before = files_below(course_root)
    folders = {path for path in course_root.rglob("*") if path.is_dir()}
    with pytest.raises(ScaffoldError, match=r"skeletons.*cannot be made"):
        scaffold(course_root, "row_shift", "Row shift")
    assert files_below(course_root) == before
    assert {path for path in course_root.rglob("*") if path.is_dir()} == folders


def test_the_files_have_one_format(tmp_path: Path) -> None:
    ruff = shutil.which("ruff") or pytest.skip("ruff is not here")
    scaffold(tmp_path, "row_shift", "Row shift")
    config = Path(__file__).resolve().parents[2] / "pyproject.toml"
    done = subprocess.run(
        [ruff, "format", "--no-cache", "--check", "--config", str(config), str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


def test_the_command_begins_a_course_and_says_how_to_go_on(run: Run, tmp_path: Path) -> None:
    root = tmp_path / "a new" / "course"
    done = run("--course", str(root), "new", "row_shift", "--title", 'A "B" \\ C')
    assert done.returncode == 0, done.stderr
    file = msgspec.convert(tomllib.loads((root / "katas" / "row_shift" / "kata.toml").read_text()), KataFile)
    assert file.title == 'A "B" \\ C'
    assert (root / "katas" / "row_shift" / "brief.md").read_text().startswith('# A "B" \\ C\n')
    assert str(root / "skeletons" / "row_shift.py") in done.stdout
    assert f"kata --course {shlex.quote(str(root))} verify row_shift" in done.stdout
    again = run("--course", str(root), "new", "other_one")
    assert again.returncode == 0, again.stderr
    assert load_course(root).kata("other_one").file.title == "Other one"
    verified = run("--course", str(root), "verify")
    assert verified.returncode == 2
    assert verified.stdout.count(f"{MARK}: ") == len(files_below(root))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("new", "doubled"), ("doubled", "is there already")),
        (("new", "Doubled"), ("'Doubled'", "lower-case")),
        (("new", "lambda"), ("'lambda'", "another name")),
        (("new", "fine", "--title", "two\nlines"), ("--title", "one line")),
        (("new", "fine", "--title", " "), ("--title",)),
    ],
)
def test_what_the_command_refuses_is_one_line(
    run: Run, course_root: Path, arguments: tuple[str, ...], words: tuple[str, ...]
) -> None:
    before = files_below(course_root)
    done = run("--course", str(course_root), *arguments)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    for word in words:
        assert word in done.stderr
    assert files_below(course_root) == before


def test_a_damaged_course_is_not_added_to(run: Run, course_root: Path) -> None:
    (course_root / "katas" / "course.toml").write_text("katas = [")
    done = run("--course", str(course_root), "new", "row_shift")
    assert done.returncode == 2
    assert "course.toml: is not TOML" in done.stderr
    assert not (course_root / "katas" / "row_shift").exists()


def test_a_course_in_an_installed_package_is_not_added_to(run: Run, course_root: Path, tmp_path: Path) -> None:
    site = tmp_path / "site-packages"
    shutil.move(course_root, site / "their_course")
    done = run("--course", str(site / "their_course"), "new", "row_shift")
    assert done.returncode == 2
    assert "installed package" in done.stderr
    assert "--course DIR new" in done.stderr
    assert load_course(site / "their_course").slugs == ("doubled",)


def test_a_wheel_s_built_in_course_is_not_added_to(run: Run, course_root: Path, tmp_path: Path) -> None:
    package = Path(__file__).resolve().parents[2] / "grader" / "tritonkata"
    site = tmp_path / "lib" / "site-packages"
    shutil.copytree(package, site / "tritonkata", ignore=shutil.ignore_patterns("__pycache__"))
    for folder in ("katas", "skeletons", "reference"):
        shutil.copytree(course_root / folder, site / "tritonkata" / folder)
    assert run("list", env={"PYTHONPATH": str(site)}).stdout.startswith("A course of one small kata")
    done = run("new", "row_shift", env={"PYTHONPATH": str(site)})
    assert done.returncode == 2
    assert "installed package" in done.stderr
