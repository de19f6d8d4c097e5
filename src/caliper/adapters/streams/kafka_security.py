"""How a connection to Kafka is encrypted, and who we are to the brokers.

Apart from what talks to Kafka: its client library takes long to import.
"""

from __future__ import annotations

import ssl
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from caliper.adapters.trust import trusting, unusable


@dataclass(frozen=True, slots=True)
class KafkaTls:
    """PEM files. `ca` holds the certificates to trust instead of those that this machine trusts;
    `certificate` (with its chain) and `key` (without a password) are ours, for brokers that ask.
    """

    ca: Path | None = None
    certificate: Path | None = None
    key: Path | None = None

    def context(self) -> ssl.SSLContext:
        """What a connection is opened with. Raises InvalidInput naming the file that cannot be
        used.
        """
        context = trusting(self.ca)
        if self.certificate is not None:
            try:
                # Without any password OpenSSL would ask for one at the terminal.
                context.load_cert_chain(self.certificate, self.key, password="")
            except OSError as error:
                raise unusable(self.certificate, error) from error
        return context


@dataclass(frozen=True, slots=True)
class KafkaSasl:
    """User and password; `mechanism` is PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512."""

    mechanism: str
    user: str
    password: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class KafkaSecurity:
    """A plain connection by default, encrypted with `tls`, known to the brokers by `sasl`."""

    tls: KafkaTls | None = None
    sasl: KafkaSasl | None = None

    def options(self) -> dict[str, Any]:
        """The same by kafka-python's names. Files are read each time, for a certificate may have
        been replaced. Raises InvalidInput naming the file that cannot be used.
        """
        encrypted = "PLAINTEXT" if self.tls is None else "SSL"
        found: dict[str, Any] = {
            "security_protocol": encrypted if self.sasl is None else f"SASL_{encrypted}"
        }
        if self.tls is not None:
            found["ssl_context"] = self.tls.context()
        if self.sasl is not None:
            found |= {
                "sasl_mechanism": self.sasl.mechanism,
                "sasl_plain_username": self.sasl.user,
                "sasl_plain_password": self.sasl.password,
            }
        return found
