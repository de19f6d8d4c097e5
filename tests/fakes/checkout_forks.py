"""Services of another checkout, forked from a process that has imported them there.

`python -m tests.fakes.checkout_forks SOCKET`, with that checkout before this one in PYTHONPATH,
forks for whoever connects to the socket.
"""

from __future__ import annotations

import os
import sys
import threading
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from multiprocessing.managers import BaseManager, BaseProxy
from pathlib import Path
from typing import Any

from tests.fakes.process_forks import Forked
from tests.fakes.sources import ROOT, python_path
from tests.servers.process import ServerProcess

_KEY = b"tests"
# Threads of a test start services concurrently.
_ONE_AT_A_TIME = threading.Lock()


class _Process(BaseProxy):
    """A Forked of the other process."""

    _exposed_ = ("__getattribute__", "kill", "poll", "terminate", "wait")

    @property
    def pid(self) -> Any:
        return self._callmethod("__getattribute__", ("pid",))

    def poll(self) -> Any:
        return self._callmethod("poll")

    def wait(self, timeout: float | None = None) -> Any:
        return self._callmethod("wait", (timeout,))

    def terminate(self) -> None:
        self._callmethod("terminate")

    def kill(self) -> None:
        self._callmethod("kill")


class _Forks(BaseManager):
    """Whoever connects starts processes by `forked`."""

    process: ServerProcess


_Forks.register("forked", Forked, _Process)


@cache
def _forks(tree: Path) -> Any:
    """The process that has imported a checkout. It ends with this process."""
    socket, path = str(tree / "forks"), os.pathsep.join((python_path(tree), str(ROOT)))
    manager = _Forks(socket, _KEY)

    def listens() -> bool:
        with suppress(FileNotFoundError, ConnectionRefusedError):
            manager.connect()
            return True
        return False

    environment = {"PYTHONPATH": path, "PYTHONSAFEPATH": "1"}
    command = [sys.executable, "-m", __name__, socket]
    # Kept with what connects to it: a process that nobody holds is a warning.
    manager.process = ServerProcess("forks", command, tree / "forks.log", listens, environment)
    manager.process.start()
    return manager


@dataclass
class CheckoutServer(ServerProcess):
    """A server whose `command` is the name of a module of the checkout `tree`."""

    tree: Path = ROOT

    def _begun(self) -> Any:
        (module,), written = self.command, (self.log, self.log)
        with _ONE_AT_A_TIME:
            forks = _forks(self.tree)
        return forks.forked(module, [], self.variables(), Path.cwd(), written)


if __name__ == "__main__":
    _Forks(sys.argv[1], _KEY).get_server().serve_forever()
