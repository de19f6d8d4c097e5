"""The settings of services that reach Kafka's brokers."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from pydantic import Field, SecretStr

from caliper.adapters.streams.kafka_security import KafkaSasl, KafkaSecurity, KafkaTls
from caliper.core.errors import InvalidInput
from caliper.serving.addresses import Address
from caliper.wiring.settings import Settings, variable

INCOMPLETE_PAIR = "certificate and key are used together: this one is missing"


class KafkaSettings(Settings):
    """The connection to Kafka's brokers.

    `kafka_security` is PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL, Kafka's security protocols.
    With SSL, `kafka_ca` is a PEM file of certificates to trust instead of those of this machine,
    and `kafka_certificate` and `kafka_key` are PEM files for brokers that require a client
    certificate. With SASL, `kafka_mechanism` is PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512, and
    `kafka_user` and `kafka_password` are required. `kafka_prefix` is a prefix of the names of all
    topics and consumer groups, for installations that share brokers.
    """

    kafka_security: Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"] = "PLAINTEXT"
    kafka_ca: Path | None = None
    kafka_certificate: Path | None = None
    kafka_key: Path | None = None
    kafka_mechanism: Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"] = "SCRAM-SHA-512"
    kafka_user: str | None = None
    kafka_user_file: Path | None = None
    kafka_password: SecretStr | None = None
    kafka_password_file: Path | None = None
    kafka_prefix: str = Field(default="", max_length=64, pattern=r"^[A-Za-z0-9._-]*$")

    def security(self, servers: Iterable[Address]) -> KafkaSecurity:
        """The security options for these brokers.

        Raises InvalidInput naming a variable that is missing or has no effect with the others,
        and an unusable file.
        """
        options = KafkaSecurity(self._kafka_tls(), self._kafka_sasl())
        remote = [str(server) for server in servers if not server.loopback]
        if options.sasl and options.sasl.mechanism == "PLAIN" and not options.tls and remote:
            message = f"PLAIN would send the password to {', '.join(remote)} in plaintext"
            raise self._wrong("kafka_mechanism", f"{message}: use SASL_SSL or SCRAM")
        options.options()
        return options

    def _kafka_tls(self) -> KafkaTls | None:
        files = ("kafka_ca", "kafka_certificate", "kafka_key")
        if self.kafka_security not in ("SSL", "SASL_SSL"):
            self._refuse_unused(files)
            return None
        if (self.kafka_certificate is None) != (self.kafka_key is None):
            missing = "kafka_key" if self.kafka_key is None else "kafka_certificate"
            raise self._wrong(missing, INCOMPLETE_PAIR)
        return KafkaTls(self.kafka_ca, self.kafka_certificate, self.kafka_key)

    def _kafka_sasl(self) -> KafkaSasl | None:
        if self.kafka_security not in ("SASL_PLAINTEXT", "SASL_SSL"):
            self._refuse_unused(("kafka_user", "kafka_password"))
            return None
        if not self.kafka_user:
            raise self._wrong("kafka_user", f"needed with {self.kafka_security}")
        if self.kafka_password is None:
            raise self._wrong("kafka_password", f"needed with {self.kafka_security}")
        password = self.kafka_password.get_secret_value()
        return KafkaSasl(self.kafka_mechanism, self.kafka_user, password)

    def _refuse_unused(self, fields: Iterable[str]) -> None:
        """Refuse settings without effect: their author expects protection from them."""
        for field in fields:
            if getattr(self, field) is not None:
                protocol = variable(type(self), "kafka_security")
                raise self._wrong(field, f"has no effect while {protocol} is {self.kafka_security}")

    def _wrong(self, field: str, message: str) -> InvalidInput:
        return InvalidInput(message, file="environment", field=variable(type(self), field))


class StreamSettings(KafkaSettings):
    """The source of jobs: Kafka's bootstrap servers, host:port separated by commas.

    `kafka_session` is the session timeout in seconds: another worker then takes over the jobs of
    one that has gone silent.
    """

    kafka: str = ""
    kafka_session: float = Field(default=15.0, ge=1, le=3600)
