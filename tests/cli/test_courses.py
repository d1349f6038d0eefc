import os
import shlex
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tritonkata.courses import CourseError, UnknownKata, load_course

Run = Callable[..., "subprocess.CompletedProcess[str]"]


def test_the_built_in_course_has_all_its_files() -> None:
    course = load_course()
    assert {"safe_softmax", "masked_softmax"} <= set(course.slugs)
    for kata in course.katas:
        assert kata.file.entry_points
        assert kata.file.hints
        assert kata.hidden.is_dir()
        assert kata.mistakes.is_file()


def test_an_unknown_kata_suggests_the_nearest(course_root: Path) -> None:
    course = load_course(course_root)
    with pytest.raises(UnknownKata, match="did you mean 'first_one'"):
        course.kata("frist-one")
    with pytest.raises(UnknownKata, match="first_one, second_one"):
        course.kata("zzz")


def remove_course(root: Path) -> None:
    (root / "katas" / "course.toml").unlink()


def break_toml(root: Path) -> None:
    (root / "katas" / "course.toml").write_text("katas = [")


def other_version(root: Path) -> None:
    path = root / "katas" / "course.toml"
    path.write_text(path.read_text().replace("format_version = 1", "format_version = 9"))


def escape(root: Path) -> None:
    path = root / "katas" / "course.toml"
    path.write_text(path.read_text().replace("first_one", "../first_one"))


def twice(root: Path) -> None:
    path = root / "katas" / "course.toml"
    path.write_text(path.read_text().replace("second_one", "first_one"))


def wrong_type(root: Path) -> None:
    path = root / "katas" / "first_one" / "kata.toml"
    path.write_text(path.read_text().replace("par = 2.0", 'par = "two"'))


def misspelt_key(root: Path) -> None:
    path = root / "katas" / "first_one" / "kata.toml"
    path.write_text(path.read_text().replace("summary", "sumary"))


def stray_prerequisite(root: Path) -> None:
    path = root / "katas" / "first_one" / "kata.toml"
    path.write_text('prerequisites = ["zeroth"]\n' + path.read_text())


def no_skeleton(root: Path) -> None:
    (root / "skeletons" / "first_one.py").unlink()


def not_utf8(root: Path) -> None:
    (root / "katas" / "first_one" / "kata.toml").write_bytes(b'title = "\xff"')


COURSE_DAMAGE = [
    (remove_course, ("course.toml", "missing")),
    (break_toml, ("course.toml", "not TOML")),
    (other_version, ("course.toml", "format_version", "9")),
    (escape, ("course.toml", "katas[0]", "../first_one")),
    (twice, ("course.toml", "katas[1]", "twice")),
]
KATA_DAMAGE = [
    (wrong_type, ("first_one/kata.toml", "traffic.par", "float")),
    (misspelt_key, ("first_one/kata.toml", "sumary")),
    (stray_prerequisite, ("first_one/kata.toml", "prerequisites", "zeroth")),
    (no_skeleton, ("skeletons/first_one.py", "missing")),
    (not_utf8, ("first_one/kata.toml", "UTF-8")),
]


def one_line_with(message: str, words: tuple[str, ...]) -> None:
    assert "\n" not in message
    for word in words:
        assert word in message


@pytest.mark.parametrize(("damage", "words"), COURSE_DAMAGE)
def test_a_damaged_course_is_one_line_with_file_and_key(
    course_root: Path, damage: Callable[[Path], None], words: tuple[str, ...]
) -> None:
    damage(course_root)
    with pytest.raises(CourseError) as caught:
        load_course(course_root)
    one_line_with(str(caught.value), words)


@pytest.mark.parametrize(("damage", "words"), KATA_DAMAGE)
def test_a_damaged_kata_is_one_line_with_file_and_key_and_costs_itself_alone(
    course_root: Path, damage: Callable[[Path], None], words: tuple[str, ...]
) -> None:
    damage(course_root)
    course = load_course(course_root)
    assert course.slugs == ("second_one",)
    one_line_with(course.broken["first_one"], words)
    assert course.kata("second_one").file.title
    with pytest.raises(CourseError) as caught:
        course.kata("first_one")
    one_line_with(str(caught.value), words)


@pytest.mark.parametrize(("damage", "words"), KATA_DAMAGE)
def test_commands_refuse_a_damaged_kata_and_serve_the_others(
    course_root: Path, kata: Run, damage: Callable[[Path], None], words: tuple[str, ...]
) -> None:
    damage(course_root)
    refused = kata("--course", str(course_root), "start", "first_one")
    assert refused.returncode == 2
    one_line_with(refused.stderr.strip(), words)
    assert kata("--course", str(course_root), "start", "second_one").returncode == 0
    listed = kata("--course", str(course_root), "list")
    assert listed.returncode == 0
    assert "broken" in listed.stdout
    assert "second_one" in listed.stdout


def test_a_course_that_is_nowhere_is_named(kata: Run) -> None:
    done = kata("--course", "no_such_course", "list")
    assert done.returncode == 2
    one_line_with(done.stderr.strip(), ("no_such_course", "folder", "installed"))


def test_an_installed_package_gives_its_course_a_name(course_root: Path, kata: Run, tmp_path: Path) -> None:
    site = tmp_path / "site"
    shutil.copytree(course_root, site / "their_course")
    (site / "their_course" / "__init__.py").touch()
    info = site / "their_course-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: their-course\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[tritonkata.courses]\ntheirs = their_course\n")
    path = f"{site}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    done = kata("--course", "theirs", "list", env={"PYTHONPATH": path})
    assert done.returncode == 0, done.stderr
    assert "first_one" in done.stdout
    assert "installed courses: theirs" in kata("--course", "others", "list", env={"PYTHONPATH": path}).stderr


def test_the_next_command_that_is_told_names_the_course(kata: Run, course_root: Path, tmp_path: Path) -> None:
    """Typed as it stands, it works; whoever has the course in the environment need not name it."""
    folder = tmp_path / "a learner's"
    folder.mkdir()
    course = ("--course", str(course_root))
    for variables, words in ((None, course), ({"KATA_COURSE": str(course_root)}, ())):
        listed = kata(*words, "list", cwd=folder, env=variables)
        begin = shlex.split(listed.stdout.partition("Begin with: ")[2])
        assert begin == ["kata", *words, "start", "first_one"]
        began = kata(*begin[1:], cwd=folder, env=variables)
        told = shlex.split(began.stdout.partition("then run: ")[2])
        assert told == ["kata", *words, "check"]
        (folder / "first_one.py").unlink()
        missing = kata(*told[1:], cwd=folder, env=variables)
        assert missing.returncode == 2
        assert f"`kata {' '.join([*words, 'start'])} SLUG`" in missing.stderr
        for path in [*folder.iterdir()]:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
