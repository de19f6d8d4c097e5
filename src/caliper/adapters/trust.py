"""Whose certificates are trusted when we call others."""

from __future__ import annotations

import ssl
from pathlib import Path

from caliper.core.errors import InvalidInput


def trusting(ca: Path | None) -> ssl.SSLContext:
    """TLS 1.2 or later, with the other's name checked; `ca` is a PEM file of certificates to
    trust instead of those that this machine trusts.

    Raises InvalidInput naming the file that cannot be used.
    """
    try:
        context = ssl.create_default_context(cafile=None if ca is None else str(ca))
    except OSError as error:
        raise unusable(ca, error) from error
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context


def roots(ca: Path | None) -> bytes | None:
    """The same certificates as one PEM text, for libraries that bring their own TLS: None where
    this machine keeps none.

    Raises InvalidInput naming the file that cannot be used.
    """
    if ca is not None:
        trusting(ca)
        return ca.read_bytes()
    places = ssl.get_default_verify_paths()
    if places.cafile:
        return Path(places.cafile).read_bytes()
    # Names that OpenSSL gives by the subject's hash: each certificate once.
    hashed = sorted(Path(places.capath).glob("????????.[0-9]")) if places.capath else []
    return b"\n".join(file.read_bytes() for file in hashed) or None


def unusable(file: Path | None, error: OSError) -> InvalidInput:
    """What a file of certificates or keys that cannot be used is to us."""
    # A refusal of OpenSSL has no words of the system's.
    reason = str(error) if isinstance(error, ssl.SSLError) else error.strerror
    return InvalidInput(f"cannot be used: {reason or error}", file=str(file or ""))
