# ruff: noqa: INP001 - a script beside the package, imported by nobody
"""All services as processes of their own, on a real Kafka and a real MinIO of this machine.

    python -m tools.up           start everything, and say how it is called
    python -m tools.up --down    end what that started, and only that

Folder runs/up holds a log a process, the data of Kafka and MinIO, `pids.json`, and `client.env`
with what the command line needs. Every start begins empty. Everything listens on loopback only.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

from tests.servers import broker, fetch, object_server
from tests.servers.process import ServerProcess, answers, free_ports

from caliper.adapters.stores.minio import StoreAccess, apply_storage
from caliper.adapters.streams.kafka_access import KafkaAccess
from caliper.adapters.streams.kafka_topics import apply_topics

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "runs" / "up"
PIDS = FOLDER / "pids.json"
BUCKET = "caliper"
SERVICES = ("judge", "qa_reader", "aggregator", "gateway")
SURROUNDINGS = 4
_ENDS_WITHIN = 30.0
_Pids = dict[str, tuple[int, str]]
"""Process id and time of start by name: an id alone may by now be somebody else's."""


def up() -> int:
    """Start everything. What was started before a failure is ended again."""
    if running := [name for name, process in _read().items() if _runs(*process)]:
        sys.stderr.write(f"already up: {', '.join(running)}; `make down` ends it\n")
        return SURROUNDINGS
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    try:
        gateway = _start()
    except (fetch.Missing, RuntimeError) as error:
        sys.stderr.write(f"{error}\n")
        down()
        return SURROUNDINGS
    except BaseException:
        down()
        raise
    sys.stdout.write(
        f"Serving on {gateway}; logs in {FOLDER.relative_to(ROOT)}. To use it:\n"
        f"  set -a; . {FOLDER.relative_to(ROOT)}/client.env; set +a\n"
        f"  caliper evaluate --config examples/careful.yaml --server {gateway}\n"
    )
    return 0


def down() -> int:
    """End everything that `up` started, services before what they stand on."""
    for name, (pid, begun) in reversed(_read().items()):
        if _runs(pid, begun):
            os.kill(pid, signal.SIGTERM)
            deadline = time.monotonic() + _ENDS_WITHIN
            while _runs(pid, begun) and time.monotonic() < deadline:
                time.sleep(0.05)
            if _runs(pid, begun):
                os.kill(pid, signal.SIGKILL)
            sys.stdout.write(f"ended {name}\n")
    PIDS.unlink(missing_ok=True)
    return 0


def _start() -> str:
    """Start everything; returns where the gateway is called."""
    for name in ("kafka", "minio"):
        (FOLDER / name).mkdir()
    kafka, servers = broker.start(FOLDER / "kafka")
    _note("kafka", kafka)
    minio, url = object_server.start(FOLDER / "minio")
    _note("minio", minio)
    parts = urlsplit(url)
    store = f"{parts.scheme}://{parts.hostname}:{parts.port}"
    user, password = parts.username or "", parts.password or ""
    apply_topics(KafkaAccess(servers), partitions=4)
    apply_storage(StoreAccess(store, BUCKET, user, password))
    keeping = {
        "STORE": store,
        "STORE_BUCKET": BUCKET,
        "STORE_ACCESS_KEY": user,
        "STORE_SECRET_KEY": password,
    }
    lines = [f"CALIPER_{name}={value}\n" for name, value in keeping.items()]
    (FOLDER / "client.env").write_text("".join(lines), "utf-8")
    places: dict[str, str] = {}
    for kind in SERVICES:
        # The gateway comes last, and is told where the others are.
        others = {name.upper(): place for name, place in places.items() if kind == "gateway"}
        places[kind] = _service(kind, {"KAFKA": servers, **keeping, **others})
    return places["gateway"]


def _service(kind: str, settings: dict[str, str]) -> str:
    (port,) = free_ports(1)
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
        FOLDER / f"{kind}.log",
        lambda: answers(port),
        environment,
    )
    process.start()
    _note(kind, process)
    return place


def _note(name: str, process: ServerProcess) -> None:
    pid = process.pid
    PIDS.write_text(json.dumps({**_read(), name: (pid, _begun(pid))}), "utf-8")


def _read() -> _Pids:
    if not PIDS.exists():
        return {}
    return {name: (pid, begun) for name, (pid, begun) in json.loads(PIDS.read_text()).items()}


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


if __name__ == "__main__":
    if sys.argv[1:] not in ([], ["--down"]):
        sys.stderr.write("usage: python -m tools.up [--down]\n")
        sys.exit(2)
    sys.exit(down() if sys.argv[1:] else up())
