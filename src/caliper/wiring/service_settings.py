"""The settings of services, from the environment: one flat class per service.

A service's class combines mixins of the settings that services have in common:

    CALIPER_JUDGE_LISTEN=0.0.0.0:50053 CALIPER_JUDGE_TLS_CERTIFICATE=... python -m services.judge
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import Field, SecretStr
from pydantic_settings import SettingsConfigDict

from caliper.core.errors import InvalidInput
from caliper.core.owners import Sharing
from caliper.lazy import lazy_module
from caliper.pipeline.work.authentic_stream import CAPTIONER, GATEWAY, JUDGE, QA_READER
from caliper.serving.addresses import Address, refuse_remote
from caliper.wiring.endpoint_settings import EndpointSettings, ExaminerSettings
from caliper.wiring.kafka_settings import INCOMPLETE_PAIR, StreamSettings
from caliper.wiring.key_settings import SenderSettings, VerifierSettings
from caliper.wiring.logs import LogSettings
from caliper.wiring.settings import (
    PREFIX,
    MediaLimitSettings,
    MediaSettings,
    Settings,
    variable,
)
from caliper.wiring.targets import target

if TYPE_CHECKING:
    from caliper.adapters.remote.channel import Target
    from caliper.serving import grpc_server, server_certificates
else:
    server_certificates = lazy_module("caliper.serving.server_certificates")
    grpc_server = lazy_module("caliper.serving.grpc_server")


class ServerSettings(LogSettings):
    """The gRPC server of a service. Times are in seconds.

    `listen` and `health_listen` are host:port; the latter serves only health checks, in plaintext,
    and is off unless set. `tls_certificate` and `tls_key` are PEM files, `tokens` is a file of
    tokens (serving.tokens); all three are optional on a loopback address. With `tls_clients`, a PEM
    file of authorities, callers need a certificate of one of them, too. `deadline` applies to
    calls without one, `grace` is the time for calls in flight when the service stops.
    `metrics_address` serves Prometheus metrics over plain HTTP without tokens, by default at a
    loopback port, which is logged; empty disables it.
    """

    listen: str = "127.0.0.1:50051"
    health_listen: str | None = None
    metrics_address: str = "127.0.0.1:0"
    tls_certificate: Path | None = None
    tls_key: Path | None = None
    tls_clients: Path | None = None
    tokens: Path | None = None
    deadline: float = Field(default=120.0, gt=0, le=3600)
    grace: float = Field(default=30.0, ge=0, le=3600)
    check_every: float = Field(default=5.0, gt=0, le=60)

    def server(self) -> grpc_server.ServerOptions:
        """The options of the gRPC server.

        Raises InvalidInput naming the variables that are wrong, or that are missing for a server
        that other machines can reach.
        """
        health = None
        if self.health_listen is not None:
            health = Address.parse(self.health_listen, variable(type(self), "health_listen"))
        options = grpc_server.ServerOptions(
            listen=Address.parse(self.listen, variable(type(self), "listen")),
            health=health,
            tls=self._tls(),
            tokens=self.tokens,
            deadline=self.deadline,
            grace=self.grace,
            check_every=self.check_every,
        )
        grpc_server.refuse_open(options, lambda field: variable(type(self), field))
        return options

    def metrics(self) -> Address | None:
        """The address that serves metrics. Raises InvalidInput naming the variable."""
        if not self.metrics_address:
            return None
        return Address.parse(self.metrics_address, variable(type(self), "metrics_address"))

    def _tls(self) -> server_certificates.Tls | None:
        if self.tls_certificate is not None and self.tls_key is not None:
            pair = self.tls_certificate, self.tls_key
            return server_certificates.Tls(*pair, self.tls_clients)
        if self.tls_certificate is None and self.tls_key is None:
            if self.tls_clients is not None:
                field = variable(type(self), "tls_clients")
                raise InvalidInput("has no effect without TLS", file="environment", field=field)
            return None
        field = "tls_key" if self.tls_key is None else "tls_certificate"
        raise InvalidInput(INCOMPLETE_PAIR, file="environment", field=variable(type(self), field))


class StoreSettings(Settings):
    """The store of media, captions and replies: an S3 endpoint (http or https URL, bucket and
    keys), or a directory. `store_ca` is a PEM file of certificates to trust over https.

    `store_session_token` belongs to keys that expire. Without keys, the workload uses those
    that the cluster lends it. `store_region` is by default the one in the name of an Amazon
    endpoint, and us-east-1 elsewhere; `store_style` is where requests name the bucket, by default
    `host` at Amazon and `path` elsewhere.
    """

    store: str = ""
    store_bucket: str = "caliper"
    store_access_key: SecretStr | None = None
    store_access_key_file: Path | None = None
    store_secret_key: SecretStr | None = None
    store_secret_key_file: Path | None = None
    store_session_token: SecretStr | None = None
    store_session_token_file: Path | None = None
    store_region: str = Field(default="", pattern=r"^([a-z0-9][a-z0-9-]{0,61}[a-z0-9])?$")
    store_style: Literal["path", "host"] | None = None
    store_ca: Path | None = None


class CaptionerSettings(
    SenderSettings, EndpointSettings, MediaSettings, StreamSettings, StoreSettings, ServerSettings
):
    """The captioner: CALIPER_CAPTIONER_..."""

    model_config = SettingsConfigDict(env_prefix=f"{PREFIX}CAPTIONER_")
    SENDER = CAPTIONER

    # Required: no rules can write captions.
    model: str


class JudgeSettings(
    SenderSettings, ExaminerSettings, StreamSettings, StoreSettings, ServerSettings
):
    """The judge: CALIPER_JUDGE_... `tagger` and `embedder` are those of CompreCap."""

    model_config = SettingsConfigDict(env_prefix=f"{PREFIX}JUDGE_")
    SENDER = JUDGE

    tagger: str = "rules"
    embedder: str = "ngram"

    @property
    def specs(self) -> tuple[str, ...]:
        """The SPECs of all models of the service."""
        return self.model, self.embedder


class QaReaderSettings(
    SenderSettings, ExaminerSettings, StreamSettings, StoreSettings, ServerSettings
):
    """The reader: CALIPER_QA_READER_..."""

    model_config = SettingsConfigDict(env_prefix=f"{PREFIX}QA_READER_")
    SENDER = QA_READER


class AggregatorSettings(
    VerifierSettings, MediaLimitSettings, StreamSettings, StoreSettings, ServerSettings
):
    """The aggregator: CALIPER_AGGREGATOR_..."""

    model_config = SettingsConfigDict(env_prefix=f"{PREFIX}AGGREGATOR_")


class PeerSettings(ServerSettings):
    """Calls to other services at host:port, or https://host:port for TLS.

    `peer_token` is the bearer token for these calls, `peer_ca` a PEM file of trusted certificates:
    with it, all calls use TLS and present the server certificate of this service. A token
    is sent in plaintext only to this machine.
    """

    peer_token: SecretStr | None = None
    peer_token_file: Path | None = None
    peer_ca: Path | None = None

    def peer(self, service: str, address: str) -> Target:
        """The target of calls to another service, whose address is in the field `service`.

        Raises InvalidInput naming the wrong variable, and for a token that would be sent in
        plaintext.
        """
        names = variable(type(self), service), variable(type(self), "peer_ca")
        peer = target(address, names[0], self.peer_token, self.peer_ca, names[1])
        if self.tls_certificate is None or self.tls_key is None:
            return peer
        return replace(peer, identity=(self.tls_certificate, self.tls_key))


class GatewaySettings(
    SenderSettings, PeerSettings, MediaLimitSettings, StreamSettings, StoreSettings, ServerSettings
):
    """The gateway: CALIPER_GATEWAY_...

    An unset stage does not exist. With `stages_sleep`, a stage scaled to zero is described as it
    last was. `page_address`, a loopback host:port, serves pages without TLS or tokens. Runs that
    ended `retention_days` ago are removed. `sharing` is who else sees a caller's objects, and the
    file `quotas` has the limits of teams.
    """

    model_config = SettingsConfigDict(env_prefix=f"{PREFIX}GATEWAY_")
    SENDER = GATEWAY

    aggregator: str = "127.0.0.1:50055"
    captioner: str | None = None
    judge: str | None = None
    qa_reader: str | None = None
    stages_sleep: bool = False
    page_address: str = ""
    retention_days: int | None = Field(default=None, ge=1)
    sharing: Sharing = Sharing.TEAM
    quotas: Path | None = None

    def page(self) -> Address | None:
        """The address that serves pages.

        Raises InvalidInput naming the variable if it is not an address, or one that other machines
        can reach.
        """
        if not self.page_address:
            return None
        field = variable(type(self), "page_address")
        address = Address.parse(self.page_address, field)
        refuse_remote(address, field)
        return address
