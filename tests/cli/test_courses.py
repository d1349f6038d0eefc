from collections.abc import Callable
from pathlib import Path

import pytest

from tritonkata.courses import CourseError, UnknownKata, load_course


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


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (remove_course, ("course.toml", "missing")),
        (break_toml, ("course.toml", "not TOML")),
        (other_version, ("course.toml", "format_version", "9")),
        (escape, ("course.toml", "katas[0]", "../first_one")),
        (twice, ("course.toml", "katas[1]", "twice")),
        (wrong_type, ("first_one/kata.toml", "traffic.par", "float")),
        (misspelt_key, ("first_one/kata.toml", "sumary")),
        (stray_prerequisite, ("first_one/kata.toml", "prerequisites", "zeroth")),
        (no_skeleton, ("skeletons/first_one.py", "missing")),
        (not_utf8, ("first_one/kata.toml", "UTF-8")),
    ],
)
def test_a_damaged_course_is_one_line_with_file_and_key(
    course_root: Path, damage: Callable[[Path], None], words: tuple[str, ...]
) -> None:
    damage(course_root)
    with pytest.raises(CourseError) as caught:
        load_course(course_root)
    message = str(caught.value)
    assert "\n" not in message
    for word in words:
        assert word in message
