"""Which certificates we trust when we call other services."""

from __future__ import annotations

import ssl
from pathlib import Path

from caliper.core.errors import InvalidInput


def tls_context(ca: Path | None) -> ssl.SSLContext:
    """A client's TLS context: TLS 1.2 or later, host names checked.

    `ca` is a PEM file of certificates to trust instead of this machine's. Raises InvalidInput
    naming the file if it cannot be used.
    """
    try:
        context = ssl.create_default_context(cafile=None if ca is None else str(ca))
    except OSError as error:
        raise certificate_error(ca, error) from error
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context


def ca_certificates(ca: Path | None) -> bytes | None:
    """The same certificates as one PEM text, for libraries with their own TLS implementation.

    None if this machine has none. Raises InvalidInput naming the file if it cannot be used.
    """
    if ca is not None:
        tls_context(ca)
        return ca.read_bytes()
    paths = ssl.get_default_verify_paths()
    if paths.cafile:
        return Path(paths.cafile).read_bytes()
    # Only the names that OpenSSL derives from subject hashes: each certificate once.
    certificates = sorted(Path(paths.capath).glob("????????.[0-9]")) if paths.capath else []
    return b"\n".join(file.read_bytes() for file in certificates) or None


def certificate_error(file: Path | None, error: OSError) -> InvalidInput:
    """The error for a file of certificates or keys that cannot be used."""
    # Errors of OpenSSL have no message of the system.
    reason = str(error) if isinstance(error, ssl.SSLError) else error.strerror
    return InvalidInput(f"cannot be used: {reason or error}", file=str(file or ""))
