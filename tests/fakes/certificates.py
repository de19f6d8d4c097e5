"""Fresh certificates for this machine."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tests.servers.absence import leave_out

_OURS = "DNS:localhost,IP:127.0.0.1"


@dataclass(frozen=True)
class Pair:
    """PEM files: a certificate and its unencrypted key."""

    certificate: Path
    key: Path


def certify(
    folder: Path, name: str = "localhost", by: Pair | None = None, hosts: str = _OURS
) -> Pair:
    """Create a certificate for this machine, self-signed or signed by another. It may sign others.

    Skips the test if openssl is missing.
    """
    openssl = shutil.which("openssl")
    if openssl is None:
        leave_out("openssl", "no openssl on this machine")
    folder.mkdir(parents=True, exist_ok=True)
    pair = Pair(folder / f"{name}.pem", folder / f"{name}.key")
    signed: list[str | Path] = [] if by is None else ["-CA", by.certificate, "-CAkey", by.key]
    subprocess.run(
        [
            openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
            "-nodes", "-days", "2", "-subj", f"/CN={name}", "-addext", f"subjectAltName={hosts}",
            *signed,
            "-keyout", pair.key, "-out", pair.certificate,
        ],
        check=True,
        capture_output=True,
    )  # fmt: skip
    return pair
