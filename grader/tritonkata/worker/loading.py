"""Import a submission, and turn what it raises into a `Fault`.

Shared by the workers that run a submission's Python. Nothing here needs torch
or Triton: their errors are recognised by name, so this module imports in a few
milliseconds and works on every release.
"""

from __future__ import annotations

import importlib.util
import re
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import msgspec

from tritonkata.boundary.messages import Load
from tritonkata.model.faults import Fault, Phase
from tritonkata.worker.compiling import chained_assignment, compilation_fault, foreign_function
from tritonkata.worker.launch_mistakes import launch_fault
from tritonkata.worker.wording import kind_of, missing_import, one_line, shortage, text_of

MODULE_NAME = "submission"

# Triton wraps what goes wrong inside a kernel in these; the cause is what helps.
_WRAPPERS = frozenset({"InterpreterError"})
_COMPILATION_ERRORS = frozenset({"CompilationError", "CompileTimeAssertionFailure", "UnsupportedLanguageConstruct"})


class SubmissionFault(Exception):
    """The submission did something that ends the request; `fault` says what."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.message)
        self.fault = fault


def safe_filename(name: str) -> str:
    """The last component of `name` as a plain file name that ends in `.py`."""
    stem = re.sub(r"[^A-Za-z0-9_.-]", "_", Path(name.replace("\\", "/")).name).lstrip(".-")
    stem = stem.removesuffix(".py")[:80] or MODULE_NAME
    return f"{stem}.py"


def load_submission(load: Load, folder: Path) -> ModuleType:
    """Write the source into `folder`, import it as the module `submission`, and check its entry points.

    The module's name is never `__main__`, so a self-test under that guard does
    not run. It is registered in `sys.modules`, where dataclasses look for it.

    Raises:
        SubmissionFault: the file cannot be imported, or lacks an entry point.
    """
    path = folder / safe_filename(load.filename)
    path.write_bytes(load.source)
    module = _import(path)
    for name in load.entry_points:
        _check_entry_point(module, name)
    return module


def _import(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(MODULE_NAME, path)
    if spec is None or spec.loader is None:
        raise RuntimeError(f"{path} cannot be imported as a module")
    module = importlib.util.module_from_spec(spec)
    sys.modules[MODULE_NAME] = module
    sys.dont_write_bytecode = True
    try:
        spec.loader.exec_module(module)
    except BaseException as error:
        raise SubmissionFault(fault_of(error, path, "load")) from error
    return module


def _check_entry_point(module: ModuleType, name: str) -> None:
    value = getattr(module, name, None)
    if value is None:
        message = f"the file defines no function {name}"
        advice = f"Define `def {name}(...)` at the top level of the file."
    elif hasattr(value, "fn") and hasattr(value, "run"):
        message = f"{name} is a kernel, and the entry point must be a plain Python function"
        advice = f"Rename the kernel, and let `def {name}(...)` allocate the result and launch it."
    elif not callable(value):
        message = f"{name} is {kind_of(value)}, and the entry point must be a function"
        advice = f"Define `def {name}(...)` at the top level of the file."
    else:
        return
    raise SubmissionFault(Fault("runtime_error", "load", message, advice=advice))


def fault_of(error: BaseException, path: Path, phase: Phase) -> Fault:
    """What `error` says about the submission at `path`, with the last of its own lines involved.

    Causes are followed, so an error that a library wrapped keeps its own name and message.
    """
    chain = list(_chain(error))
    line = _last_line(chain, path)
    for link in chain:
        if isinstance(link, SubmissionFault):
            return link.fault if link.fault.line is not None else _with_line(link.fault, line)
        if type(link).__name__ == "HostOpRefused":
            return _refused(link, phase, line)
    compiling = [link for link in reversed(chain) if type(link).__name__ in _COMPILATION_ERRORS]
    if compiling:
        return compilation_fault(compiling, path, MODULE_NAME, line)
    cause = _telling(chain)
    told = chained_assignment(cause, path) or foreign_function(cause, path) or launch_fault(cause, path, phase, line)
    if told is not None:
        return told
    if isinstance(cause, SyntaxError):
        message = cause.msg or "invalid syntax"
        own = cause.filename is None or Path(cause.filename) == path
        return Fault("compile_error", phase, one_line(message), type(cause).__name__, cause.lineno if own else line)
    message, advice = _explain(cause, phase)
    return Fault("runtime_error", phase, one_line(message), one_line(type(cause).__name__)[:200], line, advice=advice)


def _chain(error: BaseException) -> Iterator[BaseException]:
    """`error` and its causes, outermost first."""
    seen: set[int] = set()
    link: BaseException | None = error
    while link is not None and id(link) not in seen and len(seen) < 64:
        seen.add(id(link))
        yield link
        link = link.__cause__ or (None if link.__suppress_context__ else link.__context__)


def _last_line(chain: list[BaseException], path: Path) -> int | None:
    """The last frame in the submission's file of the innermost error that has one."""
    for link in reversed(chain):
        frames = traceback.walk_tb(link.__traceback__)
        own = [line for frame, line in frames if frame.f_code.co_filename == str(path)]
        if own:
            return own[-1]
    return None


def _telling(chain: list[BaseException]) -> BaseException:
    for link in chain:
        if type(link).__name__ not in _WRAPPERS:
            return link
    return chain[-1]


def _explain(error: BaseException, phase: Phase) -> tuple[str, str]:
    """A message and an advice."""
    if isinstance(error, SystemExit):
        when = "when it is imported" if phase == "load" else "while it runs"
        return f"the file calls sys.exit {when}", "Remove the call, or move it under `if __name__ == '__main__':`."
    if isinstance(error, KeyboardInterrupt):
        return "the file raises it itself", "Raise a ValueError that says what is wrong, or nothing."
    if isinstance(error, ModuleNotFoundError) and error.name:
        message = f"the file imports {error.name}, which is not installed here"
        return message, "Use torch, triton and the standard library."
    if isinstance(error, NameError) and missing_import(str(error.name)):
        return text_of(error), missing_import(str(error.name))
    if isinstance(error, MemoryError):
        return text_of(error) or "the machine's memory limit was reached", "Allocate less on the host."
    if isinstance(error, OSError) and any(shortage(error)):
        return shortage(error)
    return text_of(error) or _silent(error), ""


def _silent(error: BaseException) -> str:
    """For an error without a message."""
    if isinstance(error, AssertionError):
        return "the assertion does not hold"
    return f"{type(error).__name__} is raised, and says nothing more"


def _refused(error: BaseException, phase: Phase, line: int | None) -> Fault:
    operation = str(getattr(error, "operation", ""))[:200]
    advice = str(getattr(error, "advice", ""))[:2000]
    return Fault("forbidden_host_op", phase, one_line(text_of(error)), "", line, operation, advice)


def _with_line(fault: Fault, line: int | None) -> Fault:
    return msgspec.structs.replace(fault, line=line)
