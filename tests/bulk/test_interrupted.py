"""Commands that are stopped or killed, and grading processes that are: the same command goes on."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest
from class_of_files import (
    SOLUTION,
    Gate,
    Kata,
    grade_words,
    graders,
    lines,
    quick,
    records,
    students,
    write_class,
)
from processes import below, command_line, wait_for


def test_ctrl_c_finishes_only_what_is_being_graded_and_the_same_command_goes_on(kata: Kata, tmp_path: Path) -> None:
    gate = Gate(tmp_path)
    kata.course = gate.course
    submissions = write_class(tmp_path / "class", {f"s{number}": quick(number) for number in range(8)})
    with kata.start(*grade_words(submissions), "--json", "--jobs", "2") as command:
        assert command.stderr is not None
        gate.wait_until_begun(2)
        os.killpg(command.pid, signal.SIGINT)
        assert command.stderr.readline() == "\n"
        assert "press Ctrl-C again to drop it" in command.stderr.readline()
        gate.open()
        output, errors = command.communicate(timeout=300)
    assert command.returncode == 130
    assert errors == "Stopped: 6 are left; the same command goes on.\n"
    assert students(output) == ["s0", "s1"] == sorted(records(tmp_path / "grades"))
    assert list(kata.temporary.iterdir()) == []
    again = kata.grade(submissions, "--json")
    assert again.returncode == 0
    assert students(again.stdout) == [f"s{number}" for number in range(2, 8)]


@pytest.mark.slow
def test_ctrl_c_leaves_the_workers_of_what_is_being_graded_alone(kata: Kata, tmp_path: Path) -> None:
    submissions = write_class(tmp_path / "class", {"ann": SOLUTION, "ben": SOLUTION + b"# ben\n"})
    with kata.start(*grade_words(submissions), "--json", "--jobs", "1") as command:
        wait_for(lambda: any("tritonkata.worker" in command_line(number) for number in below(command.pid)))
        started = below(command.pid)
        os.killpg(command.pid, signal.SIGINT)
        output, _ = command.communicate(timeout=300)
    assert command.returncode == 130
    assert [(line["student"], line["verdict"]) for line in lines(output)] == [("ann", "pass")]
    wait_for(lambda: not any(map(command_line, started)))
    assert list(kata.temporary.iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize("more", [0, 3])
def test_ctrl_c_twice_drops_what_is_being_graded(kata: Kata, tmp_path: Path, more: int) -> None:
    gate = Gate(tmp_path)
    kata.course = gate.course
    submissions = write_class(tmp_path / "class", {f"s{number}": quick(number) for number in range(4)})
    with kata.start(*grade_words(submissions), "--json", "--jobs", "2") as command:
        assert command.stderr is not None
        gate.wait_until_begun(2)
        started = below(command.pid)
        os.killpg(command.pid, signal.SIGINT)
        assert command.stderr.readline() == "\n"
        assert "press Ctrl-C again" in command.stderr.readline()
        os.killpg(command.pid, signal.SIGINT)
        for _ in range(more):
            time.sleep(0.05)
            os.killpg(command.pid, signal.SIGINT)
        output, errors = command.communicate(timeout=120)
    assert (command.returncode, output) == (130, "")
    assert errors.splitlines() == ["Stopped: 4 are left; the same command goes on.", "", "Interrupted."]
    wait_for(lambda: not any(map(command_line, started)))
    assert list(kata.temporary.iterdir()) == []
    gate.open()
    again = kata.grade(submissions, "--json")
    assert (again.returncode, students(again.stdout)) == (0, ["s0", "s1", "s2", "s3"])


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_whoever_is_to_be_graded_again_keeps_their_grade_until_then(kata: Kata, tmp_path: Path, number: int) -> None:
    names = [f"s{number}" for number in range(3)]
    assert kata.grade(write_class(tmp_path / "class", {name: quick(int(name[1])) for name in names})).returncode == 0
    gate = Gate(tmp_path)
    kata.course = gate.course
    decided = ("--reason", "graded by hand", "--author", "T. A.")
    assert kata("override", "s0", "--score", "3", *decided).returncode == 0
    with kata.start("regrade", "--all", "--jobs", "1") as command:
        gate.wait_until_begun()
        os.kill(command.pid, number)
        _, errors = command.communicate(timeout=120)
    go_on = f"kata --course {gate.course} regrade --out grades"
    assert ("Stopped: 3 are left" in errors) == (number == signal.SIGTERM)
    done = kata("export", "--format", "csv")
    assert (done.returncode, len(done.stdout.splitlines())) == (0, 4)
    assert "3 of 3 submissions wait to be graded again, and until then the earlier report counts" in done.stderr
    assert go_on in done.stderr
    gate.open()
    again = kata("regrade", "--ungraded", "--json")
    assert (again.returncode, students(again.stdout)) == (0, names)
    assert kata("export", "--format", "csv").stderr == ""
    assert records(tmp_path / "grades")["s0"].score == 3


def test_a_killed_command_leaves_nothing_running_and_goes_on(kata: Kata, tmp_path: Path) -> None:
    submissions = write_class(tmp_path / "class", {f"s{number:03}": quick(number) for number in range(300)})
    with kata.start(*grade_words(submissions), "--json", "--jobs", "2") as command:
        assert command.stdout is not None
        told = [command.stdout.readline() for _ in range(5)]
        started = below(command.pid)
        command.kill()
        told += command.stdout.readlines()
    wait_for(lambda: not any(map(command_line, started)))
    kept = sorted(records(tmp_path / "grades"))
    # The last line may have been cut, and the last reports not told.
    assert set(students("".join(line for line in told if line.endswith("\n")))) <= set(kept)
    assert 5 <= len(kept) < 300
    again = kata.grade(submissions, "--json")
    assert again.returncode == 0
    assert sorted(kept + students(again.stdout)) == [f"s{number:03}" for number in range(300)]


def test_a_killed_grading_process_is_replaced_and_its_submission_graded(kata: Kata, tmp_path: Path) -> None:
    gate = Gate(tmp_path)
    kata.course = gate.course
    submissions = write_class(tmp_path / "class", {f"s{number}": quick(number) for number in range(4)})
    with kata.start(*grade_words(submissions), "--json", "--jobs", "1") as command:
        gate.wait_until_begun(1)
        (grader,) = graders(command.pid)
        os.kill(grader, signal.SIGKILL)
        gate.wait_until_begun(2)
        gate.open()
        output, errors = command.communicate(timeout=300)
    assert (command.returncode, errors) == (0, "")
    assert students(output) == ["s0", "s1", "s2", "s3"]
    assert {record.report.verdict for record in records(tmp_path / "grades").values()} == {"error"}


def test_a_submission_that_costs_two_processes_is_the_graders_fault_and_tried_again(kata: Kata, tmp_path: Path) -> None:
    gate = Gate(tmp_path)
    kata.course = gate.course
    submissions = write_class(tmp_path / "class", {"ann": quick(1), "ben": quick(2)})
    with kata.start(*grade_words(submissions), "--jobs", "1") as command:
        for begun in (1, 2):
            gate.wait_until_begun(begun)
            (grader,) = graders(command.pid)
            os.kill(grader, signal.SIGKILL)
        gate.open()
        output, _ = command.communicate(timeout=300)
    assert command.returncode == 3
    assert "1 met a fault of the grader" in output
    fault = records(tmp_path / "grades")["ann"].report.fault
    assert fault is not None
    assert (fault.verdict, "--jobs 1" in fault.message) == ("grader_error", True)
    again = kata.grade(submissions, "--json")
    assert (again.returncode, students(again.stdout)) == (0, ["ann"])
