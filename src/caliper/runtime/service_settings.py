"""The settings of services, from the environment: one flat class a service.

What services have in common stands in parts, which a service's class puts together:

    CALIPER_JUDGE_LISTEN=0.0.0.0:50053 CALIPER_JUDGE_TLS_CERTIFICATE=... python -m services.judge
"""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from pydantic import Field, SecretStr
from pydantic_settings import SettingsConfigDict

from caliper.core.errors import InvalidInput
from caliper.runtime.addresses import Address
from caliper.runtime.grpc_server import ServerOptions, Tls
from caliper.runtime.models import Access
from caliper.runtime.settings import (
    PREFIX,
    SERVICES,
    MediaSettings,
    ModelSettings,
    Settings,
    variable,
)


class ServerSettings(Settings):
    """How a service is called. Times are in seconds.

    `listen` and `health_listen` are host:port; the latter answers health alone, in plaintext,
    and is off when it is not given. `tls_certificate` and `tls_key` are PEM files, `tokens` is
    a file of tokens (runtime.tokens); on a loopback address they may be left out. `deadline` is
    that of calls without one, `grace` what calls in flight get when the service stops.
    """

    listen: str = "127.0.0.1:50051"
    health_listen: str | None = None
    tls_certificate: Path | None = None
    tls_key: Path | None = None
    tokens: Path | None = None
    deadline: float = Field(default=120.0, gt=0, le=3600)
    grace: float = Field(default=30.0, ge=0, le=3600)
    check_every: float = Field(default=5.0, gt=0, le=60)

    def server(self) -> ServerOptions:
        """The options of the gRPC server. Raises InvalidInput naming the variable."""
        health = None
        if self.health_listen is not None:
            health = Address.parse(self.health_listen, variable(type(self), "health_listen"))
        return ServerOptions(
            listen=Address.parse(self.listen, variable(type(self), "listen")),
            health=health,
            tls=self._tls(),
            tokens=self.tokens,
            deadline=self.deadline,
            grace=self.grace,
            check_every=self.check_every,
        )

    def _tls(self) -> Tls | None:
        if self.tls_certificate is not None and self.tls_key is not None:
            return Tls(self.tls_certificate, self.tls_key)
        if self.tls_certificate is None and self.tls_key is None:
            return None
        field = "tls_key" if self.tls_key is None else "tls_certificate"
        message = "certificate and key go together: this one is missing"
        raise InvalidInput(message, file="environment", field=variable(type(self), field))


class StoreSettings(Settings):
    """Where media, captions and replies are kept: an S3 endpoint (http or https URL, bucket and
    keys), or a directory.
    """

    store: str = ""
    store_bucket: str = "caliper"
    store_access_key: SecretStr | None = None
    store_access_key_file: Path | None = None
    store_secret_key: SecretStr | None = None
    store_secret_key_file: Path | None = None


class StreamSettings(Settings):
    """Where jobs come from: Kafka's bootstrap servers, host:port with commas between them.

    `kafka_session` is in seconds: until another takes over from a worker that is not heard of.
    """

    kafka: str = ""
    kafka_session: float = Field(default=15.0, ge=1, le=3600)


class EndpointSettings(Settings):
    """Which model works here, and how its endpoint is reached.

    `model` is a SPEC as on the command line, `pack` a folder of prompts instead of the shipped
    ones. `timeout` is in seconds a call, `in_flight` the most calls at once, `retry_budget` the
    seconds for which a job is tried again.
    """

    model: str = "lexical"
    model_token: SecretStr | None = None
    model_token_file: Path | None = None
    timeout: float = Field(default=120.0, gt=0, le=3600)
    retry_budget: float = Field(default=600.0, ge=0, le=86400)
    in_flight: int = Field(default=64, ge=1, le=4096)
    pack: Path | None = None

    def access(self) -> Access:
        """How the endpoint is reached."""
        return Access(self.model_token, self.timeout, self.in_flight, self.retry_budget)


class CaptionerSettings(
    EndpointSettings, MediaSettings, StreamSettings, StoreSettings, ServerSettings
):
    """The captioner: CALIPER_CAPTIONER_..."""

    model_config = SettingsConfigDict(env_prefix=f"{PREFIX}CAPTIONER_")

    # No rules can caption: a model has to be named.
    model: str


class JudgeSettings(EndpointSettings, StreamSettings, StoreSettings, ServerSettings):
    """The judge: CALIPER_JUDGE_... `tagger` and `embedder` are those of CompreCap."""

    model_config = SettingsConfigDict(env_prefix=f"{PREFIX}JUDGE_")

    tagger: str = "rules"
    embedder: str = "ngram"


class QaReaderSettings(EndpointSettings, StreamSettings, StoreSettings, ServerSettings):
    """The reader: CALIPER_QA_READER_..."""

    model_config = SettingsConfigDict(env_prefix=f"{PREFIX}QA_READER_")


class AggregatorSettings(StreamSettings, StoreSettings, ServerSettings):
    """The aggregator: CALIPER_AGGREGATOR_..."""

    model_config = SettingsConfigDict(env_prefix=f"{PREFIX}AGGREGATOR_")


class GatewaySettings(StreamSettings, StoreSettings, ServerSettings):
    """The gateway: CALIPER_GATEWAY_... Where the other services are, as host:port; a stage that
    is not given is not there. `peer_token` is the bearer token that they are called with,
    `peer_ca` the PEM file of who signed their certificates: with it, calls are TLS.
    """

    model_config = SettingsConfigDict(env_prefix=f"{PREFIX}GATEWAY_")

    aggregator: str = "127.0.0.1:50055"
    captioner: str | None = None
    judge: str | None = None
    qa_reader: str | None = None
    peer_token: SecretStr | None = None
    peer_token_file: Path | None = None
    peer_ca: Path | None = None


class ClientSettings(StoreSettings):
    """How the command line reaches an installation: CALIPER_STORE... is its store, for data
    that are pushed; CALIPER_SERVER_TOKEN its bearer token, CALIPER_SERVER_CA the PEM file of who
    signed the gateway's certificate: with it, calls are TLS.
    """

    others: ClassVar[tuple[str, ...]] = (
        *(f"{PREFIX}{service}_" for service in SERVICES),
        *(variable(ModelSettings, name) for name in ModelSettings.model_fields),
    )

    server_token: SecretStr | None = None
    server_token_file: Path | None = None
    server_ca: Path | None = None
