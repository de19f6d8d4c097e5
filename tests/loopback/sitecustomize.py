"""No connection leaves this machine, neither from the tests nor from a Python that they start.

Python imports a module of this name when it starts, wherever PYTHONPATH leads to it
(`tests.fakes.sources`); tests/conftest.py imports it for its own process. What is tried is refused
like an address without a network, and noted in the file that `TEST_CALLS_OUT` names: libraries
swallow errors of what they ask for nobody's sake, so the note is what fails the test.

It sees what goes through Python's sockets, not what libuv, gRPC's core or another language opens.
"""

from __future__ import annotations

import errno
import os
import socket
import sys

NOTES = "TEST_CALLS_OUT"
_INTERNET = (socket.AF_INET, socket.AF_INET6)
# "" and None are any address of this machine, as are the two of zeros for those who connect.
_OURS = {"", "localhost", "0.0.0.0", "::", "::1", socket.gethostname()}  # noqa: S104 - not bound
# Kept for tests and documents (RFC 2606): nobody is there, so asking for them is no harm.
_NOBODY = (".invalid", ".test", ".example")


def _refuse(event: str, arguments: tuple[object, ...]) -> None:
    if event == "socket.getaddrinfo":
        host: object = arguments[0]
    elif event in {"socket.connect", "socket.sendto", "socket.sendmsg"}:
        opened, address = arguments
        if not (isinstance(opened, socket.socket) and opened.family in _INTERNET):
            return
        host = address[0] if isinstance(address, tuple) else None
    else:
        return
    name = host.decode("ascii", "replace") if isinstance(host, bytes) else host
    if name is None or not isinstance(name, str) or name in _OURS:
        return
    if name.startswith(("127.", "::ffff:127.")) or name.endswith(".localhost"):
        return
    if name.endswith(_NOBODY):
        raise socket.gaierror(socket.EAI_NONAME, f"nobody has the name {name}")
    if notes := os.environ.get(NOTES):
        with open(notes, "a", encoding="utf-8") as file:  # noqa: PTH123 - pathlib is slow to import
            file.write(f"{os.getpid()} {' '.join(sys.argv)[:200]}: {event} {name}\n")
    raise OSError(errno.ENETUNREACH, f"tests may not call beyond this machine: {name}")


sys.addaudithook(_refuse)
