"""What Triton's compiler says against a kernel, in a learner's words and with the learner's line."""

from __future__ import annotations

import ast
import re
import traceback
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

from tritonkata.model.faults import Fault
from tritonkata.worker.launch_mistakes import JIT_MISSING
from tritonkata.worker.source import functions_of, nodes_of
from tritonkata.worker.wording import missing_import, one_line, text_of

_CHAINED = "Simultaneous multiple assignment"
_OF_TRITON = "Write tl.{}, if Triton has it, or compute it from what triton.language has."
_FOREIGN = "Unsupported function referenced"


def compilation_fault(errors: Sequence[BaseException], path: Path, module: str, line: int | None) -> Fault:
    """The fault for the compiler's own errors, the innermost first, which says most.

    That one may lie in a function of Triton's; `line` is what is known without looking at any.
    """
    error = errors[0]
    inner = error.__cause__
    told = getattr(error, "error_message", None) or (text_of(inner) if inner is not None else "") or text_of(error)
    message, advice = _explained(one_line(str(told)) or "the kernel does not compile", path, module)
    advice = advice or _advice_on_arange(message, getattr(error, "node", None))
    line = next((found for one in errors if (found := _line_of_node(one, path)) is not None), line)
    return Fault("compile_error", "compile", message, type(error).__name__, line, advice=advice)


def _explained(message: str, path: Path, module: str) -> tuple[str, str]:
    """A message of the compiler in a learner's words, and what to do; as it is, and nothing, where it says enough."""
    recursive = _recursive(message, path, module)
    if recursive:
        told = f"{recursive} calls itself, directly or through another function, and kernels cannot"
        return told, "Write the recursion as a loop."
    absent = re.match(r"NameError\(.(\w+) is not defined", message)
    if absent is not None and missing_import(absent[1]):
        return f"name '{absent[1]}' is not defined", missing_import(absent[1])
    plain = re.search(r"Cannot access global variable (\w+)", message)
    if plain is not None and plain[1] in functions_of(path):
        return _foreign_words(plain[1]), JIT_MISSING.format(plain[1])
    torchs = re.match(r"TypeError\(.(\w+)\(\): .* must be Tensor, not tensor", message)
    if torchs is not None:
        return _foreign_words(f"torch.{torchs[1]}"), _OF_TRITON.format(torchs[1])
    return message, ""


def _advice_on_arange(message: str, node: object) -> str:
    """What to do about the arguments of a `tl.arange`, which mostly come from elsewhere than its line."""
    if not message.startswith("arange's "):
        return ""
    arguments = [*node.args, *(keyword.value for keyword in node.keywords)] if isinstance(node, ast.Call) else []
    names = [argument.id for argument in arguments if isinstance(argument, ast.Name)]
    if "constexpr" in message:
        written = one_line(" and ".join(f"`{name}: tl.constexpr`" for name in names)) or "`NAME: tl.constexpr`"
        return f"Write {written} in the kernel's signature: the compiler must know the number of lanes."
    if "power of 2" in message and names:
        return (
            f"Look at the launch, which gives `{one_line(names[-1])}` its value: "
            "round it up with `triton.next_power_of_2(n)`, and mask the lanes past the end."
        )
    return "Write a power of two here, and mask the lanes past the end." if "power of 2" in message else ""


def chained_assignment(error: BaseException, path: Path) -> Fault | None:
    """The fault for `a = b = value` in a kernel, which the compiler does not know; None for another error."""
    if not (isinstance(error, TypeError) and text_of(error).startswith(_CHAINED)):
        return None
    nodes = [frame.f_locals.get("node") for frame, _ in traceback.walk_tb(error.__traceback__)]
    wanted = {ast.dump(node) for node in nodes if isinstance(node, ast.Assign)}
    node = next((node for node in nodes_of(path, ast.Assign) if ast.dump(node) in wanted), None)
    parts = [] if node is None else [f"`{ast.unparse(target)} = {ast.unparse(node.value)}`" for target in node.targets]
    advice = one_line(f"Write one assignment a line: {', then '.join(parts)}" if parts else "Write two lines.")
    message = "a kernel cannot assign to several names at once, as in `a = b = 0.0`"
    return Fault("compile_error", "compile", message, line=None if node is None else node.lineno, advice=advice)


def foreign_function(error: BaseException, path: Path) -> Fault | None:
    """The fault for a call of something that is no function of Triton's; None for another error."""
    if not (isinstance(error, RuntimeError) and text_of(error).startswith(_FOREIGN)):
        return None
    places = [frame.f_locals for frame, _ in traceback.walk_tb(error.__traceback__)]
    nodes = [place.get("node") for place in places]
    wanted = {ast.unparse(node) for node in nodes if isinstance(node, (ast.Attribute, ast.Name))}
    # What looks through a kernel ahead of the compiler knows its name.
    names = {str(getattr(place.get("self"), "name", "")).rpartition(".")[2] for place in places}
    kernels = [node for node in nodes_of(path, ast.FunctionDef) if node.name in names]
    inside = [node for kernel in kernels for node in ast.walk(kernel) if isinstance(node, ast.Call)]
    calls = [node for node in inside if ast.unparse(node.func) in wanted]
    name = one_line(ast.unparse(calls[0].func)) if calls else "a function"
    own = name in functions_of(path)
    advice = JIT_MISSING.format(name) if own else _OF_TRITON.format(name.rpartition(".")[2])
    line = calls[0].lineno if calls else None
    return Fault("compile_error", "compile", _foreign_words(name), line=line, advice=advice)


def _foreign_words(name: str) -> str:
    return f"a kernel cannot call {name}: it is neither in triton.language nor has it @triton.jit"


def line_being_compiled(frame: FrameType, path: str) -> int | None:
    """The line of the file at `path` that a frame of Triton's code generator is at, if it is such a frame."""
    generator = frame.f_locals.get("self") if frame.f_code.co_name == "visit" else None
    number = getattr(getattr(generator, "cur_node", None), "lineno", None)
    first = getattr(generator, "begin_line", None)
    if getattr(generator, "file_name", None) != path or not isinstance(number, int) or not isinstance(first, int):
        return None
    return first + number


def _recursive(message: str, path: Path, module: str) -> str:
    """The file's function whose mangled name the compiler did not find, as happens while it is still being made."""
    key = re.match(rf"KeyError\('{re.escape(module)}\.([^']*)'\)", message)
    if key is None:
        return ""
    fitting = [name for name in functions_of(path) if key[1].rpartition(">.")[2].startswith(f"{name}__")]
    return max(fitting, key=len, default="")


def _line_of_node(error: BaseException, path: Path) -> int | None:
    """The line of the file that a compilation error points at.

    The error counts lines from the kernel's `def`, so the kernel is looked up in the file.
    """
    source, number = getattr(error, "src", None), getattr(getattr(error, "node", None), "lineno", None)
    if not isinstance(source, str) or not isinstance(number, int):
        return None
    kernel = [line.strip() for line in source.splitlines()]
    file = [line.strip() for line in path.read_text("utf-8-sig", "replace").splitlines()]
    while kernel and not kernel[-1]:
        kernel.pop()
    for start in range(len(file) - len(kernel) + 1):
        if file[start : start + len(kernel)] == kernel:
            return start + number
    return None
