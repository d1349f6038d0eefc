"""`start`, `list`, `hint`, `reset`, `solution`, `completion` and the group, as a learner types them."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tritonkata import __version__
from tritonkata.courses import load_course

COMMANDS = ("start", "check", "list", "hint", "solution", "reset", "lab", "verify", "new", "doctor", "completion")
HEAVY = ("torch", "triton", "numpy", "pytest", "rich", "jinja2", "ml_dtypes")


def test_start_hands_out_skeleton_and_brief_and_nothing_else(kata: Any, tmp_path: Path) -> None:
    done = kata("start", "safe_softmax")
    assert done.returncode == 0, done.stderr
    built_in = load_course().kata("safe_softmax")
    assert (tmp_path / "safe_softmax.py").read_bytes() == built_in.skeleton.read_bytes()
    assert (tmp_path / "safe_softmax.md").read_bytes() == built_in.brief.read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == [".kata", "safe_softmax.md", "safe_softmax.py"]
    assert "kata check" in done.stdout


def test_start_overwrites_only_when_told(kata: Any, tmp_path: Path) -> None:
    (tmp_path / "safe_softmax.md").write_text("my notes")
    done = kata("start", "safe_softmax")
    assert done.returncode == 2
    assert "safe_softmax.md already there" in done.stderr
    assert "--force" in done.stderr
    assert not (tmp_path / "safe_softmax.py").exists()
    assert (tmp_path / "safe_softmax.md").read_text() == "my notes"
    assert kata("start", "safe_softmax", "--force").returncode == 0
    assert (tmp_path / "safe_softmax.md").read_text() != "my notes"


def test_an_overwritten_kernel_is_kept(kata: Any, tmp_path: Path) -> None:
    kata("start", "safe_softmax")
    assert kata("start", "safe_softmax", "--force").returncode == 0
    assert not (tmp_path / ".kata" / "backups").exists()
    (tmp_path / "safe_softmax.py").write_text("mine = 1\n")
    done = kata("start", "safe_softmax", "--force")
    (kept,) = (tmp_path / ".kata" / "backups").iterdir()
    assert kept.read_text() == "mine = 1\n"
    assert f"Your version: .kata/backups/{kept.name}" in done.stdout


def test_start_does_not_write_through_a_dangling_link(kata: Any, tmp_path: Path) -> None:
    (tmp_path / "safe_softmax.py").symlink_to("elsewhere.py")
    assert kata("start", "safe_softmax").returncode == 2
    assert not (tmp_path / "elsewhere.py").exists()


@pytest.mark.parametrize("command", ["start", "hint", "reset", "solution"])
def test_an_unknown_kata_is_one_line_with_the_nearest(kata: Any, command: str) -> None:
    done = kata(command, "save_softmax")
    assert done.returncode == 2
    assert done.stderr == "Error: there is no kata 'save_softmax'; did you mean 'safe_softmax'?\n"


def test_list_shows_where_the_learner_is(kata: Any) -> None:
    assert "kata start safe_softmax" in kata("list").stdout
    kata("start", "safe_softmax")
    done = kata("list", "--json")
    rows = {row["slug"]: row for row in json.loads(done.stdout)}
    assert rows["safe_softmax"]["state"] == "started"
    assert rows["safe_softmax"]["progress"]["attempts"] == 0
    assert rows["masked_softmax"]["state"] == "not started"
    assert rows["masked_softmax"]["progress"] is None


def test_hints_come_one_at_a_time_until_none_remain(kata: Any, course_root: Path) -> None:
    course = ("--course", str(course_root))
    assert kata(*course, "hint").returncode == 2
    kata(*course, "start", "first_one")
    first, second, third = (kata(*course, "hint", *slug) for slug in ((), ("first_one",), ()))
    assert "hint 1 of 2: look\n1 more hint." in first.stdout
    assert "hint 2 of 2: look again\nThat was the last hint." in second.stdout
    assert "No hints remain" in third.stdout
    assert "1. look\n  2. look again" in third.stdout


def test_a_kata_that_was_not_started_has_no_hints_yet(kata: Any, course_root: Path) -> None:
    done = kata("hint", "second_one", env={"KATA_COURSE": str(course_root)})
    assert done.returncode == 2
    assert "kata start second_one" in done.stderr


def test_reset_keeps_the_learners_version(kata: Any, tmp_path: Path) -> None:
    kata("start", "safe_softmax")
    skeleton = (tmp_path / "safe_softmax.py").read_bytes()
    (tmp_path / "safe_softmax.py").write_text("mine = 1\n")
    for answer in ("n\n", ""):
        done = kata("reset", stdin=answer)
        assert done.returncode == 2
        assert "nothing was changed" in done.stderr
        assert (tmp_path / "safe_softmax.py").read_text() == "mine = 1\n"
    assert kata("reset", stdin="y\n").returncode == 0
    assert (tmp_path / "safe_softmax.py").read_bytes() == skeleton
    (kept,) = (tmp_path / ".kata" / "backups").iterdir()
    assert kept.read_text() == "mine = 1\n"
    (tmp_path / "safe_softmax.py").unlink()
    assert kata("reset", "--yes").returncode == 0
    assert (tmp_path / "safe_softmax.py").read_bytes() == skeleton


@pytest.mark.parametrize("path", ["../precious.py", "{outside}/precious.py", "link/precious.py", "\0"])
def test_no_command_follows_a_recorded_path_out_of_the_folder(kata: Any, tmp_path: Path, path: str) -> None:
    folder = tmp_path / "workspace"
    folder.mkdir()
    (folder / "link").symlink_to(tmp_path)
    (tmp_path / "precious.py").write_text("precious = 1\n")
    kata("start", "safe_softmax", cwd=folder)
    record = folder / ".kata" / "progress.json"
    content = json.loads(record.read_text())
    content["katas"]["safe_softmax"]["path"] = path.format(outside=tmp_path)
    record.write_text(json.dumps(content))
    for arguments in (("reset", "--yes"), ("check",), ("check", "--kata", "safe_softmax"), ("hint",)):
        done = kata(*arguments, cwd=folder)
        assert done.returncode == 2
        assert "is damaged" in done.stderr
    assert (tmp_path / "precious.py").read_text() == "precious = 1\n"


def test_the_solution_is_kept_back_until_it_passed(kata: Any) -> None:
    done = kata("solution", "safe_softmax")
    assert done.returncode == 2
    assert done.stdout == ""
    assert "--spoil" in done.stderr
    done = kata("solution", "safe_softmax", "--spoil")
    assert done.returncode == 0
    assert done.stdout == load_course().kata("safe_softmax").solution.read_text()


def test_damaged_progress_is_one_line_and_touches_nothing(kata: Any, tmp_path: Path) -> None:
    (tmp_path / ".kata").mkdir()
    (tmp_path / ".kata" / "progress.json").write_text("{")
    for arguments in (("list",), ("start", "safe_softmax"), ("hint",), ("check",)):
        done = kata(*arguments)
        assert done.returncode == 2
        assert "progress.json: is damaged" in done.stderr
        assert "Traceback" not in done.stderr
    assert not (tmp_path / "safe_softmax.py").exists()


def test_a_damaged_course_is_one_line(kata: Any, course_root: Path) -> None:
    (course_root / "katas" / "course.toml").write_text("katas = 3")
    done = kata("--course", str(course_root), "list")
    assert done.returncode == 2
    assert done.stderr.startswith("Error: ")
    assert len(done.stderr.splitlines()) == 1


def test_a_crash_of_the_grader_has_its_own_code_and_words(kata: Any, course_root: Path) -> None:
    (course_root / "reference" / "first_one" / "solution.py").write_bytes(b"\xff")
    arguments = ("--course", str(course_root), "solution", "first_one", "--spoil")
    done = kata(*arguments)
    assert done.returncode == 3
    assert "The grader failed, not your kernel" in done.stderr
    assert "Traceback" not in done.stderr
    assert "Traceback" in kata(*arguments, env={"KATA_DEBUG": "1"}).stderr


@pytest.mark.parametrize("command", COMMANDS)
def test_every_help_text_has_an_example(kata: Any, command: str) -> None:
    done = kata(command, "--help")
    assert done.returncode == 0
    assert "Example" in done.stdout
    assert re.search(rf"kata (--course \S+ )?{command}", done.stdout.split("Example")[1])


def test_version_and_wrong_command(kata: Any) -> None:
    assert kata("--version").stdout.strip() == f"kata, version {__version__}"
    done = kata("chekc")
    assert done.returncode == 2
    assert "did you mean `kata check`?" in done.stderr


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_offers_the_katas(kata: Any, shell: str) -> None:
    script = kata("completion", shell)
    assert script.returncode == 0
    assert "_KATA_COMPLETE" in script.stdout
    offered = kata(
        env={
            "_KATA_COMPLETE": f"{shell}_complete",
            "COMP_WORDS": "kata start safe",
            "COMP_CWORD": "safe" if shell == "fish" else "2",
        }
    )
    assert "safe_softmax" in offered.stdout


@pytest.mark.parametrize(
    "arguments", [("list",), ("start", "safe_softmax"), ("hint",), ("--help",), ("check", "--help"), ("check", "no.py")]
)
def test_quick_commands_import_nothing_heavy(kata: Any, tmp_path: Path, arguments: tuple[str, ...]) -> None:
    if arguments == ("hint",):
        kata("start", "safe_softmax")
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "tritonkata", *arguments],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    imported = {line.rsplit("|", 1)[1].strip().partition(".")[0] for line in done.stderr.splitlines() if "|" in line}
    assert "click" in imported
    assert imported.isdisjoint(HEAVY)


def test_a_learners_file_is_not_imported_in_a_librarys_place(kata: Any, tmp_path: Path) -> None:
    (tmp_path / "click.py").write_text("raise SystemExit('imported the wrong file')\n")
    assert kata("list").returncode == 0
