"""Files that are no gradebook, older and newer ones, and folders that cannot be written."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest
from gradebook_samples import KATA, handed_in, run_of, take_in
from in_children import python_as_nobody

from tritonkata.gradebook.opening import FILE_NAME, open_gradebook
from tritonkata.gradebook.schema import APPLICATION_ID, MIGRATIONS
from tritonkata.gradebook.types import GradebookProblem, LeftOut

VERSION_1 = Path(__file__).with_name("version_1.sql")
OPEN = "from pathlib import Path; import sys; from tritonkata.gradebook.opening import open_gradebook\n"


def written(folder: Path, script: str) -> Path:
    """A database at the place of a gradebook."""
    folder.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(folder / FILE_NAME)
    connection.executescript(script)
    connection.close()
    return folder


def refused(folder: Path, words: str, *, create: bool = True) -> None:
    """Opening fails with these words, the file's name and what to do, and leaves the file alone."""
    file = folder / FILE_NAME
    before = file.read_bytes() if file.is_file() else None
    with pytest.raises(GradebookProblem, match=words) as caught, open_gradebook(folder, create=create):
        pass
    assert str(file) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert (file.read_bytes() if file.is_file() else None) == before


def test_a_file_of_version_1_is_brought_up_to_date_with_all_it_holds(tmp_path: Path) -> None:
    written(tmp_path, VERSION_1.read_text())
    with open_gradebook(tmp_path) as book:
        (record,) = book.records(KATA)
        assert (record.score, record.report.score, record.late) == (4.5, 3.0, True)
        assert record.override is not None
        assert (record.override.reason, record.override.author) == ("after appeal", "T. A.")
        assert (record.submitted_at, record.graded_at) == ("2029-12-01T12:00:00+00:00", "2029-12-24T12:00:00+00:00")
        assert book.source(KATA, record) == "x = 1"
        assert book.left_out(KATA) == [LeftOut("notes.txt", "", "is no Python file")]
        last = book.last_run(KATA)
        assert last is not None
        assert (last.id, last.seed, last.settings.engine, last.attempts) == (2, 8, "gpu", "latest")
        assert [one.student for one in book.pending(last)] == ["ben"]
        assert run_of(book).id == 1
        take_in(book, handed_in("cem"))
    with open_gradebook(tmp_path) as book:
        assert book.count(KATA) == 1


def test_every_older_version_becomes_what_a_new_file_is(tmp_path: Path) -> None:
    def schema(folder: Path) -> list[tuple[str, str]]:
        with open_gradebook(folder, create=True):
            pass
        connection = sqlite3.connect(folder / FILE_NAME)
        columns = connection.execute(
            "SELECT m.name, c.name, c.type, c.pk FROM sqlite_master m, pragma_table_info(m.name) c"
            " WHERE m.type = 'table' ORDER BY m.name, c.cid"
        ).fetchall()
        assert connection.execute("PRAGMA user_version").fetchone() == (len(MIGRATIONS),)
        assert connection.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)
        connection.close()
        return columns

    new = schema(tmp_path / "new")
    for version in range(1, len(MIGRATIONS)):
        script = "".join(MIGRATIONS[:version])
        marks = f"PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {version};"
        assert schema(written(tmp_path / str(version), script + marks)) == new


def test_a_newer_version_is_left_alone(tmp_path: Path) -> None:
    with open_gradebook(tmp_path, create=True):
        pass
    written(tmp_path, f"PRAGMA user_version = {len(MIGRATIONS) + 1};")
    refused(tmp_path, "comes from a newer release .* update tritonkata")


def test_another_programs_database_is_left_alone(tmp_path: Path) -> None:
    written(tmp_path, "CREATE TABLE bookmarks (url TEXT); INSERT INTO bookmarks VALUES ('x');")
    refused(tmp_path, "database of another program; choose another folder")


@pytest.mark.parametrize("text", ["dear diary, this is no database\n" * 50, "SQLite format 3\0" + "x" * 5000])
def test_another_kind_of_file_is_left_alone(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE_NAME).write_text(text)
    refused(tmp_path, "not a database|another kind of file")


def test_a_damaged_gradebook_is_told_in_one_line(tmp_path: Path) -> None:
    with open_gradebook(tmp_path, create=True) as book:
        take_in(book, *(handed_in(f"s{n}", b"x" * 4000) for n in range(50)))
    path = tmp_path / FILE_NAME
    data = bytearray(path.read_bytes())
    data[4096:] = b"\xa5" * (len(data) - 4096)
    path.write_bytes(data)
    with pytest.raises(GradebookProblem, match=f"{FILE_NAME}.*malformed"), open_gradebook(tmp_path) as book:
        book.count(KATA)


def test_an_empty_file_becomes_a_gradebook(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).touch()
    with open_gradebook(tmp_path) as book:
        assert book.katas() == ()


def test_none_is_made_unless_it_is_wanted(tmp_path: Path) -> None:
    refused(tmp_path / "grades", "there is no gradebook; name another folder, or make one", create=False)
    assert not (tmp_path / "grades").exists()


@pytest.mark.parametrize("create", [False, True])
def test_the_file_itself_is_named_in_place_of_its_folder(tmp_path: Path, create: bool) -> None:
    folder = tmp_path / "grades"
    with open_gradebook(folder, create=True):
        pass
    with pytest.raises(GradebookProblem) as caught, open_gradebook(folder / FILE_NAME, create=create):
        pass
    assert str(caught.value) == f"{folder / FILE_NAME}: is a file; --out is the folder {folder}"


def test_a_file_in_the_place_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / "grades").write_text("notes")
    with pytest.raises(GradebookProblem, match=r"grades: .* --out"), open_gradebook(tmp_path / "grades", create=True):
        pass
    assert (tmp_path / "grades").read_text() == "notes"


def test_a_folder_in_the_place_of_the_file(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).mkdir()
    refused(tmp_path, "cannot be opened; check the folder")


def test_two_cannot_grade_into_one_gradebook(tmp_path: Path) -> None:
    with open_gradebook(tmp_path, create=True, grading=True):
        busy = "another `kata grade` is at work"
        with pytest.raises(GradebookProblem, match=busy), open_gradebook(tmp_path, grading=True):
            pass
        # Deciding about a score and reading need not wait.
        with open_gradebook(tmp_path) as other:
            take_in(other, handed_in("ann"))
    with open_gradebook(tmp_path, grading=True) as book:
        assert book.count(KATA) == 1


def test_a_killed_grader_leaves_no_lock(tmp_path: Path) -> None:
    hold = OPEN + "with open_gradebook(Path(sys.argv[1]), create=True, grading=True):\n    print('open', flush=True)\n"
    command = [sys.executable, "-c", hold + "    sys.stdin.read()", str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"open\n"
        with pytest.raises(GradebookProblem, match="at work"), open_gradebook(tmp_path, grading=True):
            pass
        child.kill()
        child.wait()
    with open_gradebook(tmp_path, grading=True) as book:
        assert book.katas() == ()


@pytest.mark.parametrize("script", ["", VERSION_1.read_text()])
def test_many_can_open_a_file_that_has_still_to_be_made_or_migrated(tmp_path: Path, script: str) -> None:
    together = Barrier(6)

    def opened(folder: Path) -> int:
        together.wait()
        with open_gradebook(folder, create=True) as book:
            return book.count("nothing")

    with ThreadPoolExecutor(6) as pool:
        for attempt in range(5):
            folder = written(tmp_path / str(attempt), script) if script else tmp_path / str(attempt)
            assert list(pool.map(opened, [folder] * 6)) == [0] * 6


READ_ONLY = (
    OPEN
    + """
from tritonkata.gradebook.types import GradebookProblem
give_up_rights()
try:
    with open_gradebook(Path(sys.argv[1]), create=True, grading=len(sys.argv) > 2) as book:
        book.take_in("doubled", [], [("x", "", "y")])
except GradebookProblem as error:
    print(error)
"""
)


@pytest.mark.parametrize("grading", [[], ["grading"]])
def test_what_cannot_be_written_says_so(shared_folder: Path, grading: list[str]) -> None:
    with open_gradebook(shared_folder, create=True) as book:
        take_in(book, handed_in("ann"))
    (shared_folder / FILE_NAME).chmod(0o444)
    shared_folder.chmod(0o555)
    done = python_as_nobody(READ_ONLY, str(shared_folder), *grading)
    assert (done.stderr, done.returncode) == ("", 0)
    assert str(shared_folder) in done.stdout
    assert "permissions" in done.stdout
    assert len(done.stdout.splitlines()) == 1


def test_a_folder_that_cannot_be_made_says_so(shared_folder: Path) -> None:
    shared_folder.chmod(0o555)
    done = python_as_nobody(READ_ONLY, str(shared_folder / "grades"))
    assert (done.stderr, done.returncode) == ("", 0)
    assert "grades: cannot be made: Permission denied; choose another folder with --out" in done.stdout
