"""A MinIO server with one drive, for tests."""

from __future__ import annotations

import http.client
from pathlib import Path

from tests.servers import fetch
from tests.servers.process import ServerProcess, free_ports

USER, PASSWORD = "caliper-tests", "known-to-everyone"


def start(folder: Path) -> tuple[ServerProcess, str]:
    """A server with its data and log in `folder`, and its URL with user and password.

    Raises fetch.Missing.
    """
    binary = fetch.minio()
    port, console = free_ports(2)
    addresses = ["--address", f"127.0.0.1:{port}", "--console-address", f"127.0.0.1:{console}"]
    server = ServerProcess(
        "MinIO",
        [str(binary), "server", str(folder / "data"), *addresses],
        folder / "minio.log",
        lambda: _ready(port),
        {"MINIO_ROOT_USER": USER, "MINIO_ROOT_PASSWORD": PASSWORD, "MINIO_BROWSER": "off"},
    )
    server.start()
    return server, f"http://{USER}:{PASSWORD}@127.0.0.1:{port}"


def _ready(port: int) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=1)
    try:
        connection.request("GET", "/minio/health/ready")
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
