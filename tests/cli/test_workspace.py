import os
import threading
from pathlib import Path

import msgspec
import pytest

from tritonkata.courses import load_course
from tritonkata.model.report import Engine, Medal, Report, ReportVerdict, Submission
from tritonkata.workspace import (
    KataProgress,
    WorkspaceError,
    find_submission,
    load_progress,
    progress_path,
    record_check,
    record_start,
    update_progress,
)


def report(score: float, medal: Medal, verdict: ReportVerdict) -> Report:
    return Report(
        kata="first_one",
        submission=Submission("first_one.py", "0" * 64),
        engine=Engine("interpreter", "cpu", "sm_90"),
        verdict=verdict,
        score=score,
        max_score=20.0,
        medal=medal,
        seed=1,
    )


def test_the_best_attempt_counts_and_a_later_worse_one_does_not_take_it_away(tmp_path: Path) -> None:
    path = tmp_path / "first_one.py"
    record_check(tmp_path, path, report(12.0, "none", "fail"))
    record_check(tmp_path, path, report(20.0, "silver", "pass"))
    record_check(tmp_path, path, report(3.0, "bronze", "fail"))
    progress = load_progress(tmp_path).katas["first_one"]
    assert (progress.path, progress.attempts, progress.best_score) == ("first_one.py", 3, 20.0)
    assert (progress.medal, progress.passed) == ("silver", True)
    assert progress.last_checked is not None


def test_what_could_not_be_graded_changes_no_maximum(tmp_path: Path) -> None:
    path = tmp_path / "first_one.py"
    record_check(tmp_path, path, report(20.0, "silver", "pass"))
    record_check(tmp_path, path, msgspec.structs.replace(report(0.0, "none", "error"), max_score=0.0))
    progress = load_progress(tmp_path).katas["first_one"]
    assert (progress.attempts, progress.best_score, progress.max_score) == (2, 20.0, 20.0)


def test_starting_again_keeps_hints_and_scores(tmp_path: Path, course_root: Path) -> None:
    kata = load_course(course_root).kata("first_one")
    record_check(tmp_path, tmp_path / "first_one.py", report(20.0, "gold", "pass"))
    progress = record_start(tmp_path, kata, tmp_path / "first_one.py")
    assert (progress.medal, progress.attempts) == ("gold", 1)


def test_the_file_edited_last_is_the_one_meant(tmp_path: Path) -> None:
    slugs = ("first_one", "second_one", "third_one")
    assert find_submission(tmp_path, slugs) is None
    for age, slug in ((100, "first_one"), (50, "second_one")):
        (tmp_path / f"{slug}.py").write_text("x = 1\n")
        os.utime(tmp_path / f"{slug}.py", (1_000_000 - age, 1_000_000 - age))
    assert find_submission(tmp_path, slugs) == ("second_one", tmp_path / "second_one.py")
    os.utime(tmp_path / "first_one.py", (1_000_001, 1_000_001))
    assert find_submission(tmp_path, slugs) == ("first_one", tmp_path / "first_one.py")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"{", "is damaged"),
        (b"\xff\xfe", "is damaged"),
        (b'{"katas": {"a": {"path": 3}}}', "is damaged"),
        (b"[" * 100_000, "is damaged"),
        (b'{"schema_version": 7}', "schema version 7"),
        (b'{"katas": {"a": {"path": "a.py", "started_at": "", "hints_seen": -5}}}', "is damaged"),
        (b'{"katas": {"a": {"path": "a.py", "started_at": "", "attempts": -1}}}', "is damaged"),
    ],
)
def test_a_damaged_file_is_named_and_left_alone(tmp_path: Path, content: bytes, words: str) -> None:
    path = progress_path(tmp_path)
    path.parent.mkdir()
    path.write_bytes(content)
    with pytest.raises(WorkspaceError, match=words) as caught:
        load_progress(tmp_path)
    assert str(path) in str(caught.value)
    with pytest.raises(WorkspaceError):
        record_check(tmp_path, tmp_path / "first_one.py", report(1.0, "none", "fail"))
    assert path.read_bytes() == content


@pytest.mark.parametrize(
    "path",
    ["../outside/a.py", "/tmp/outside/a.py", "sub/../../outside/a.py", "out/a.py", "\0", "a\0.py", "", ".", ".."],
)
def test_a_recorded_path_that_leaves_the_folder_is_damage(tmp_path: Path, path: str) -> None:
    folder = tmp_path / "workspace"
    (folder / ".kata").mkdir(parents=True)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.py").write_text("not ours")
    (folder / "out").symlink_to(outside)
    record = {"katas": {"first_one": {"path": path, "started_at": ""}}}
    progress_path(folder).write_bytes(msgspec.json.encode(record))
    for use in (load_progress, lambda place: find_submission(place, ("first_one",))):
        with pytest.raises(WorkspaceError, match="is damaged"):
            use(folder)


def test_half_a_surrogate_pair_in_a_path_is_damage(tmp_path: Path) -> None:
    progress_path(tmp_path).parent.mkdir()
    progress_path(tmp_path).write_text('{"katas": {"a": {"path": "\\ud800.py", "started_at": ""}}}')
    with pytest.raises(WorkspaceError, match="is damaged"):
        load_progress(tmp_path)


def test_a_kernel_that_is_a_link_is_no_damage(tmp_path: Path) -> None:
    folder = tmp_path / "workspace"
    folder.mkdir()
    (tmp_path / "kept.py").write_text("x = 1\n")
    (folder / "first_one.py").symlink_to(tmp_path / "kept.py")
    record_check(folder, folder / "first_one.py", report(1.0, "none", "fail"))
    assert load_progress(folder).katas["first_one"].path == "first_one.py"


def test_a_file_reached_by_another_way_is_recorded_where_it_lies(tmp_path: Path) -> None:
    folder = tmp_path / "workspace"
    (folder / "sub").mkdir(parents=True)
    (tmp_path / "way").symlink_to(folder)
    record_check(folder, tmp_path / "way" / "sub" / "first_one.py", report(1.0, "none", "fail"))
    assert load_progress(folder).katas["first_one"].path == "sub/first_one.py"


@pytest.mark.parametrize("name", [b"first_one_\xff.py", b"first_one_\n.py"])
def test_a_name_that_cannot_be_recorded_is_said(tmp_path: Path, name: bytes) -> None:
    with pytest.raises(WorkspaceError, match="rename it"):
        record_check(tmp_path, tmp_path / os.fsdecode(name), report(1.0, "none", "fail"))
    assert load_progress(tmp_path).katas == {}


def test_attempts_counted_at_the_same_time_all_count(tmp_path: Path) -> None:
    def one_more(old: KataProgress | None) -> KataProgress:
        base = old or KataProgress(path="a.py", started_at="")
        return msgspec.structs.replace(base, attempts=base.attempts + 1)

    def work() -> None:
        for _ in range(10):
            update_progress(tmp_path, "a", one_more)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert load_progress(tmp_path).katas["a"].attempts == 40
    assert sorted(os.listdir(tmp_path / ".kata")) == ["lock", "progress.json"]
