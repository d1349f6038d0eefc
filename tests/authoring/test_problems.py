"""Every problem of a kata's files is one line with the file and what to do."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tritonkata.authoring.files import course_problems
from tritonkata.authoring.problems import problems_of
from tritonkata.courses import load_course
from tritonkata.model.course import Kata

KATA = "katas/doubled"
TOML = f"{KATA}/kata.toml"
HIDDEN = f"{KATA}/hidden/test_doubled.py"
MISTAKES = f"{KATA}/mistakes.py"
TEMPLATE = f"{KATA}/feedback/tripled.md.j2"
ORACLE = "reference/doubled/oracle.py"
SKELETON = "skeletons/doubled.py"

NO_FIXTURE = ("there is no fixture 'orcale'", "it may take candidate, oracle, rng")

Damage = Callable[[Path], None]
KataOf = Callable[[], Kata]


def write(place: str, text: str) -> Damage:
    def damage(root: Path) -> None:
        (root / place).parent.mkdir(parents=True, exist_ok=True)
        (root / place).write_text(text)

    return damage


def add(place: str, text: str) -> Damage:
    return lambda root: (root / place).write_text((root / place).read_text() + text) and None


def change(place: str, old: str, new: str) -> Damage:
    def damage(root: Path) -> None:
        text = (root / place).read_text()
        assert old in text
        (root / place).write_text(text.replace(old, new))

    return damage


def remove(place: str) -> Damage:
    def damage(root: Path) -> None:
        path = root / place
        shutil.rmtree(path) if path.is_dir() else path.unlink()

    return damage


def link(place: str) -> Damage:
    return lambda root: (root / place).symlink_to("nowhere")


def not_utf8(place: str) -> Damage:
    return lambda root: (root / place).write_bytes(b"# \xff\n") and None


def test_the_second_course_is_in_order(course_root: Path, kata_of: KataOf) -> None:
    assert problems_of(kata_of()) == ()
    assert course_problems(load_course(course_root)) == ()


def test_caches_and_hidden_files_are_no_strays(course_root: Path, kata_of: KataOf) -> None:
    for folder in ("katas", KATA, f"{KATA}/hidden", f"{KATA}/wrong/tripled", "skeletons", "reference/doubled"):
        write(f"{folder}/__pycache__/x.pyc", "")(course_root)
        write(f"{folder}/.keep", "\xff")(course_root)
    assert problems_of(kata_of()) == ()
    assert course_problems(load_course(course_root)) == ()


@pytest.mark.parametrize(
    ("damage", "place", "words"),
    [
        (remove(f"{KATA}/hidden"), f"{KATA}/hidden", ("has no hidden test", "write test_doubled.py")),
        (remove(MISTAKES), MISTAKES, ("is missing", "write")),
        (not_utf8(f"{KATA}/brief.md"), f"{KATA}/brief.md", ("is not UTF-8", "byte 2")),
        (not_utf8(f"{KATA}/wrong/tripled/times_three.py"), "times_three.py", ("is not UTF-8",)),
        (write(MISTAKES, "def f(:\n"), MISTAKES, ("line 1", "is not Python", "correct it")),
        *(
            (add(place, "\nx = \0\n"), place, ("line ", "has a NUL byte", "save it as text"))
            for place in (SKELETON, ORACLE, MISTAKES, HIDDEN, TEMPLATE, f"{KATA}/brief.md")
        ),
        (write(SKELETON, "\n\nx = 1\0\n"), SKELETON, ("line 3: has a NUL byte",)),
        (write(SKELETON, "x = " + 5000 * "(" + 5000 * ")"), SKELETON, ("is not Python", "nested")),
        (write(f"{KATA}/notes.txt", ""), f"{KATA}/notes.txt", ("no part of a kata", "remove it")),
        (write("reference/doubled/other.py", ""), "reference/doubled/other.py", ("no part of a kata",)),
        (write(f"{KATA}/hidden/helpers.py", ""), f"{KATA}/hidden/helpers.py", ("no hidden test", "test_*.py")),
        (write(f"{KATA}/feedback/tripled.txt", ""), f"{KATA}/feedback/tripled.txt", ("no template", ".md.j2")),
        (write(f"{KATA}/wrong/loose.py", ""), f"{KATA}/wrong/loose.py", ("folder named after its diagnosis",)),
        (write(f"{KATA}/wrong/tripled/x.txt", ""), f"{KATA}/wrong/tripled/x.txt", ("no Python file", "remove")),
        (remove(f"{KATA}/wrong/tripled/times_three.py"), f"{KATA}/wrong/tripled", ("has no example", "add one")),
        (add(f"{KATA}/brief.md", "\nTODO(author): more\n"), f"{KATA}/brief.md", ("line 7", "TODO(author): more")),
        (add(TEMPLATE, "{# TODO(author) #}\n{# TODO(author) #}"), TEMPLATE, ("TODO(author) (and 1 more)",)),
        (change(TOML, '"Store 2 * x instead of x.",', ""), TOML, ("hints", "has 2", "wants 3")),
        (change(TOML, '"Store 2 * x instead of x."', '" "'), TOML, ("hints[2]", "is empty")),
        (change(SKELETON, "  # TODO 1: twice the value", ""), SKELETON, ("has no TODO 1", "brief")),
        (change(f"{KATA}/brief.md", "**TODO 1**", "It"), f"{KATA}/brief.md", ("does not name TODO 1",)),
        (add(SKELETON, "# TODO 2\n"), f"{KATA}/brief.md", ("does not name TODO 2",)),
        (add(f"{KATA}/brief.md", "\n**TODO 12** more\n"), SKELETON, ("has no TODO 12",)),
        (add("reference/doubled/solution.py", "# TODO 1\n"), "solution.py", ("still has a TODO",)),
        (add(HIDDEN, 2 * "\n\ndef rows():\n    pass\n"), HIDDEN, ("defines rows twice", "rename one")),
        (add(MISTAKES, "\n\ndef tripled(x):\n    'Again.'\n"), MISTAKES, ("defines tripled twice",)),
        (write(ORACLE, "import nothing_like_it\n"), ORACLE, ("cannot be imported", "nothing_like_it")),
        (change(ORACLE, "def doubled", "def twice"), ORACLE, ("does not define doubled", "float64")),
        (link(f"{KATA}/hidden/test_link.py"), "test_link.py", ("cannot be read", "take it out")),
        (change(HIDDEN, "points=", "points=-"), "test_doubled.py", ("points",)),
        (add(HIDDEN, "\n\ndef test_more():\n    pass\n"), "test_doubled.py::test_more", ("no @pytest.mark.check",)),
        (change(HIDDEN, "import pytest", "import pytest, nothing"), HIDDEN, ("cannot be imported", "'nothing'")),
        *(
            (change(HIDDEN, "import pytest", f"import pytest\n{line}"), HIDDEN, ("line 5: skips the whole", *words))
            for line, words in (
                ("pytest.skip('not here', allow_module_level=True)", ("(not here)", "take it out")),
                ("pytest.importorskip('no_such_module')", ("no_such_module", "take it out")),
            )
        ),
        (change(HIDDEN, "oracle, rng, dtype)", "orcale, rng, dtype)"), "::test_values[float32]", NO_FIXTURE),
        (change(HIDDEN, "test_traffic(candidate, rng)", "test_traffic(candidate, rgn)"), "::test_traffic", ("'rgn'",)),
        (
            add(HIDDEN, '\n\n@pytest.mark.usefixtures("orcale")\n@pytest.mark.check("x")\ndef test_x():\n    pass\n'),
            "::test_x",
            NO_FIXTURE,
        ),
        (
            add(HIDDEN, "\n\n@pytest.fixture(autouse=True)\ndef always(orcale):\n    pass\n"),
            "::test_compiles",
            (*NO_FIXTURE, "the fixture 'always' takes"),
        ),
        (change(HIDDEN, "points=2", 'points="2"'), "::test_values", ("check: points: is '2'; write a number",)),
        (change(HIDDEN, '("values",)', '"values"'), "::test_strided", ('text; write a tuple, depends=("values",)',)),
        (change(HIDDEN, '"gpu"', '"tpu"'), "::test_many_rows", ("check: engines: has 'tpu'; it takes",)),
        (change(HIDDEN, 'title="It', 'titel="It'), "::test_compiles", ("@pytest.mark.check", "titel", "no argument")),
        (change(HIDDEN, '"strided"', "3"), "::test_strided", ("@pytest.mark.check", "name: is 3; write a text")),
        (change(HIDDEN, '"strided"', '"values"'), "::test_strided", ("'values'", "another title", "once")),
        (change(HIDDEN, '("compiles",)', '("compile",)'), f"{KATA}/hidden", ("'values'", "depends on 'compile'")),
        (change(HIDDEN, 'points=1)', 'points=1, depends=("values",))'), "hidden", ("'compiles'", "runs later", "move")),
        (add(MISTAKES, "\n\nraise SystemError('no')\n"), MISTAKES, ("cannot be imported", "SystemError")),
        (change(MISTAKES, '"""The values are multiplied by three."""', ""), MISTAKES, ("tripled has no docstring",)),
        (write(f"{KATA}/wrong/halved/x.py", "x = 1\n"), f"{KATA}/wrong/halved", ("nothing gives this diagnosis",)),
        (write(f"{KATA}/feedback/trebled.md.j2", "# A\n\nNext: b\n"), "trebled.md.j2", ("is never shown", "rename")),
        (add(TEMPLATE, "{% if %}"), TEMPLATE, ("does not render", "line 7", "correct it")),
        (add(TEMPLATE, "{{ nothing }}"), TEMPLATE, ("does not render", "'nothing' is undefined")),
        (
            add(TEMPLATE, "{% if mismatch %}{{ mismatch.rows }}{% endif %}"),
            TEMPLATE,
            ("feedback/tripled.md.j2, line 7 does", "mismatch has no 'rows'; it has kind, wrong,"),
        ),
        (
            add(TEMPLATE, "\n{% if fault and fault.access %}{{ fault.access.lines }}{% endif %}"),
            TEMPLATE,
            ("line 8", "fault.access has no 'lines'; it has operation,"),
        ),
        (add(TEMPLATE, "{{ case.shapes[0][5] }}"), TEMPLATE, ("line 7", "case is None here", "ask `{% if case %}`")),
        (add(TEMPLATE, "{{ mismatch.row + 1 }}"), TEMPLATE, ("does not render",)),
        (add(TEMPLATE, "{{ 'x'|pair_table }}"), TEMPLATE, ("does not render", "no attribute 'columns'")),
        (change(TEMPLATE, "# {{ known }}", ""), TEMPLATE, ("no headline",)),
        (change(TEMPLATE, "Next:", "Then:"), TEMPLATE, ("what to do next",)),
    ],
)  # fmt: skip
def test_each_problem_is_one_line_that_names_the_file(
    course_root: Path, kata_of: KataOf, damage: Damage, place: str, words: tuple[str, ...]
) -> None:
    damage(course_root)
    found = problems_of(kata_of())
    assert len(found) == 1
    assert "\n" not in found[0]
    assert "line None" not in found[0]
    assert found[0].startswith(str(course_root))
    for word in (place, *words):
        assert word in found[0]


def test_a_test_may_take_its_parameters_and_fixtures_of_its_file_and_of_pytest(
    course_root: Path, kata_of: KataOf
) -> None:
    taken = "candidate, oracle, rng, request, tmp_path, mine, n"
    more = f"""

@pytest.fixture
def mine(rng, request):
    return rng


@pytest.mark.check("more")
@pytest.mark.parametrize("n", [1, 2])
def test_more({taken}):
    pass
"""
    add(HIDDEN, more)(course_root)
    assert problems_of(kata_of()) == ()


def test_a_kata_without_wrong_models_says_so_and_whose_examples_lack_one(course_root: Path, kata_of: KataOf) -> None:
    (course_root / MISTAKES).write_text("import numpy as np\n")
    found = problems_of(kata_of())
    assert any("has no wrong model" in line for line in found)
    assert any(f"{KATA}/wrong/tripled" in line and "nothing gives" in line for line in found)


def test_a_skeleton_without_anything_to_write_says_so(course_root: Path, kata_of: KataOf) -> None:
    change(SKELETON, "  # TODO 1: twice the value", "")(course_root)
    change(f"{KATA}/brief.md", "**TODO 1**", "It")(course_root)
    (found,) = problems_of(kata_of())
    assert "doubled.py: has no TODO; number" in found


def test_hidden_tests_about_answers_name_slips_of_their_own(course_root: Path, kata_of: KataOf) -> None:
    write(f"{KATA}/feedback/off_by_one.md.j2", "# A\n\nNext: b\n")(course_root)
    write(f"{KATA}/feedback/answer_top.md.j2", "# A\n\nNext: b\n")(course_root)
    assert len(problems_of(kata_of())) == 2
    test = (
        '\n\n@pytest.mark.check("answers")\ndef test_answers(candidate):\n'
        '    assert_answer("TOP", candidate.value("TOP"), 3, known={"off_by_one": 4})\n'
    )
    add(HIDDEN, "\nfrom tritonkata.hidden.answers import assert_answer\n" + test)(course_root)
    assert problems_of(kata_of()) == ()


@pytest.mark.parametrize("place", ["katas/halved/a.md", "katas/notes.md", "skeletons/halved.py", "reference/x/o.py"])
def test_files_that_belong_to_no_kata_are_strays_of_the_course(course_root: Path, place: str) -> None:
    write(place, "")(course_root)
    (found,) = course_problems(load_course(course_root))
    assert "/".join(place.split("/")[:2]) in found
    assert "belongs to no kata" in found
    assert "course.toml" in found


def test_a_mark_in_the_course_file_is_a_problem_of_the_course(course_root: Path) -> None:
    path = course_root / "katas" / "course.toml"
    path.write_text("# TODO(author): name it.\n" + path.read_text())
    (found,) = course_problems(load_course(course_root))
    assert f"{path}: line 1: TODO(author): name it; then take the mark out" == found
