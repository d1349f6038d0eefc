"""`python -m tritonkata.launcher READ_FD WRITE_FD [DEVICE_INDEX]`, or `--probe`.

The protocol runs over the two descriptors; standard output belongs to what kernels print.
"""

from __future__ import annotations

import json
import sys

_USAGE = "usage: python -m tritonkata.launcher READ_FD WRITE_FD [DEVICE_INDEX] | --probe"


def main(arguments: list[str]) -> int:
    """Serve or probe; the exit code (2 for wrong usage)."""
    if arguments == ["--probe"]:
        from tritonkata.launcher.probe import probe

        answer = probe()
        print(json.dumps(answer))
        return 1 if "error" in answer else 0
    if len(arguments) not in (2, 3) or not all(argument.isdecimal() for argument in arguments):
        print(_USAGE, file=sys.stderr)
        return 2
    from tritonkata.boundary.channel import Channel
    from tritonkata.launcher.serve import serve

    read_fd, write_fd, *rest = map(int, arguments)
    return serve(Channel(read_fd, write_fd), rest[0] if rest else 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
