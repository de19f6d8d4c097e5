"""The certificates that are trusted in calls to other services."""

from __future__ import annotations

import logging
import ssl
from pathlib import Path
from typing import Any

from caliper.adapters.files import Stamp, file_stamp
from caliper.core.errors import InvalidInput

_LOG = logging.getLogger(__name__)


class _FileContext(ssl.SSLContext):
    """A client's context that reads its file of trusted certificates again before a connection, if
    it changed. Certificates that it trusted before stay trusted.
    """

    file: Path
    stamp: Stamp = None

    def load(self) -> None:
        """Trust the certificates of the file. Raises OSError, and SSLError for unusable ones."""
        self.stamp = file_stamp(self.file)
        self.load_verify_locations(self.file)

    def _refresh(self) -> None:
        if file_stamp(self.file) == self.stamp:
            return
        try:
            self.load()
        except OSError as error:
            _LOG.error(
                "%s changed and cannot be used; the old certificates stay: %s", self.file, error
            )

    def wrap_bio(self, *arguments: Any, **options: Any) -> ssl.SSLObject:
        self._refresh()
        return super().wrap_bio(*arguments, **options)

    def wrap_socket(self, *arguments: Any, **options: Any) -> ssl.SSLSocket:
        self._refresh()
        return super().wrap_socket(*arguments, **options)


def tls_context(ca: Path | None) -> ssl.SSLContext:
    """A client's TLS context: TLS 1.2 or later, host names checked.

    `ca` is a PEM file of certificates to trust instead of this machine's, which is read again when
    it changes. Raises InvalidInput naming the file if it cannot be used.
    """
    if ca is None:
        context = ssl.create_default_context()
    else:
        context = trusting = _FileContext(ssl.PROTOCOL_TLS_CLIENT)
        trusting.file = ca
        try:
            trusting.load()
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
