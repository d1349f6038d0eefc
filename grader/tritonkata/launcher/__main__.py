"""`python -m tritonkata.launcher READ_FD WRITE_FD [DEVICE]`, `... --listen SOCKET_FD OWNER DEVICE`, or `... --probe`.

The protocol runs over the two descriptors, or over connections to the socket until the process `OWNER` ends.
Standard output belongs to what kernels print.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tritonkata.boundary.channel import Channel

EXIT_NO_BINDINGS = 1
_USAGE = (
    "usage: python -m tritonkata.launcher READ_FD WRITE_FD [DEVICE_INDEX]"
    " | --listen SOCKET_FD OWNER DEVICE_INDEX | --probe"
)


def main(arguments: list[str]) -> int:
    """Serve or probe; the exit code (2 for wrong usage)."""
    if arguments == ["--probe"]:
        from tritonkata.launcher.probe import probe

        answer = probe()
        print(json.dumps(answer))
        return 1 if "error" in answer else 0
    if len(arguments) == 4 and arguments[0] == "--listen" and all(word.isdecimal() for word in arguments[1:]):
        return _listen(*map(int, arguments[1:]))
    if len(arguments) not in (2, 3) or not all(argument.isdecimal() for argument in arguments):
        print(_USAGE, file=sys.stderr)
        return 2
    from tritonkata.boundary.channel import Channel

    read_fd, write_fd, *rest = map(int, arguments)
    channel = Channel(read_fd, write_fd)
    try:
        from tritonkata.launcher.serve import serve
    except ImportError as error:
        _say_what_is_missing(channel, error)
        return EXIT_NO_BINDINGS
    return serve(channel, rest[0] if rest else 0)


def _listen(descriptor: int, owner: int, device_index: int) -> int:
    import socket

    from tritonkata.boundary.socket_channel import SocketChannel

    with socket.socket(fileno=descriptor) as listener:
        try:
            from tritonkata.launcher.listening import listen
        except ImportError as error:
            connection, _ = listener.accept()
            _say_what_is_missing(SocketChannel(connection), error)
            return EXIT_NO_BINDINGS
        return listen(listener, owner, device_index)


def _say_what_is_missing(channel: Channel, error: ImportError) -> None:
    from tritonkata.boundary.messages import Failed
    from tritonkata.model.faults import Fault

    message = f"the CUDA bindings cannot be imported ({error}); install them: python -m pip install 'tritonkata[gpu]'"
    channel.send(Failed(Fault("grader_error", "load", message)))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
