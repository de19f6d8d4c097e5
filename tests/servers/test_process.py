"""A server of a test ends with the process of the test, however that ends."""

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from tests.fakes.process_forks import ForkedServer
from tests.fakes.sources import ROOT
from tests.servers.process import ENDS_WITHIN, STARTS_WITHIN, ServerProcess

MODULE = "tests.servers.test_process"
SERVERS = {
    "started": lambda log: ServerProcess("peer", [sys.executable, "-m", MODULE], log, lambda: True),
    "forked": lambda log: ForkedServer("peer", [MODULE], log, lambda: True),
}


@pytest.mark.parametrize("kind", SERVERS)
def test_a_server_ends_with_the_process_that_started_it(kind: str, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(STARTS_WITHIN)
        with subprocess.Popen(
            [sys.executable, "-m", MODULE, kind, str(tmp_path / "log")],
            cwd=ROOT,
            env={**os.environ, "PEER": str(listener.getsockname()[1])},
            stdout=subprocess.PIPE,
        ) as parent:
            try:
                connection, _ = listener.accept()
                assert parent.stdout is not None
                assert parent.stdout.readline() == b"started\n"
            finally:
                parent.kill()
    with connection:
        connection.settimeout(ENDS_WITHIN)
        # A server that lives on holds its end.
        assert connection.recv(1) == b""


if __name__ == "__main__":
    match sys.argv[1:]:
        case [kind, log]:
            SERVERS[kind](Path(log)).start()
            sys.stdout.write("started\n")
            sys.stdout.flush()
            signal.pause()
        case _:
            socket.create_connection(("127.0.0.1", int(os.environ["PEER"]))).recv(1)
