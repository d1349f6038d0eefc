"""The sandbox as a submission sees it, in a worker that was started by itself and in a fork of a template.

Real bubblewrap; each test looks from inside.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from processes import running, wait_for
from sheets import Sheet

from tritonkata.boundary import process as processes
from tritonkata.boundary.child import Spawned
from tritonkata.boundary.sandbox import SandboxUnavailable, bubblewrap_arguments, find_bubblewrap
from tritonkata.boundary.template import Template
from tritonkata.courses import built_in_root
from tritonkata.engine.stock import INTERPRETER

PRELUDE = """
import json, os, sys
def attempt(f):
    try: return repr(f())
    except BaseException as e: return type(e).__name__
"""
ANSWER = """
import contextlib, io, zlib
def answer():
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        exec(CODE, globals())
    return tuple(zlib.compress(text.getvalue().encode()))
"""


def bubblewrap() -> str:
    try:
        return find_bubblewrap()
    except SandboxUnavailable as error:
        pytest.skip(str(error))


class Started:
    """Processes that were started by themselves."""

    def __call__(self, code: str, hidden: tuple[Path, ...] = ()) -> Any:
        """What `code` prints as JSON, run in the sandbox after a worker's first steps."""
        steps = (
            "import sys; sys.argv = ['worker', '0', '1']\nfrom tritonkata.worker import bootstrap; bootstrap.enter()\n"
        )
        command = [
            bubblewrap(),
            *bubblewrap_arguments(hidden),
            "--",
            sys.executable,
            "-s",
            "-c",
            steps + PRELUDE + code,
        ]
        done = subprocess.run(command, env={}, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def end(self) -> None:
        """Nothing is kept."""


class Forks:
    """Forks of templates, which are kept."""

    def __init__(self) -> None:
        self._templates: dict[tuple[Path, ...], Template] = {}

    def __call__(self, code: str, hidden: tuple[Path, ...] = ()) -> Any:
        """What `code` prints as JSON, run as a submission in a fork of a template."""
        if hidden not in self._templates:
            self._templates[hidden] = Template(INTERPRETER, bubblewrap=bubblewrap(), hidden=hidden)
        worker = self._templates[hidden].fork()
        try:
            answer = Sheet(worker, PRELUDE + ANSWER + f"CODE = {code!r}\n").ask("answer")
            return json.loads(zlib.decompress(bytes(answer)))
        finally:
            worker.end()

    def end(self) -> None:
        """End the templates."""
        for template in self._templates.values():
            template.end()


Inside = Callable[..., Any]


@pytest.fixture(scope="module", params=[Started, Forks])
def inside(request: pytest.FixtureRequest) -> Iterator[Inside]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GRADER_SECRET", "tulip")
        way = request.param()
        yield way
        way.end()


def test_the_worker_is_not_root_and_has_no_capability(inside: Inside) -> None:
    seen = inside("print(json.dumps([os.getuid(), os.getgid(), open('/proc/self/status').read()]))")
    status = dict(line.split(":\t", 1) for line in seen[2].splitlines() if ":\t" in line)
    assert seen[0] != 0 or os.getuid() != 0
    assert int(status["CapEff"], 16) == 0
    assert int(status["CapPrm"], 16) == 0
    assert status["NoNewPrivs"] == "1"


def test_nothing_of_the_graders_environment_is_visible(inside: Inside) -> None:
    seen = inside(
        "files = [f'/proc/{p}/{n}' for p in os.listdir('/proc') if p.isdigit() for n in ('environ', 'cmdline')]\n"
        "print(json.dumps([dict(os.environ), [attempt(lambda f=f: open(f, 'rb').read()) for f in files]]))"
    )
    assert "tulip" not in json.dumps(seen)


def test_the_course_cannot_be_read_even_where_it_lies_in_a_visible_folder(inside: Inside) -> None:
    root = built_in_root()
    folders = tuple(root / name for name in ("katas", "reference", "skeletons"))
    seen = inside(
        f"found = []\nfor top in {[str(folder) for folder in folders]!r}:\n"
        "    for base, _, names in os.walk(top): found += names\n"
        "print(json.dumps(found))",
        folders,
    )
    assert seen == []
    package = Path(processes.__file__).parents[1]
    masked = inside(f"print(json.dumps(os.listdir({str(package / 'cli')!r})))", (package / "cli",))
    assert masked == []


def test_there_is_no_network_and_no_device(inside: Inside) -> None:
    seen = inside(
        "import socket\n"
        "print(json.dumps([attempt(lambda: socket.create_connection(('127.0.0.1', 22), 1)), os.listdir('/dev'),"
        " os.listdir('/sys') if os.path.exists('/sys') else []]))"
    )
    assert seen[0] in ("ConnectionRefusedError", "OSError")
    assert not [name for name in seen[1] if name.startswith(("nvidia", "sd", "vd", "kvm", "mem"))]
    assert seen[2] == []


def test_the_system_is_read_only_and_tmp_is_bounded(inside: Inside) -> None:
    package = str(Path(processes.__file__).parents[1])
    seen = inside(
        f"places = ['/usr/x', '/etc/x', '/x', {package!r} + '/x', sys.prefix + '/x']\n"
        "writes = [attempt(lambda p=p: open(p, 'w')) for p in places]\n"
        "def fill():\n"
        "    for n in range(20):\n"
        "        with open(f'/tmp/{n}', 'wb') as f: f.write(bytes(200 << 20))\n"
        "print(json.dumps([writes, attempt(fill)]))"
    )
    assert all(answer in ("OSError", "PermissionError", "FileNotFoundError") for answer in seen[0])
    assert seen[1] == "OSError"


def test_processes_are_limited(inside: Inside) -> None:
    seen = inside(
        "import time\ncount = 0\ntry:\n"
        "    while count < 1000:\n"
        "        if os.fork() == 0: time.sleep(30); os._exit(0)\n"
        "        count += 1\n"
        "except OSError: pass\n"
        "print(json.dumps(count)); sys.stdout.flush(); os._exit(0) if sys.argv[0] == 'worker' else None"
    )
    assert seen < 300


def test_ending_a_worker_ends_everything_it_started() -> None:
    marker = f"kata-survivor-{os.getpid()}"
    code = (
        "import os, sys, time\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        f"    os.execv(sys.executable, [sys.executable, '-c', 'import time; time.sleep(600)', {marker!r}])\n"
        "time.sleep(600)"
    )
    command = [bubblewrap(), *bubblewrap_arguments(), "--", sys.executable, "-s", "-c", code]
    read_fd, write_fd = os.pipe()
    worker = processes.WorkerProcess(Spawned(command, {}, (), None), processes.Channel(read_fd, write_fd))
    wait_for(lambda: running(marker), "the child never started")
    worker.end()
    assert not running(marker)


def test_without_a_sandbox_a_killed_worker_leaves_no_files() -> None:
    """The folder that it was given for temporary files goes with it."""
    before = {path.name for path in Path(tempfile.gettempdir()).glob("kata-worker-*")}
    worker = processes.start_untrusted("tritonkata.worker.interpreter", bubblewrap=None)
    assert {path.name for path in Path(tempfile.gettempdir()).glob("kata-worker-*")} - before
    worker.end()
    assert {path.name for path in Path(tempfile.gettempdir()).glob("kata-worker-*")} <= before


def test_a_fork_bomb_in_one_sandbox_does_not_keep_another_from_starting_processes(inside: Inside) -> None:
    bomb = (
        "import os, sys, time; sys.argv = ['worker', '0', '1']\n"
        "from tritonkata.worker import bootstrap; bootstrap.enter()\n"
        "try:\n"
        "    while True:\n"
        "        if os.fork() == 0: time.sleep(600); os._exit(0)\n"
        "except OSError: print('full', flush=True); time.sleep(600)\n"
    )
    command = [bubblewrap(), *bubblewrap_arguments(), "--", sys.executable, "-s", "-c", bomb]
    with subprocess.Popen(command, env={}, stdout=subprocess.PIPE, start_new_session=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"full\n"
        try:
            seen = inside("import subprocess\nprint(json.dumps(subprocess.run(['/bin/true']).returncode))")
        finally:
            child.kill()
    assert seen == 0


def test_when_memory_runs_out_a_worker_goes_before_the_grader(inside: Inside) -> None:
    assert inside("print(json.dumps(open('/proc/self/oom_score_adj').read().strip()))") == "1000"


def test_a_worker_finds_the_same_version_of_a_package_as_the_grader(tmp_path: Path) -> None:
    """A package on PYTHONPATH goes before the installed one, in the sandbox too."""
    (tmp_path / "triton").mkdir()
    (tmp_path / "triton" / "__init__.py").write_text("__version__ = 'from the path'\n")
    code = (
        "import subprocess, sys\n"
        "from tritonkata.boundary.sandbox import bubblewrap_arguments\n"
        "inner = [sys.executable, '-s', '-c', 'import triton; print(triton.__version__)']\n"
        f"command = [{bubblewrap()!r}, *bubblewrap_arguments(), '--', *inner]\n"
        "print(subprocess.run(command, env={}, capture_output=True, text=True).stdout)\n"
    )
    path = os.pathsep.join([str(tmp_path), str(Path(processes.__file__).parents[2])])
    environment = {**os.environ, "PYTHONPATH": path}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "from the path"
