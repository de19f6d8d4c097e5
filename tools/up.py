# ruff: noqa: INP001 - a standalone script
"""Run all services, one process each, on a real Kafka and a real MinIO on this machine.

    python -m tools.up           start everything, and print how to call it
    python -m tools.up --down    stop what that started, and only that

The folder runs/up has one log per process, the data of Kafka and MinIO, `pids.json`, and
`client.env` with the environment for the command line. It remains after everything has stopped, and
every start clears it. Everything listens on loopback only: the gateway on --port, the rest on free
ports. Services read the environment as usual, for instance CALIPER_JUDGE_MODEL. A captioner starts
if CALIPER_CAPTIONER_MODEL names its model.
"""

from __future__ import annotations

import argparse
import json
import os
import secrets
import shutil
import signal
import socket
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from tests.servers import broker, fetch, object_server
from tests.servers.process import ServerProcess, answers, free_ports

from caliper.adapters.stores.access import StoreAccess
from caliper.adapters.stores.bucket import apply_storage
from caliper.adapters.streams.kafka_access import KafkaAccess
from caliper.adapters.streams.kafka_topics import apply_topics

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "runs" / "up"
PORT = 50051
BUCKET = "caliper"
STAGES = ("judge", "qa_reader", "aggregator")
SURROUNDINGS = 4
_ENDS_WITHIN = 30.0
_Pids = dict[str, tuple[int, str]]
"""Process id and start time by name: the id alone may have been reused."""


@dataclass(frozen=True)
class Up:
    """An installation in `folder`, with its gateway on `port` of loopback."""

    folder: Path
    port: int

    def up(self) -> int:
        """Start everything; after a failure, stop what was started."""
        if running := [name for name, process in self._read().items() if _runs(*process)]:
            return _refuse(f"already up: {', '.join(running)}; `make down` ends it")
        if not _free(self.port):
            other = "`make up PORT=...` takes another"
            return _refuse(f"port {self.port} of this machine is in use; {other}")
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        try:
            servers = self._start()
        except (fetch.Missing, RuntimeError) as error:
            self.down()
            return _refuse(str(error))
        except BaseException:
            self.down()
            raise
        folder = self.folder.relative_to(ROOT) if self.folder.is_relative_to(ROOT) else self.folder
        gateway = f"127.0.0.1:{self.port}"
        sys.stdout.write(
            f"Serving on {gateway}; logs in {folder}. To use it:\n"
            f"  set -a; . {folder}/client.env; set +a\n"
            f"  caliper evaluate --config examples/careful.yaml --server {gateway}\n"
            f"Kafka is {servers}, for commands that take --kafka: $KAFKA of client.env.\n"
        )
        return 0

    def down(self) -> int:
        """Stop everything that `up` started, services before Kafka and MinIO."""
        for name, (pid, started) in reversed(self._read().items()):
            if _runs(pid, started):
                os.kill(pid, signal.SIGTERM)
                deadline = time.monotonic() + _ENDS_WITHIN
                while _runs(pid, started) and time.monotonic() < deadline:
                    time.sleep(0.05)
                if _runs(pid, started):
                    os.kill(pid, signal.SIGKILL)
                sys.stdout.write(f"ended {name}\n")
        self._pids.unlink(missing_ok=True)
        return 0

    def _start(self) -> str:
        """Start everything, and return Kafka's address."""
        for name in ("kafka", "minio"):
            (self.folder / name).mkdir()
        kafka, servers = broker.start(self.folder / "kafka")
        self._note("kafka", kafka)
        password = secrets.token_urlsafe(24)
        minio, url = object_server.start(self.folder / "minio", password=password)
        self._note("minio", minio)
        parts = urlsplit(url)
        user, store = parts.username or "", f"{parts.scheme}://{parts.hostname}:{parts.port}"
        apply_topics(KafkaAccess(servers))
        apply_storage(StoreAccess(store, BUCKET, user, password))
        store_settings = {
            "STORE": store,
            "STORE_BUCKET": BUCKET,
            "STORE_ACCESS_KEY": user,
            "STORE_SECRET_KEY": password,
        }
        self._write_environment(
            {f"CALIPER_{name}": value for name, value in store_settings.items()}, servers
        )
        captioner = ("captioner",) if os.environ.get("CALIPER_CAPTIONER_MODEL") else ()
        addresses: dict[str, str] = {}
        for kind in (*STAGES, *captioner):
            (port,) = free_ports(1)
            addresses[kind.upper()] = self._serve(kind, port, {"KAFKA": servers, **store_settings})
        gateway = self._serve(
            "gateway", self.port, {"KAFKA": servers, **store_settings, **addresses}
        )
        (port,) = free_ports(1)
        self._serve("suites", port, {"KAFKA": servers, **store_settings, "GATEWAY": gateway})
        return servers

    def _write_environment(self, store: dict[str, str], servers: str) -> None:
        """Write the environment for the command line, readable only by this user."""
        file = self.folder / "client.env"
        file.touch(0o600)
        variables = {**store, "KAFKA": servers}
        file.write_text("".join(f"{name}={value}\n" for name, value in variables.items()))

    def _serve(self, kind: str, port: int, settings: dict[str, str]) -> str:
        """Start a service, and return its address."""
        address = f"127.0.0.1:{port}"
        prefix = f"CALIPER_{kind.upper()}_"
        environment = {f"{prefix}{name}": value for name, value in settings.items()}
        environment |= {
            f"{prefix}LISTEN": address,
            "PYTHONPATH": os.pathsep.join((str(ROOT / "src"), str(ROOT))),
        }
        process = ServerProcess(
            kind,
            [sys.executable, "-m", f"services.{kind}"],
            self.folder / f"{kind}.log",
            lambda: answers(port),
            environment,
        )
        process.start()
        self._note(kind, process)
        return address

    @property
    def _pids(self) -> Path:
        return self.folder / "pids.json"

    def _note(self, name: str, process: ServerProcess) -> None:
        pid = process.pid
        self._pids.write_text(json.dumps({**self._read(), name: (pid, _started(pid))}), "utf-8")

    def _read(self) -> _Pids:
        if not self._pids.exists():
            return {}
        entries = json.loads(self._pids.read_text("utf-8"))
        return {name: (pid, started) for name, (pid, started) in entries.items()}


def _refuse(message: str) -> int:
    sys.stderr.write(f"{message}\n")
    return SURROUNDINGS


def _port(text: str) -> int:
    """Parse a port to listen on. Raises ArgumentTypeError if it is invalid."""
    port = int(text) if text.isdecimal() and len(text) <= 5 else 0
    if not 1 <= port <= 65535:
        raise argparse.ArgumentTypeError(f"{text!r:.40} is no port: 1 to 65535")
    return port


def _free(port: int) -> bool:
    try:
        socket.create_server(("127.0.0.1", port)).close()
    except OSError:
        return False
    return True


def _runs(pid: int, started: str) -> bool:
    return bool(started) and _started(pid) == started


def _started(pid: int) -> str:
    """The start time of a process in clock ticks since boot; empty if it has ended."""
    try:
        # Skip the name, which may contain anything and ends at the last bracket.
        state, *fields = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return ""
    return "" if state == "Z" else fields[18]


def main(arguments: list[str] | None = None) -> int:
    """Start or stop everything. Returns the exit code: 4 for a problem of this machine."""
    parser = argparse.ArgumentParser(prog="python -m tools.up", allow_abbrev=False)
    parser.add_argument("--down", action="store_true", help="end what was started")
    parser.add_argument("--port", type=_port, default=PORT, help="of the gateway")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="logs, data, process ids")
    options = parser.parse_args(arguments)
    installation = Up(options.folder.resolve(), options.port)
    # All of them, those that `tests.servers` starts too: `make down` ends them.
    ServerProcess.outlives = True
    return installation.down() if options.down else installation.up()


if __name__ == "__main__":
    sys.exit(main())
