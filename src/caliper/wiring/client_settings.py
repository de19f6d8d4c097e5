"""The settings of the command line that reach an installation, from the environment."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from pydantic import SecretStr

from caliper.wiring.kafka_settings import KafkaSettings
from caliper.wiring.service_settings import StoreSettings
from caliper.wiring.settings import PREFIX, SERVICES, ModelSettings, variable
from caliper.wiring.targets import target

if TYPE_CHECKING:
    from caliper.adapters.remote.channel import Target


class ClientSettings(KafkaSettings, StoreSettings):
    """How the command line reaches an installation.

    CALIPER_STORE... is the store, for its administrators; CALIPER_KAFKA_... configures the
    connection to the brokers that --kafka names; CALIPER_SERVER_TOKEN is the bearer token,
    CALIPER_SERVER_CA a PEM file of certificates to trust instead of this machine's: with it, calls
    use TLS, as they do for https://host:port. A token is sent in plaintext only to this machine.
    CALIPER_WEBHOOK_SECRET_... are the secrets shared by webhook senders and `suite run --listen`.
    """

    others: ClassVar[tuple[str, ...]] = (
        *(f"{PREFIX}{service}_" for service in SERVICES),
        *(variable(ModelSettings, name) for name in ModelSettings.model_fields),
    )

    server_token: SecretStr | None = None
    server_token_file: Path | None = None
    server_ca: Path | None = None
    webhook_secret_mlflow: SecretStr | None = None
    webhook_secret_huggingface: SecretStr | None = None
    webhook_secret_wandb: SecretStr | None = None

    def webhook_secrets(self) -> dict[str, str]:
        """The secrets by sender, where there is one."""
        prefix = "webhook_secret_"
        secrets = {name.removeprefix(prefix): value for name, value in self if prefix in name}
        return {name: value.get_secret_value() for name, value in secrets.items() if value}

    def gateway(self, server: str) -> Target:
        """The gateway that --server names.

        Raises InvalidInput if it is not an address, and for a token that would be sent in
        plaintext.
        """
        ca = variable(type(self), "server_ca")
        return target(server, "--server", self.server_token, self.server_ca, ca)
