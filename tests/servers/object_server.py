"""A MinIO server with one drive, for tests."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from tests.servers import fetch
from tests.servers.process import ServerProcess, free_ports, serves

from caliper.lazy import lazy_module

if TYPE_CHECKING:
    from tests.fakes import store_users
else:
    store_users = lazy_module("tests.fakes.store_users")

USER, PASSWORD = "caliper-tests", "known-to-everyone"


def start_prepared(folder: Path) -> tuple[ServerProcess, str]:
    """A server that knows the users of services already, where there is a kit. As `start`."""
    if kit_folder().is_dir():
        shutil.copytree(kit_folder(), folder / "data")
    return start(folder)


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
            # Its collector of garbage would take a fifth of its time.
            "GOGC": "400",
            **(settings or {}),
        },
    )
    server.start()
    scheme = "http" if tls is None else "https"
    return server, f"{scheme}://{USER}:{password}@127.0.0.1:{port}"


def kit_folder() -> Path:
    """Where the kit is, or will be. Other users have another."""
    mark = hashlib.sha256(repr(store_users.KEYS_AND_POLICIES).encode()).hexdigest()[:8]
    return fetch.cache() / f"{fetch.minio().parent.name}-kit-{mark}"


def kit() -> Path:
    """A drive on which the users of services are, made once: they take 4.5 s of CPU time. Raises
    fetch.Missing.
    """
    return fetch.once(kit_folder(), _make_kit)


def _make_kit(folder: Path) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        server, url = start(Path(scratch))
        try:
            store_users.apply(url, "users")
        finally:
            server.stop()
        shutil.copytree(Path(scratch) / "data", folder, dirs_exist_ok=True)
