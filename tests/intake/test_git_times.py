"""The time of a commit is read without obeying the repository that it lies in."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest
from packing import SOURCE, folder, taken

from tritonkata.intake.git_times import CommitTimes

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
AT = "2026-03-02T08:15:00+00:00"


def git(root, *arguments):
    who = {f"GIT_{role}_{what}": f"{what}@x" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    dates = {"GIT_AUTHOR_DATE": "2020-01-01T00:00:00Z", "GIT_COMMITTER_DATE": "2026-03-02T09:15:00+0100"}
    environment = {"PATH": os.environ["PATH"], "HOME": str(root), "GIT_CONFIG_NOSYSTEM": "1", **who, **dates}
    subprocess.run(("git", *arguments), cwd=root, env=environment, check=True, capture_output=True)


@pytest.fixture
def cloned(tmp_path):
    """A folder with one repository in it."""
    root = folder(tmp_path / "safe-softmax-submissions", {"safe-softmax-ann/safe_softmax.py": SOURCE})
    repository = root / "safe-softmax-ann"
    git(repository, "init", "-q", "-b", "main")
    git(repository, "add", ".")
    git(repository, "commit", "-q", "-m", "committer x <x> 1 +0000")
    return root


def test_the_time_of_the_last_commit_is_the_time_of_submission(cloned):
    intake = taken(cloned)
    assert intake.layout == "github"
    assert [(one.student.id, one.submitted_at, one.path) for one in intake.attempts] == [
        ("ann", AT, "safe-softmax-ann/safe_softmax.py")
    ]


def test_packed_repositories_and_detached_heads_have_a_time_too(cloned):
    repository = cloned / "safe-softmax-ann"
    git(repository, "gc", "-q")
    git(repository, "pack-refs", "--all")
    with CommitTimes() as times:
        assert times.of(repository) == AT
        git(repository, "checkout", "-q", "--detach")
        assert times.of(repository) == AT


def test_no_program_that_the_repository_names_is_started(cloned, tmp_path):
    repository = cloned / "safe-softmax-ann"
    witness = tmp_path / "started"
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {witness}\nexit 1\n")
    program.chmod(0o755)
    for key in ("core.fsmonitor", "core.pager", "core.sshCommand", "gpg.program", "diff.external", "core.hooksPath"):
        git(repository, "config", key, str(program))
    git(repository, "config", "log.showSignature", "true")
    # An object that is missing would be fetched, with a program that the repository names.
    git(repository, "config", "core.repositoryFormatVersion", "1")
    git(repository, "config", "extensions.partialClone", "origin")
    git(repository, "config", "remote.origin.promisor", "true")
    git(repository, "config", "remote.origin.url", str(repository))
    git(repository, "config", "remote.origin.uploadpack", str(program))
    for name in ("post-checkout", "pre-auto-gc", "reference-transaction"):
        shutil.copy(program, repository / ".git" / "hooks" / name)
    with CommitTimes() as times:
        assert times.of(repository) == AT
        (repository / ".git" / "HEAD").write_text("ab" * 20)
        assert times.of(repository) is None
    assert not witness.exists()
    # The traps are set: a command that obeys the repository springs one.
    subprocess.run(("git", "cat-file", "-s", "ab" * 20), cwd=repository, check=False, capture_output=True, timeout=60)
    assert witness.exists()


@pytest.mark.parametrize(
    "head", [b"", b"ref: refs/heads/none\n", b"ref: refs/../../../x\n", b"0" * 40, b"--help\n", b"ref: refs/heads/x y"]
)
def test_a_head_that_leads_nowhere_gives_no_time(cloned, head):
    (cloned / "safe-softmax-ann" / ".git" / "HEAD").write_bytes(head)
    assert [one.submitted_at for one in taken(cloned).attempts] == [None]


def test_links_out_of_the_repository_are_not_followed(cloned, tmp_path):
    other = folder(tmp_path / "other", {"safe_softmax.py": SOURCE})
    (other / ".git").symlink_to(cloned / "safe-softmax-ann" / ".git")
    head = cloned / "safe-softmax-ann" / ".git" / "HEAD"
    with CommitTimes() as times:
        assert times.of(other) is None
        assert times.of(cloned / "safe-softmax-ann") == AT
        head.rename(head.with_name("OTHER"))
        head.symlink_to("OTHER")
        assert times.of(cloned / "safe-softmax-ann") is None


def test_a_commit_too_large_to_look_at_gives_no_time(cloned):
    repository = cloned / "safe-softmax-ann"
    git(repository, "commit", "-q", "--allow-empty", "-m", "x" * 100_000)
    with CommitTimes() as times:
        assert times.of(repository) is None


def test_without_git_the_time_is_unknown(cloned, monkeypatch):
    monkeypatch.setenv("PATH", "")
    assert [one.submitted_at for one in taken(cloned).attempts] == [None]
