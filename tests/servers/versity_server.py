"""The Versity S3 gateway on a folder: an S3 server that is not MinIO, for tests."""

from __future__ import annotations

from pathlib import Path

from tests.servers import fetch
from tests.servers.object_server import PASSWORD, USER
from tests.servers.process import ServerProcess, free_ports, serves

# The Go checksum database pins it.
VERSION = "v1.8.0"
REGION = "eu-central-1"
"""Requests that are signed for another are refused."""
DOMAIN = "s3.test"
"""The host that buckets are named before, as `bucket.s3.test`: no name server knows it."""


def binary() -> Path:
    """The gateway. Raises fetch.Missing."""
    folder = fetch.cache() / f"versitygw-{VERSION}"
    fetch.refuse([] if folder.is_dir() else fetch.absent("go"))
    return fetch.once(folder, _build) / "versitygw"


def _build(folder: Path) -> None:
    command = f"github.com/versity/versitygw/cmd/versitygw@{VERSION}"
    fetch.install_go_command(command, folder)


def start(folder: Path) -> tuple[ServerProcess, str]:
    """A server with its data and log in `folder`, and its URL with user and password.

    Raises fetch.Missing.
    """
    fetch.declared("Versity")
    gateway = binary()
    (port,) = free_ports(1)
    data = folder / "data"
    data.mkdir()
    server = ServerProcess(
        "Versity",
        [
            str(gateway),
            *("--port", f"127.0.0.1:{port}", "--region", REGION, "--virtual-domain", DOMAIN),
            *("--health", "/health", "--quiet", "posix", str(data)),
        ],
        folder / "versity.log",
        lambda: serves(port, "/health"),
        {"ROOT_ACCESS_KEY_ID": USER, "ROOT_SECRET_ACCESS_KEY": PASSWORD},
    )
    server.start()
    return server, f"http://{USER}:{PASSWORD}@127.0.0.1:{port}"
