"""Compiles source code from standard input, and prints as JSON why it cannot be; run as a script, by path.

Compiling runs nothing, but nested `finally` blocks double the code at each level, and deep nesting can end the
process: so it is done in a process of its own, with little time and memory, and never in the grader's.
"""

from __future__ import annotations

import json
import resource
import sys
import warnings

CPU_SECONDS = 5
MEMORY_BYTES = 2 << 30


def main() -> None:
    """Read, compile, tell."""
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    source = sys.stdin.buffer.read()
    found: dict[str, object] = {}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(source, sys.argv[1], "exec", dont_inherit=True)
    except SyntaxError as error:
        found = {"error": type(error).__name__, "message": error.msg, "line": error.lineno, "syntax": True}
    except (ValueError, OverflowError, RecursionError, MemoryError) as error:
        found = {"error": type(error).__name__, "message": str(error), "line": None, "syntax": False}
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main()
