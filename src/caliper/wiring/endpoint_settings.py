"""The settings of services that have a model: which one, and how its endpoint is reached."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field, SecretStr

from caliper.core.errors import InvalidInput
from caliper.wiring.models import Access, encrypted
from caliper.wiring.settings import Settings, variable


class EndpointSettings(Settings):
    """Which model works here, and how its endpoint is reached.

    `model` is a SPEC as on the command line, `pack` a folder of prompts instead of the shipped
    ones. `model_ca` is a PEM file of certificates to trust over TLS instead of those that this
    machine trusts. `timeout` is in seconds a call, `in_flight` the most calls at once,
    `retry_budget` the seconds for which a job is tried again.
    """

    model: str = "lexical"
    model_token: SecretStr | None = None
    model_token_file: Path | None = None
    model_ca: Path | None = None
    timeout: float = Field(default=120.0, gt=0, le=3600)
    retry_budget: float = Field(default=600.0, ge=0, le=86400)
    in_flight: int = Field(default=64, ge=1, le=4096)
    pack: Path | None = None

    @property
    def specs(self) -> tuple[str, ...]:
        """The models that work here."""
        return (self.model,)

    def access(self) -> Access:
        """How endpoints are reached. Raises InvalidInput for a CA that nothing is checked by."""
        if self.model_ca is not None and not any(map(encrypted, self.specs)):
            message = f"has no effect: {', '.join(self.specs)} is not reached over https://"
            field = variable(type(self), "model_ca")
            raise InvalidInput(message, file="environment", field=field)
        return Access(
            self.model_token,
            self.timeout,
            self.in_flight,
            self.retry_budget,
            ca=self.model_ca,
        )


class ExaminingSettings(EndpointSettings):
    """Of a judge or a reader: unless `anchors` is false, known captions are judged beside every
    run, and its report and the metrics tell how many were judged correctly.
    """

    anchors: bool = True
