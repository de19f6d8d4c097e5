"""Real servers as containers of compose.test.yaml, where a Docker engine answers."""

from __future__ import annotations

import atexit
import functools
import os
import secrets
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.servers import object_server
from tests.servers.process import ServerProcess, free_ports

FILE = Path(__file__).parents[2] / "compose.test.yaml"
# Seconds: an engine that is there tells its version at once; images may have to be pulled.
_ANSWERS_WITHIN, _STARTS_WITHIN = 10.0, 900.0


@functools.cache
def engine() -> str | None:
    """The version of the Docker engine that answers and can compose; None where none does."""
    version = _said("docker", "version", "--format", "{{.Server.Version}}")
    return version if version and _said("docker", "compose", "version") else None


@dataclass
class Composed(ServerProcess):
    """A service of the file, in a project of its own, which is taken down when Python ends."""

    settings: Mapping[str, str] = field(default_factory=dict)
    _project: str = field(default_factory=lambda: f"caliper-tests-{secrets.token_hex(4)}")
    _there: bool = False

    def start(self) -> None:
        """Start and wait until it is well. Raises RuntimeError with what Docker said."""
        atexit.register(self._compose, "down", "--volumes", "--timeout", "1")
        ended = self._compose("up", "--detach", "--wait", self.name)
        self.log.write_text(ended.stdout + ended.stderr, "utf-8")
        if ended.returncode != 0:
            said = self._compose("logs", "--tail", "30", self.name).stdout
            raise RuntimeError(f"{self.name} did not start: {ended.stderr[-2000:]}\n{said}")
        self._there = True

    @property
    def pid(self) -> int:
        """None of this machine's. Raises RuntimeError."""
        raise RuntimeError(f"{self.name} runs in a container")

    def terminate(self) -> None:
        """SIGTERM."""
        if self._there:
            self._compose("kill", "--signal", "SIGTERM", self.name)

    def ended(self) -> int | None:
        """Wait until it is gone after `terminate`; its exit code, None when it did not run."""
        if not self._there:
            return None
        self._there = False
        ended = self._compose("wait", self.name)
        return int(ended.stdout) if ended.stdout.strip().isdigit() else None

    def kill(self) -> None:
        """SIGKILL."""
        if self._there:
            self._there = False
            self._compose("kill", self.name)

    def _compose(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        place = ("docker", "compose", "--file", str(FILE), "--project-name", self._project)
        return subprocess.run(
            [*place, *arguments],
            env=os.environ | dict(self.settings),
            capture_output=True,
            text=True,
            check=False,
            timeout=_STARTS_WITHIN,
        )


def kafka(folder: Path) -> tuple[ServerProcess, str]:
    """A broker, and its address."""
    return _start("kafka", folder, lambda port: f"127.0.0.1:{port}")


def minio(folder: Path) -> tuple[ServerProcess, str]:
    """A MinIO server, and its URL with user and password."""
    user = f"{object_server.USER}:{object_server.PASSWORD}"
    return _start("minio", folder, lambda port: f"http://{user}@127.0.0.1:{port}")


def _start(service: str, folder: Path, address: Callable[[int], str]) -> tuple[ServerProcess, str]:
    (port,) = free_ports(1)
    settings = {f"{service.upper()}_PORT": str(port)}
    server = Composed(service, (), folder / f"{service}.log", lambda: True, settings=settings)
    server.start()
    return server, address(port)


def _said(*command: str) -> str:
    """What a command prints; nothing where it is not there, fails or does not end."""
    try:
        ended = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=_ANSWERS_WITHIN
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return ended.stdout.strip() if ended.returncode == 0 else ""
