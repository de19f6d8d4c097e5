"""Encryption and authentication of connections to Kafka.

Separate from the modules that use Kafka's client library, which is slow to import.
"""

from __future__ import annotations

import ssl
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from caliper.adapters.trust import certificate_error, tls_context


@dataclass(frozen=True, slots=True)
class KafkaTls:
    """PEM files.

    `ca` holds the certificates to trust instead of those that this machine trusts. `certificate`
    (with its chain) and `key` (without a password) are the client's, for brokers that require one.
    """

    ca: Path | None = None
    certificate: Path | None = None
    key: Path | None = None

    def context(self) -> ssl.SSLContext:
        """The TLS context of a connection. Raises InvalidInput naming an unusable file."""
        context = tls_context(self.ca)
        if self.certificate is not None:
            try:
                # Without any password OpenSSL would ask for one at the terminal.
                context.load_cert_chain(self.certificate, self.key, password="")
            except OSError as error:
                raise certificate_error(self.certificate, error) from error
        return context


@dataclass(frozen=True, slots=True)
class KafkaSasl:
    """User and password; `mechanism` is PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512."""

    mechanism: str
    user: str
    password: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class KafkaSecurity:
    """Plaintext by default, encrypted with `tls`, authenticated with `sasl`."""

    tls: KafkaTls | None = None
    sasl: KafkaSasl | None = None

    def options(self) -> dict[str, Any]:
        """The options for kafka-python.

        Files are read each time, because a certificate may have been replaced. Raises
        InvalidInput naming an unusable file.
        """
        encrypted = "PLAINTEXT" if self.tls is None else "SSL"
        options: dict[str, Any] = {
            "security_protocol": encrypted if self.sasl is None else f"SASL_{encrypted}"
        }
        if self.tls is not None:
            options["ssl_context"] = self.tls.context()
        if self.sasl is not None:
            options |= {
                "sasl_mechanism": self.sasl.mechanism,
                "sasl_plain_username": self.sasl.user,
                "sasl_plain_password": self.sasl.password,
            }
        return options
