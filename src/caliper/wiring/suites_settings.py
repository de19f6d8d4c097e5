"""The settings of the service that evaluates checkpoints by suites."""

from __future__ import annotations

import ssl
from pathlib import Path

from pydantic_settings import SettingsConfigDict

from caliper.core.errors import InvalidInput
from caliper.core.owners import Sharing
from caliper.serving.addresses import Address
from caliper.wiring.endpoint_settings import ModelCallSettings
from caliper.wiring.hosts import PermittedHosts
from caliper.wiring.kafka_settings import StreamSettings
from caliper.wiring.service_settings import (
    PeerSettings,
    ServerSettings,
    StoreSettings,
)
from caliper.wiring.settings import PREFIX, MediaSettings, variable


class SuitesSettings(
    ModelCallSettings, MediaSettings, PeerSettings, StreamSettings, StoreSettings, ServerSettings
):
    """The service that evaluates checkpoints by suites: CALIPER_SUITES_...

    MinIO announces checkpoints below `bucket` (BUCKET/PREFIX at the store's endpoint) whose names
    match `objects` in `topic`. Files that suites name for `notify` are below the folder
    `notify_files`; the names of variables begin with NOTIFY_.

    Suites may use `servers` ([https://]HOST:PORT, separated by commas) for their checkpoints, which
    get the `model_token`, and pods in the namespace `pods` of the API server `pods_api`, created
    with `token` and `ca.crt` of the folder `pods_account`; by default, neither.

    Webhooks that announce checkpoints are received at `webhooks_address`, host:port, by TLS if the
    service has a certificate, and in plaintext on loopback alone. Files named like their senders
    in the folder `webhooks_secrets` hold the secrets, and are reread at each delivery.

    `prices` are those of models, as in CALIPER_PRICES, and `sharing` is as for the gateway.
    """

    model_config = SettingsConfigDict(env_prefix=f"{PREFIX}SUITES_")

    gateway: str = "127.0.0.1:50051"
    bucket: str = ""
    objects: str = "*"
    topic: str = "checkpoints"
    webhooks_address: str = ""
    webhooks_secrets: Path | None = None
    notify_files: Path | None = None
    servers: str = ""
    pods: str = ""
    pods_api: str = "https://kubernetes.default.svc"
    pods_account: Path = Path("/var/run/secrets/kubernetes.io/serviceaccount")
    prices: str = ""
    sharing: Sharing = Sharing.TEAM

    @property
    def specs(self) -> tuple[str, ...]:
        """The permitted servers."""
        return tuple(filter(None, (each.strip() for each in self.servers.split(","))))

    def hosts(self) -> PermittedHosts:
        """The hosts that may serve checkpoints of suites."""
        account = str(self.pods_account)
        return PermittedHosts(self.specs, self.pods, self.pods_api, account)

    def webhooks(self) -> tuple[Address, ssl.SSLContext | None] | None:
        """Where webhooks are received, and how.

        Raises InvalidInput naming the variable for an address that is none, without a folder of
        secrets, and without a certificate for one that other machines can reach.
        """
        if not self.webhooks_address:
            return None
        address = Address.parse(self.webhooks_address, variable(type(self), "webhooks_address"))
        tls = self._tls()
        missing = "webhooks_secrets" if self.webhooks_secrets is None else ""
        if tls is None and not address.loopback:
            missing = "tls_certificate"
        if missing:
            message = f"required to receive webhooks on {address}"
            field = variable(type(self), missing)
            raise InvalidInput(message, file="environment", field=field)
        return address, None if tls is None else tls.context()

    def webhook_secret(self, sender: str) -> str | None:
        """The present secret of a sender of webhooks, if it has one."""
        if self.webhooks_secrets is None:
            return None
        try:
            return (self.webhooks_secrets / sender).read_text("utf-8").strip()
        except (OSError, UnicodeDecodeError):
            return None
