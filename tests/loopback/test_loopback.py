"""Nothing that tests run calls beyond this machine."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path

import pytest

ELSEWHERE = "192.0.2.1"
CALL = f"import socket; socket.create_connection(('{ELSEWHERE}', 443), timeout=5)"


def test_a_call_from_the_tests_is_refused_and_noted(calls_out: Path) -> None:
    with pytest.raises(OSError, match="may not call beyond this machine"):
        socket.create_connection((ELSEWHERE, 443), timeout=5)
    assert f"socket.getaddrinfo {ELSEWHERE}" in calls_out.read_text("utf-8")
    calls_out.unlink()


def test_a_call_from_a_python_that_a_test_starts_is_refused_and_noted(calls_out: Path) -> None:
    ended = subprocess.run([sys.executable, "-c", CALL], capture_output=True, check=False)
    assert b"may not call beyond this machine" in ended.stderr
    assert ELSEWHERE in calls_out.read_text("utf-8")
    calls_out.unlink()


def test_nothing_is_noted_of_this_machine_and_of_names_that_nobody_has(calls_out: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(server.getsockname(), timeout=5).close()
    with pytest.raises(socket.gaierror):
        socket.create_connection(("nobody.invalid", 80))
    assert not calls_out.exists()
