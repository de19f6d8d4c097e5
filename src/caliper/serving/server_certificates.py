"""The TLS credentials of servers, whose files are read again when they change."""

from __future__ import annotations

import logging
import ssl
from dataclasses import dataclass
from pathlib import Path

import grpc

from caliper.adapters.files import Stamp, file_stamp
from caliper.core.errors import InvalidInput

_LOG = logging.getLogger(__name__)
_UNUSABLE = "the certificate changed and cannot be used; the old one stays: %s"


@dataclass(frozen=True, slots=True)
class Tls:
    """PEM files: the certificate with its chain, and its private key without a password.

    With `clients`, certificates of authorities, callers need a certificate that one of them signed.
    """

    certificate: Path
    key: Path
    clients: Path | None = None

    def credentials(self) -> grpc.ServerCredentials:
        """The credentials of a server, which rereads the files at each handshake.

        Raises InvalidInput naming a file that cannot be read.
        """
        files = _CertificateFiles(self)
        return grpc.dynamic_ssl_server_credentials(
            files.read(),
            # Its stubs do not know that it may return None: nothing changed.
            files.changed,  # type: ignore[arg-type]
            require_client_authentication=self.clients is not None,
        )

    def context(self) -> ssl.SSLContext:
        """The same for HTTP, without asking callers for certificates.

        Raises InvalidInput naming the certificate if the files cannot be used.
        """
        context, stamps = _context(self), _stamps(self)

        def refresh(connection: ssl.SSLObject, *_: object) -> None:
            nonlocal context, stamps
            if _stamps(self) != stamps:
                stamps = _stamps(self)
                try:
                    context = _context(self)
                except InvalidInput as error:
                    _LOG.error(_UNUSABLE, error)
            connection.context = context

        first = _context(self)
        first.sni_callback = refresh
        return first


class _CertificateFiles:
    def __init__(self, tls: Tls) -> None:
        self._tls = tls
        self._stamp: list[Stamp] = []

    def read(self) -> grpc.ServerCertificateConfiguration:
        # Before reading: a change in between is seen at the next handshake.
        self._stamp = _stamps(self._tls)
        pair = _pem(self._tls.key, "tls key"), _pem(self._tls.certificate, "tls certificate")
        clients = self._tls.clients
        authorities = None if clients is None else _pem(clients, "tls clients")
        return grpc.ssl_server_certificate_configuration([pair], authorities)

    def changed(self) -> grpc.ServerCertificateConfiguration | None:
        """The files if they changed. gRPC keeps the old ones if they cannot be used."""
        if _stamps(self._tls) == self._stamp:
            return None
        try:
            configuration = self.read()
        except InvalidInput as error:
            _LOG.error(_UNUSABLE, error)
            return None
        _LOG.info("reread the certificate from %s", self._tls.certificate)
        return configuration


def _stamps(tls: Tls) -> list[Stamp]:
    files = (tls.certificate, tls.key, tls.clients)
    return [file_stamp(file) for file in files if file is not None]


def _context(tls: Tls) -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    try:
        context.load_cert_chain(tls.certificate, tls.key)
    except OSError as error:
        message = f"cannot be used: {error}"
        raise InvalidInput(message, file=str(tls.certificate), field="tls certificate") from error
    return context


def _pem(file: Path, field: str) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        message = f"cannot be read: {error.strerror or error}"
        raise InvalidInput(message, file=str(file), field=field) from error
