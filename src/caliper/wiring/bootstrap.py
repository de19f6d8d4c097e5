"""The bootstrap Job: creates the Secrets of an installation that do not exist yet."""

from __future__ import annotations

import logging
import sys
from datetime import timedelta
from pathlib import Path

from pydantic import Field
from pydantic_settings import SettingsConfigDict

from caliper.adapters.cluster.folder import FolderSecrets
from caliper.adapters.cluster.kubernetes import ClusterAccess, ClusterSecrets
from caliper.adapters.cluster.recipes import SecretPlan, recipes
from caliper.adapters.cluster.secrets import SecretStore, complete
from caliper.core.errors import CaliperError, InvalidInput
from caliper.wiring.clock import SystemClock
from caliper.wiring.settings import PREFIX, Settings, read_settings, variable

_OK, _INCONSISTENT, _BAD_INPUT, _ENVIRONMENT = 0, 1, 2, 4


class BootstrapSettings(Settings):
    """The bootstrap Job: CALIPER_BOOTSTRAP_...

    Secrets are created in `namespace` through the API server at `api`, with the service account
    that Kubernetes mounts into the pod at `account`: a folder with token and ca.crt. If
    `directory` is set, they are written as files into that folder instead. Certificates are valid
    for `certificate_days`, those of their authority for `authority_days`. If the
    API server is unavailable, requests are retried for `patience` seconds.
    """

    model_config = SettingsConfigDict(env_prefix=f"{PREFIX}BOOTSTRAP_")

    api: str = "https://kubernetes.default.svc"
    account: Path = Path("/var/run/secrets/kubernetes.io/serviceaccount")
    # A DNS label: it becomes part of the host names in certificates.
    namespace: str = Field(default="caliper", pattern=r"^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$")
    directory: Path | None = None
    authority_days: int = Field(default=3650, ge=1, le=36500)
    certificate_days: int = Field(default=365, ge=1, le=36500)
    patience: float = Field(default=120.0, ge=0, le=3600)

    def keeper(self) -> SecretStore:
        """The store of Secrets. Raises InvalidInput naming the wrong variable."""
        if self.directory is not None:
            return FolderSecrets(self.directory)
        if not self.api.startswith("https://"):
            message = "https:// is needed: the account's token would go there in plaintext"
            raise InvalidInput(message, file="environment", field=variable(type(self), "api"))
        url = self.api.rstrip("/")
        return ClusterSecrets(ClusterAccess(url, self.namespace, self.account, self.patience))

    def plan(self) -> SecretPlan:
        """The Secrets to create, with certificates valid from now."""
        return SecretPlan(
            self.namespace,
            SystemClock().now(),
            timedelta(days=self.authority_days),
            timedelta(days=self.certificate_days),
        )


def bootstrap() -> int:
    """Create the missing Secrets, with settings from the environment.

    Returns the exit code: 1 if existing Secrets do not match each other.
    """
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    try:
        settings = read_settings(BootstrapSettings)
        faults = complete(settings.keeper(), recipes(settings.plan()))
    except CaliperError as error:
        sys.stderr.write(f"Error: {error}\n")
        return _BAD_INPUT if isinstance(error, InvalidInput) else _ENVIRONMENT
    for fault in faults:
        sys.stderr.write(f"Error: {fault}\n")
    return _INCONSISTENT if faults else _OK
