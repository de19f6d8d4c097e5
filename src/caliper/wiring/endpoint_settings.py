"""Settings of the services that call a model: the model, and how to reach its endpoint."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field, SecretStr

from caliper.core.errors import InvalidInput
from caliper.wiring.endpoint_tokens import EndpointTokens, NamedToken
from caliper.wiring.key_settings import ReplySettings
from caliper.wiring.models import Access
from caliper.wiring.settings import variable
from caliper.wiring.specs import encrypted


class ModelCallSettings(ReplySettings):
    """How a service reaches the endpoints of models, and its prompts.

    `model_ca` is a PEM file of certificates to trust over TLS instead of those of this machine.
    `timeout` is in seconds per call, `in_flight` the maximum number of concurrent calls,
    `retry_budget` the seconds for which a job is retried. `pack` is a folder of prompts that
    replaces the shipped ones.
    """

    model_token: SecretStr | None = None
    model_token_file: Path | None = None
    model_ca: Path | None = None
    timeout: float = Field(default=120.0, gt=0, le=3600)
    retry_budget: float = Field(default=600.0, ge=0, le=86400)
    in_flight: int = Field(default=64, ge=1, le=4096)
    pack: Path | None = None

    @property
    def specs(self) -> tuple[str, ...]:
        """The SPECs, or the addresses, of all models of the service."""
        return ()

    def access(self) -> Access:
        """How to reach the endpoints. Raises InvalidInput for a CA that no endpoint would use."""
        if self.model_ca is not None and not any(map(encrypted, self.specs)):
            message = f"has no effect: {', '.join(self.specs)} is not reached over https://"
            field = variable(type(self), "model_ca")
            raise InvalidInput(message, file="environment", field=field)
        # The token and the called endpoints are set by the same person; runs do not change them.
        token = NamedToken.of(self.model_token, variable(type(self), "model_token"))
        return Access(
            EndpointTokens(token), self.timeout, self.in_flight, self.retry_budget, self.model_ca
        )


class EndpointSettings(ModelCallSettings):
    """The model of a service, and how to reach its endpoint: `model` is a SPEC as on the command
    line.
    """

    model: str = "lexical"

    @property
    def specs(self) -> tuple[str, ...]:
        """The SPECs of all models of the service."""
        return (self.model,)


class ExaminerSettings(EndpointSettings):
    """Settings of a judge or a reader.

    Unless `anchors` is false, anchors (captions with a known verdict) are judged alongside every
    run; the report and the metrics show how many were judged correctly.
    """

    anchors: bool = True
