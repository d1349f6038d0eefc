"""Forks of one template: each in a sandbox of its own, none outliving what it came from. Real bubblewrap."""

from __future__ import annotations

import errno
import os
import resource
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from processes import parent, running, wait_for
from sheets import SPIN, Sheet

from tritonkata.boundary import sandbox
from tritonkata.boundary.cgroup import make_group
from tritonkata.boundary.leftovers import END_SECONDS
from tritonkata.boundary.messages import Ready, TracerReply
from tritonkata.boundary.process import WorkerProcess, start_untrusted
from tritonkata.boundary.sandbox import SandboxUnavailable, find_bubblewrap
from tritonkata.boundary.template import Template, TemplateFailed, TemplateLine
from tritonkata.engine.stock import INTERPRETER, TRACER, Stock

SOURCE = """
import fcntl, multiprocessing, os, signal, socket, subprocess, sys, time

def leave(word):
    left = 0
    for folder, _, _ in os.walk("/"):
        try:
            open(f"{folder}/{word}", "w").close()
            left += 1
        except OSError:
            pass
    fcntl.fcntl(0, fcntl.F_SETFL, os.O_APPEND | os.O_NONBLOCK)
    return left

def find(word):
    found = [folder for folder, _, files in os.walk("/") if word in files]
    return " ".join([*found, *["descriptor 0"] * bool(fcntl.fcntl(0, fcntl.F_GETFL) & os.O_APPEND)])

def listen(word):
    if os.fork() == 0:
        os.setsid()
        server = socket.socket(socket.AF_UNIX)
        server.bind("\\0" + word)
        server.listen()
        time.sleep(600)
    return 0

def knock(word):
    client = socket.socket(socket.AF_UNIX)
    try:
        client.connect("\\0" + word)
    except OSError as error:
        return type(error).__name__
    return "heard"

def processes():
    return max(int(name) for name in os.listdir("/proc") if name.isdigit())

def identity():
    return " ".join(os.readlink(f"/proc/self/ns/{name}") for name in ("pid", "mnt", "net", "ipc", "uts", "cgroup"))

def user():
    return os.getuid()

def stay(marker):
    code = "import time; time.sleep(600)"
    subprocess.Popen([sys.executable, "-c", code, marker], start_new_session=True)
    time.sleep(600)

def strike():
    for number in range(1, signal.NSIG):
        try:
            os.kill(1, number)
        except OSError:
            pass
    return 0

def describe(path):
    try:
        return ",".join(os.listdir(path)) if os.path.isdir(path) else open(path).read()
    except OSError as error:
        return type(error).__name__

def stop_its_group():
    os.kill(0, signal.SIGSTOP)

def surroundings():
    client = socket.socket()
    answer = client.connect_ex(("127.0.0.1", 9))
    lock = multiprocessing.Lock()
    seen = (answer, len(os.openpty()), os.getpgid(1), os.getsid(2), open("/proc/self/cgroup").read())
    return " ".join(map(str, seen))

def draw():
    import torch
    return torch.rand(()).item()
"""


@pytest.fixture(scope="module")
def bubblewrap() -> str:
    try:
        return find_bubblewrap()
    except SandboxUnavailable as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def template(bubblewrap: str) -> Iterator[Template]:
    made = Template(INTERPRETER, bubblewrap=bubblewrap)
    yield made
    made.end()


@pytest.fixture(scope="module")
def hiding(bubblewrap: str) -> Iterator[Template]:
    """A template as it is used: with folders that are hidden."""
    package = Path(sandbox.__file__).resolve().parents[1]
    made = Template(INTERPRETER, bubblewrap=bubblewrap, hidden=(package / "cli", package / "page"))
    yield made
    made.end()


@pytest.fixture
def forked(template: Template) -> Iterator[Callable[[], Sheet]]:
    workers: list[WorkerProcess] = []

    def fork() -> Sheet:
        workers.append(template.fork())
        return Sheet(workers[-1], SOURCE)

    yield fork
    for worker in workers:
        worker.end()


def test_forks_share_no_namespace_and_no_user(forked: Callable[[], Sheet]) -> None:
    first, second = forked(), forked()
    own = {os.readlink(f"/proc/self/ns/{name}") for name in ("pid", "mnt", "net", "ipc", "uts", "cgroup")}
    one, other = (set(sheet.ask("identity").split()) for sheet in (first, second))
    assert len(own | one | other) == 3 * len(own)
    if os.getuid() == 0:
        assert len({os.getuid(), first.ask("user"), second.ask("user")}) == 3


def test_what_one_fork_leaves_another_does_not_find(hiding: Template) -> None:
    workers = [hiding.fork(), hiding.fork()]
    first, second = (Sheet(worker, SOURCE) for worker in workers)
    assert first.ask("leave", "note") >= 1
    workers.append(hiding.fork())
    for sheet in (second, Sheet(workers[2], SOURCE)):
        assert sheet.ask("find", "note") == ""
    for worker in workers:
        worker.end()


def test_a_fork_has_around_it_what_a_worker_has_that_was_started_by_itself(
    forked: Callable[[], Sheet], bubblewrap: str
) -> None:
    started = start_untrusted(INTERPRETER, bubblewrap=bubblewrap)
    alone = Sheet(started, SOURCE).ask("surroundings").split()
    assert forked().ask("surroundings").split()[:2] == alone[:2]
    assert "kata" not in forked().ask("surroundings")
    started.end()


def test_forks_do_not_draw_the_same_random_numbers(forked: Callable[[], Sheet]) -> None:
    assert len({forked().ask("draw") for _ in range(3)}) == 3


def test_forks_do_not_hear_or_see_each_other(forked: Callable[[], Sheet]) -> None:
    first, second = forked(), forked()
    first.ask("listen", "door")
    assert second.ask("knock", "door") == "ConnectionRefusedError"
    assert second.ask("processes") < 20


def test_a_fork_cannot_end_the_first_process_of_its_namespace(forked: Callable[[], Sheet]) -> None:
    sheet = forked()
    sheet.ask("strike")
    assert sheet.ask("processes") < 20


@pytest.mark.parametrize("path", ["/proc/1/fd", "/proc/1/mem", "/proc/1/environ", "/proc/1/maps"])
def test_a_fork_cannot_look_into_the_first_process(forked: Callable[[], Sheet], path: str) -> None:
    assert forked().ask("describe", path) == "PermissionError"


def test_a_fork_that_stops_its_group_stops_nobody_else(template: Template) -> None:
    """A tracer's submission runs in the worker's own process."""
    worker = template.fork()
    Sheet(worker, SOURCE).send("stop_its_group")
    began = time.monotonic()
    worker.end()
    assert time.monotonic() - began < END_SECONDS / 2
    assert not worker.is_running
    worker.end()


def test_the_end_of_a_fork_ends_what_it_started_and_no_other_fork(template: Template) -> None:
    marker = f"kata-fork-{os.getpid()}"
    one, other = template.fork(), template.fork()
    sheet = Sheet(other, SOURCE)
    started = Sheet(one, SOURCE)
    started.send("stay", marker)
    wait_for(lambda: running(marker), "the child never started")
    one.end()
    assert not running(marker)
    assert not one.is_running
    assert sheet.ask("user") >= 0
    other.end()


def test_the_end_of_a_template_ends_its_forks(bubblewrap: str) -> None:
    made = Template(INTERPRETER, bubblewrap=bubblewrap)
    worker = made.fork()
    marker = f"kata-template-{os.getpid()}"
    Sheet(worker, SOURCE).send("stay", marker)
    wait_for(lambda: running(marker), "the child never started")
    made.end()
    assert not running(marker)
    assert not worker.is_running
    worker.end()
    with pytest.raises(TemplateFailed):
        made.fork()


def test_a_fork_ends_with_whoever_asked_for_it(template: Template) -> None:
    """The template may serve others. This one spins, and would not see that its pipe was closed."""
    marker = f"kata-asked-{os.getpid()}"
    line = TemplateLine(template.line._control.dup())
    worker = line.fork()
    Sheet(worker, SPIN).send("spin", marker)
    wait_for(lambda: running(marker), "the child never started")
    worker._process._line.shutdown(socket.SHUT_RDWR)  # type: ignore[attr-defined]
    line.end()
    wait_for(lambda: not running(marker), "it went on", seconds=20)
    worker.end()
    assert template.is_running
    template.fork().end()


def test_killing_the_controller_ends_template_and_forks(bubblewrap: str, tmp_path: Path) -> None:
    marker = f"kata-killed-{os.getpid()}"
    (tmp_path / "sheet.txt").write_text(SOURCE)
    (tmp_path / "marker.txt").write_text(marker)
    code = (
        "import sys, time; sys.path.insert(0, sys.argv[1])\n"
        "from sheets import Sheet\n"
        "from tritonkata.boundary.template import Template\n"
        "worker = Template('tritonkata.worker.interpreter', bubblewrap=sys.argv[2]).fork()\n"
        "Sheet(worker, open(sys.argv[3]).read()).send('stay', open(sys.argv[4]).read())\n"
        "print('started', flush=True); time.sleep(600)"
    )
    support = Path(__file__).resolve().parents[1] / "support"
    # The marker stands in the command line of the fork's child alone.
    arguments = [str(support), bubblewrap, str(tmp_path / "sheet.txt"), str(tmp_path / "marker.txt")]
    with subprocess.Popen([sys.executable, "-c", code, *arguments], stdout=subprocess.PIPE, text=True) as controller:
        assert controller.stdout is not None
        assert controller.stdout.readline() == "started\n"
        wait_for(lambda: running(marker), "the child never started")
        os.kill(controller.pid, signal.SIGKILL)
    wait_for(lambda: not running(marker), "a fork outlived the controller")


@pytest.mark.skipif(os.getuid() == 0, reason="root may start any number of processes")
def test_a_template_that_may_start_no_process_says_so_and_goes_on(bubblewrap: str) -> None:
    made = Template(INTERPRETER, bubblewrap=bubblewrap)
    worker = made.fork()
    sheet = Sheet(worker, SOURCE)
    own = parent(worker.pid)
    _, hard = resource.prlimit(own, resource.RLIMIT_NPROC)
    resource.prlimit(own, resource.RLIMIT_NPROC, (1, hard))
    with pytest.raises(TemplateFailed, match="refused"):
        made.fork()
    assert sheet.ask("user") == os.getuid()
    resource.prlimit(own, resource.RLIMIT_NPROC, (hard, hard))
    made.fork().end()
    worker.end()
    made.end()


def test_a_fork_that_ended_says_how(template: Template) -> None:
    worker = template.fork()
    worker.channel.close()
    wait_for(lambda: worker.exit_code is not None, "it never ended")
    assert worker.exit_code == 0, worker.output()
    worker.end()


def test_a_tracer_is_forked_too(bubblewrap: str) -> None:
    """What it prints is read, and what it leaves undone is no harm to the next."""
    made = Template(TRACER, bubblewrap=bubblewrap)
    for _ in range(2):
        worker = made.fork()
        assert isinstance(worker.channel.receive(TracerReply, seconds=60).message, Ready)
        worker.end()
    made.end()


@pytest.mark.parametrize("call", ["os.pidfd_open", "tritonkata.boundary.template.make_group"])
def test_what_fails_while_a_fork_comes_up_is_told_and_leaks_nothing(
    template: Template, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    def refused(*_: object) -> None:
        raise OSError(errno.ENOSYS, "not here")

    template.fork().end()
    before = len(os.listdir("/proc/self/fd"))
    with monkeypatch.context() as patch:
        patch.setattr(call, refused)
        with pytest.raises(OSError if call.endswith("group") else TemplateFailed):
            template.fork()
    assert len(os.listdir("/proc/self/fd")) == before
    template.fork().end()


def test_without_descriptors_there_is_no_fork_and_none_is_lost(template: Template) -> None:
    before = len(os.listdir("/proc/self/fd"))
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    for room in range(6):
        resource.setrlimit(resource.RLIMIT_NOFILE, (before + room, hard))
        try:
            with pytest.raises((OSError, TemplateFailed)):
                template.fork()
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        assert len(os.listdir("/proc/self/fd")) == before
    template.fork().end()


def test_a_fork_is_in_a_control_group_that_goes_with_it(template: Template) -> None:
    group = make_group()
    if group is None:
        pytest.skip("no control groups can be made here")
    group.end()
    worker = template.fork()
    path = worker._group.path  # type: ignore[union-attr]
    assert str(worker.pid) in (path / "cgroup.procs").read_text().split()
    assert len((path / "cgroup.procs").read_text().split()) >= 3
    worker.end()
    assert not path.exists()


@pytest.mark.parametrize("refused", ["CAP_SYS_ADMIN", "CAP_SETPCAP", "CAP_SETUID", "CAP_NET_ADMIN"])
def test_where_a_step_is_refused_there_is_no_fork_and_workers_are_started(
    bubblewrap: str, monkeypatch: pytest.MonkeyPatch, refused: str
) -> None:
    if os.getuid() != 0:
        pytest.skip("without root the template needs no capability")
    options = sandbox.bubblewrap_arguments

    def without(*words: object, **settings: object) -> list[str]:
        made = options(*words, **settings)  # type: ignore[arg-type]
        if settings.get("forks"):
            place = made.index(refused)
            del made[place - 1 : place + 1]
        return made

    monkeypatch.setattr("tritonkata.boundary.process.bubblewrap_arguments", without)
    made = Template(INTERPRETER, bubblewrap=bubblewrap)
    with pytest.raises(TemplateFailed):
        made.fork()
    made.end()
    stock = Stock(ahead=1)
    worker = stock.take(INTERPRETER, bubblewrap, ())
    assert Sheet(worker, SOURCE).ask("user") >= 0
    assert stock.why_not_forked
    worker.end()
    stock.close()
