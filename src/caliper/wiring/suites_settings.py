"""The settings of the service that evaluates checkpoints by suites."""

from __future__ import annotations

from pathlib import Path

from pydantic_settings import SettingsConfigDict

from caliper.core.owners import Sharing
from caliper.wiring.endpoint_settings import ModelCallSettings
from caliper.wiring.hosts import PermittedHosts
from caliper.wiring.kafka_settings import StreamSettings
from caliper.wiring.service_settings import (
    PeerSettings,
    ServerSettings,
    StoreSettings,
)
from caliper.wiring.settings import PREFIX, MediaSettings


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

    `prices` are those of models, as in CALIPER_PRICES, and `sharing` is as for the gateway.
    """

    model_config = SettingsConfigDict(env_prefix=f"{PREFIX}SUITES_")

    gateway: str = "127.0.0.1:50051"
    bucket: str = ""
    objects: str = "*"
    topic: str = "checkpoints"
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
