# ruff: noqa: INP001 - a script beside the package, imported by nobody
"""All services as processes of their own, on a real Kafka and a real MinIO of this machine.

    python -m tools.up           start everything, and say how it is called
    python -m tools.up --down    end what that started, and only that

Folder runs/up holds a log a process, the data of Kafka and MinIO, `pids.json`, and `client.env`
with what the command line needs; it stays when everything has ended, and every start begins
empty. Everything listens on loopback only: the gateway on --port, the rest where there is room.
Services read the environment as ever: CALIPER_JUDGE_MODEL, say. A captioner is started where
CALIPER_CAPTIONER_MODEL names its model.
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

from caliper.adapters.stores.minio import StoreAccess, apply_storage
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
"""Process id and time of start by name: an id alone may by now be somebody else's."""


@dataclass(frozen=True)
class Up:
    """What runs on `folder`, with its gateway on `port` of loopback."""

    folder: Path
    port: int

    def up(self) -> int:
        """Start everything. What was started before a failure is ended again."""
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
        shown = self.folder.relative_to(ROOT) if self.folder.is_relative_to(ROOT) else self.folder
        gateway = f"127.0.0.1:{self.port}"
        sys.stdout.write(
            f"Serving on {gateway}; logs in {shown}. To use it:\n"
            f"  set -a; . {shown}/client.env; set +a\n"
            f"  caliper evaluate --config examples/careful.yaml --server {gateway}\n"
            f"Kafka is {servers}, for commands that take --kafka: $KAFKA of client.env.\n"
        )
        return 0

    def down(self) -> int:
        """End everything that `up` started, services before what they stand on."""
        for name, (pid, begun) in reversed(self._read().items()):
            if _runs(pid, begun):
                os.kill(pid, signal.SIGTERM)
                deadline = time.monotonic() + _ENDS_WITHIN
                while _runs(pid, begun) and time.monotonic() < deadline:
                    time.sleep(0.05)
                if _runs(pid, begun):
                    os.kill(pid, signal.SIGKILL)
                sys.stdout.write(f"ended {name}\n")
        self._pids.unlink(missing_ok=True)
        return 0

    def _start(self) -> str:
        """Start everything; returns Kafka's address."""
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
        keeping = {
            "STORE": store,
            "STORE_BUCKET": BUCKET,
            "STORE_ACCESS_KEY": user,
            "STORE_SECRET_KEY": password,
        }
        self._tell({f"CALIPER_{name}": value for name, value in keeping.items()}, servers)
        captioner = ("captioner",) if os.environ.get("CALIPER_CAPTIONER_MODEL") else ()
        places: dict[str, str] = {}
        for kind in (*STAGES, *captioner):
            (port,) = free_ports(1)
            places[kind.upper()] = self._serve(kind, port, {"KAFKA": servers, **keeping})
        self._serve("gateway", self.port, {"KAFKA": servers, **keeping, **places})
        return servers

    def _tell(self, keeping: dict[str, str], servers: str) -> None:
        """Write what the command line needs, for nobody else to read."""
        file = self.folder / "client.env"
        file.touch(0o600)
        told = {**keeping, "KAFKA": servers}
        file.write_text("".join(f"{name}={value}\n" for name, value in told.items()))

    def _serve(self, kind: str, port: int, settings: dict[str, str]) -> str:
        """Start a service; returns where it is called."""
        place = f"127.0.0.1:{port}"
        prefix = f"CALIPER_{kind.upper()}_"
        environment = {f"{prefix}{name}": value for name, value in settings.items()}
        environment |= {
            f"{prefix}LISTEN": place,
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
        return place

    @property
    def _pids(self) -> Path:
        return self.folder / "pids.json"

    def _note(self, name: str, process: ServerProcess) -> None:
        pid = process.pid
        self._pids.write_text(json.dumps({**self._read(), name: (pid, _begun(pid))}), "utf-8")

    def _read(self) -> _Pids:
        if not self._pids.exists():
            return {}
        found = json.loads(self._pids.read_text("utf-8"))
        return {name: (pid, begun) for name, (pid, begun) in found.items()}


def _refuse(message: str) -> int:
    sys.stderr.write(f"{message}\n")
    return SURROUNDINGS


def _port(given: str) -> int:
    """A port to listen on. Raises ArgumentTypeError for what is none."""
    port = int(given) if given.isdecimal() and len(given) <= 5 else 0
    if not 1 <= port <= 65535:
        raise argparse.ArgumentTypeError(f"{given!r:.40} is no port: 1 to 65535")
    return port


def _free(port: int) -> bool:
    try:
        socket.create_server(("127.0.0.1", port)).close()
    except OSError:
        return False
    return True


def _runs(pid: int, begun: str) -> bool:
    return bool(begun) and _begun(pid) == begun


def _begun(pid: int) -> str:
    """When a process began, in the kernel's ticks since boot; empty for one that has ended."""
    try:
        # Behind the name, which may hold anything but ends with the last bracket.
        state, *fields = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return ""
    return "" if state == "Z" else fields[18]


def main(arguments: list[str] | None = None) -> int:
    """Start or end everything; returns the exit code: 4 where this machine is in the way."""
    parser = argparse.ArgumentParser(prog="python -m tools.up", allow_abbrev=False)
    parser.add_argument("--down", action="store_true", help="end what was started")
    parser.add_argument("--port", type=_port, default=PORT, help="of the gateway")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="logs, data, process ids")
    chosen = parser.parse_args(arguments)
    there = Up(chosen.folder.resolve(), chosen.port)
    return there.down() if chosen.down else there.up()


if __name__ == "__main__":
    sys.exit(main())
