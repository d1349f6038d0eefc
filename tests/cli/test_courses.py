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


def in_kata(old: str, new: str) -> Callable[[Path], None]:
    """Change the first kata's file."""

    def damage(root: Path) -> None:
        path = root / "katas" / "first_one" / "kata.toml"
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new, 1))

    return damage


def key(line: str) -> Callable[[Path], None]:
    return in_kata('title = "One"', f'{line}\ntitle = "One"')


def limit(line: str) -> Callable[[Path], None]:
    return in_kata("par = 2.0", f"par = 2.0\n[limits]\n{line}")


def without_entry_points(root: Path) -> None:
    path = root / "katas" / "first_one" / "kata.toml"
    text = path.read_text()
    begin, end = text.index("[[entry_points]]"), text.index("[traffic]")
    path.write_text("entry_points = []\n" + text[:begin] + text[end:])


def folder_for_a_file(root: Path) -> None:
    path = root / "katas" / "first_one" / "kata.toml"
    path.unlink()
    path.mkdir()


def remove_kata_toml(root: Path) -> None:
    (root / "katas" / "first_one" / "kata.toml").unlink()


def title_of_course(root: Path) -> None:
    path = root / "katas" / "course.toml"
    path.write_text(path.read_text().replace('"Tiny"', '""'))


COURSE_DAMAGE = [
    (title_of_course, ("course.toml", "title", "one line")),
    (remove_course, ("course.toml", "missing")),
    (break_toml, ("course.toml", "not TOML")),
    (other_version, ("course.toml", "format_version", "9")),
    (escape, ("course.toml", "katas[0]", "../first_one")),
    (twice, ("course.toml", "katas[1]", "twice")),
]
ODD_KEYS = [
    *(
        (key(f"dtypes = {value}"), ("dtypes", words))
        for value, words in (("[]", "is empty"), ('["float16", "float16"]', "twice"))
    ),
    *(
        (limit(f"{name}_seconds = {value}"), (f"limits.{name}_seconds", "seconds above 0"))
        for name, value in (
            ("load", "0"),
            ("compile", "-1"),
            ("case", "nan"),
            ("case", "inf"),
            ("case", "-inf"),
            ("load", "1e300"),
        )
    ),
    *(
        (in_kata(f"{name} = {old}", f"{name} = {value}"), (f"traffic.{name}", words))
        for name, old in (("budget", "4.0"), ("par", "2.0"))
        for value, words in (
            ("nan", "is nan"),
            ("inf", "is inf"),
            ("-1.0", "is -1"),
            ("0", "above 0"),
            ("1" + 400 * "0", ""),
        )
    ),
    (in_kata("par = 2.0", "par = 4.5"), ("traffic.par", "4.5", "budget")),
    (in_kata('unit = "x"', 'unit = "z"'), ("traffic.unit", "'z'")),
    *(
        (in_kata('name = "f"', f'name = "{name}"'), ("entry_points[0].name", repr(name)))
        for name in ("two words", "3d", "class", "", "f.g")
    ),
    (in_kata('["x"]', '["x y"]'), ("entry_points[0].parameters", "'x y'")),
    (in_kata('["x"]', '["x", "x"]'), ("entry_points[0].parameters", "'x'", "twice")),
    (in_kata('["x"]', "[]"), ("entry_points[0].parameters", "is empty")),
    (in_kata('["y"]', "[]"), ("entry_points[0].results", "is empty")),
    (in_kata('["y"]', '["y", "y"]'), ("entry_points[0].results", "'y'", "twice")),
    (without_entry_points, ("entry_points", "is empty")),
    *(
        (in_kata(f'{name} = "{old}"', f"{name} = {value}"), (name, "one line"))
        for name, old in (("title", "One"), ("summary", "The first."))
        for value in ('""', '" "', r'"two\nlines"')
    ),
    (key('prerequisites = ["first_one"]'), ("prerequisites", "first_one needs first_one", "take one out")),
    (key('prerequisites = ["second_one", "second_one"]'), ("prerequisites", "'second_one'", "twice")),
    (in_kata('"One"', '"O\0ne"'), ("not TOML", "line 2, column 11")),
    (key("title = " + 5000 * "["), ("not TOML", "correct it")),
    (key("title = " + 5000 * "1"), ("not TOML", "correct it")),
    (folder_for_a_file, ("directory", "that you can read")),
    (remove_kata_toml, ("is missing; write it, or take 'first_one' out of",)),
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


@pytest.mark.parametrize(("damage", "words"), ODD_KEYS)
def test_a_key_that_cannot_be_meant_is_one_line_with_file_and_key_and_costs_its_kata_alone(
    course_root: Path, damage: Callable[[Path], None], words: tuple[str, ...]
) -> None:
    damage(course_root)
    course = load_course(course_root)
    assert course.slugs == ("second_one",)
    told = course.broken["first_one"]
    one_line_with(told, words)
    assert told.startswith(f"{course_root}/katas/first_one/kata.toml: ")
    assert "--course" not in told


@pytest.mark.parametrize("length", [2, 3])
def test_prerequisites_in_a_circle_cost_the_katas_of_the_circle_alone(course_root: Path, length: int) -> None:
    names = ["first_one", "second_one", "third_one"][:length]
    for slug in (*names[2:], "beside"):
        for part in ("katas", "reference"):
            shutil.copytree(course_root / part / "first_one", course_root / part / slug)
        shutil.copy(course_root / "skeletons" / "first_one.py", course_root / "skeletons" / f"{slug}.py")
    for slug, wanted in zip((*names, "beside"), (*names[1:], names[0], names[0]), strict=True):
        path = course_root / "katas" / slug / "kata.toml"
        path.write_text(f'prerequisites = ["{wanted}"]\n{path.read_text()}')
    path = course_root / "katas" / "course.toml"
    path.write_text(
        path.read_text().replace(
            '"second_one"', '"second_one", ' + ", ".join(f'"{one}"' for one in (*names[2:], "beside"))
        )
    )
    course = load_course(course_root)
    assert course.slugs == ("beside",)
    assert list(course.broken) == names
    one_line_with(course.broken["first_one"], ("prerequisites", " needs ".join([*names, "first_one"])))


@pytest.mark.parametrize(("damage", "words"), [*KATA_DAMAGE, ODD_KEYS[0], ODD_KEYS[4]])
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
