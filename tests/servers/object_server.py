"""A MinIO server with one drive, for tests."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

from tests.servers import fetch
from tests.servers.process import ServerProcess, free_ports, serves

USER, PASSWORD = "caliper-tests", "known-to-everyone"


def start(
    folder: Path,
    tls: tuple[Path, Path] | None = None,
    password: str = PASSWORD,
    settings: Mapping[str, str] | None = None,
) -> tuple[ServerProcess, str]:
    """A server with its data and log in `folder`, and its URL with user and password. `tls` is a
    certificate for 127.0.0.1 and its key: PEM files. `settings` are more of MinIO's own.

    Raises fetch.Missing.
    """
    fetch.declared("MinIO")
    binary = fetch.minio()
    port, console = free_ports(2)
    certificates = folder / "certificates"
    certificates.mkdir()
    if tls is not None:
        for file, name in zip(tls, ("public.crt", "private.key"), strict=True):
            shutil.copy(file, certificates / name)
    addresses = ["--address", f"127.0.0.1:{port}", "--console-address", f"127.0.0.1:{console}"]
    server = ServerProcess(
        "MinIO",
        [str(binary), "--certs-dir", str(certificates), "server", str(folder / "data"), *addresses],
        folder / "minio.log",
        lambda: serves(port, "/minio/health/ready", encrypted=tls is not None),
        {
            "MINIO_ROOT_USER": USER,
            "MINIO_ROOT_PASSWORD": password,
            "MINIO_BROWSER": "off",
            "MINIO_PROMETHEUS_AUTH_TYPE": "public",
            **(settings or {}),
        },
    )
    server.start()
    scheme = "http" if tls is None else "https"
    return server, f"{scheme}://{USER}:{password}@127.0.0.1:{port}"
