"""A server process of a test: started on loopback, its output in a file, ended by its pid."""

from __future__ import annotations

import atexit
import http.client
import os
import secrets
import signal
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import IO, ClassVar

STARTS_WITHIN = 60.0
ENDS_WITHIN = 30.0
ENVIRONMENT = threading.Lock()
"""Held while this process's environment is changed for a moment, and while it is copied."""

# Below those that Linux and macOS give to whoever asks for any port, and to clients.
_ALL = range(15000, 32000)
# Every process of tests has its own part of them, and gives none of it twice.
_PLACE = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
_OURS = _ALL[_PLACE % 8 :: 8]
_GIVEN: set[int] = set()
_LOCK = threading.Lock()
_GUARD = """
left=' '
while read -r sign pid; do
    case $sign in
        +) left="$left$pid " ;;
        -) left="${left%% $pid *} ${left#* $pid }" ;;
    esac
done
for pid in $left; do kill -s KILL -- "-$pid"; done
"""
"""Reads which servers started (+) and ended (-). When the process that writes this ends, however it
does, the guard kills the servers that are left, each with all that it started.
"""


@cache
def _guard() -> IO[str]:
    guard = subprocess.Popen(
        ("/bin/sh", "-c", _GUARD),
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        text=True,
        bufsize=1,
        start_new_session=True,
    )
    atexit.register(guard.communicate)
    assert guard.stdin is not None
    return guard.stdin


def _tell_guard(sign: str, pid: int) -> None:
    with _LOCK:
        _guard().write(f"{sign} {pid}\n")


def free_ports(count: int) -> list[int]:
    """Ports that nobody listens on at this moment, and that the system gives to nobody: a server
    that is away for a while finds its port free when it comes back.
    """
    with ExitStack() as held:
        found: list[int] = []
        while len(found) < count:
            port = secrets.choice(_OURS)
            if port in _GIVEN:
                continue
            with suppress(OSError):
                held.enter_context(socket.create_server(("127.0.0.1", port)))
                found.append(port)
                _GIVEN.add(port)
        return found


@dataclass
class ServerProcess:
    """A command that serves until it is stopped; `ready` says whether it does by now. It has
    `starts_within` seconds for that.

    Standard output and error are appended to `log`, which outlives the process. It ends with the
    process that started it, unless it `outlives` that.
    """

    outlives: ClassVar[bool] = False
    name: str
    command: Sequence[str]
    log: Path
    ready: Callable[[], bool]
    environment: Mapping[str, str] = field(default_factory=dict)
    starts_within: float = STARTS_WITHIN
    _running: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start and wait until it is ready. Raises RuntimeError with the end of the log."""
        self._running = self._begun()
        if not self.outlives:
            _tell_guard("+", self.pid)
        deadline = time.monotonic() + self.starts_within
        while not self.ready():
            if self._running.poll() is not None or time.monotonic() > deadline:
                self.kill()
                said = self.log.read_text("utf-8", "replace")[-2000:]
                raise RuntimeError(f"{self.name} did not start; the end of {self.log}:\n{said}")
            time.sleep(0.05)

    def _begun(self) -> subprocess.Popen[bytes]:
        with self.log.open("ab") as log:
            return subprocess.Popen(
                self.command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=self.variables(),
                # Ctrl-C in the terminal ends the tests first, and they end this.
                start_new_session=True,
            )

    def variables(self) -> dict[str, str]:
        """The environment that it starts in."""
        with ENVIRONMENT:
            return {**os.environ, **self.environment}

    @property
    def pid(self) -> int:
        """Its process id. Raises RuntimeError when it was not started or was ended."""
        if self._running is None:
            raise RuntimeError(f"{self.name} was not started")
        return self._running.pid

    def stop(self) -> int | None:
        """End it in good order, or by force when that takes too long; `ended` is the result."""
        self.terminate()
        return self.ended()

    def terminate(self) -> None:
        """SIGTERM, to a process that runs."""
        if self._running is not None:
            self._running.terminate()

    def ended(self) -> int | None:
        """Wait until it is gone after `terminate`, by force when that takes too long.

        Returns its exit code, None when it did not run or did not end by itself.
        """
        if self._running is None:
            return None
        try:
            code = self._running.wait(ENDS_WITHIN)
        except subprocess.TimeoutExpired:
            self.kill()
            return None
        self._forget()
        return code

    def kill(self) -> None:
        """`kill -9`, of whatever it has started as well."""
        if self._running is not None:
            with suppress(ProcessLookupError):
                os.killpg(self._running.pid, signal.SIGKILL)
            self._running.wait()
            self._forget()

    def _forget(self) -> None:
        if not self.outlives:
            _tell_guard("-", self.pid)
        self._running = None


def answers(port: int, address: str = "127.0.0.1") -> bool:
    """Whether something accepts connections on this port of an address of loopback."""
    try:
        socket.create_connection((address, port), timeout=10).close()
    except OSError:
        return False
    return True


def serves(port: int, path: str, *, encrypted: bool = False) -> bool:
    """Whether GET of this path on loopback is answered with 200, whoever answers."""
    place = ("127.0.0.1", port)
    unchecked = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    unchecked.check_hostname = False
    unchecked.verify_mode = ssl.CERT_NONE
    connection = (
        http.client.HTTPSConnection(*place, timeout=10, context=unchecked)
        if encrypted
        else http.client.HTTPConnection(*place, timeout=10)
    )
    try:
        connection.request("GET", path)
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
