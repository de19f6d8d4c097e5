"""The section `serve` of a suite: what serves each of its checkpoints, and where."""

from __future__ import annotations

import re
import socket
from collections.abc import Mapping
from typing import Any

from pydantic import Field, field_validator

from caliper.adapters.hosts.template import FIELDS, fill
from caliper.core.errors import InvalidInput
from caliper.local.strict import Strict

_SLOT = re.compile(r"[A-Za-z0-9_-]{1,63}", re.ASCII)
_PLACES = {"slot", "start", "use", "silence"}
ENDPOINT_FIELDS = ("endpoint", "model")
"""Fields of a captioner's SPEC that the server of the checkpoint fills in."""


class ServeConfig(Strict):
    """What serves a checkpoint.

    `command` are words in which {path}, {source}, {revision}, {name}, {step} and {port} stand for
    those of the checkpoint; it serves at `url`, and is ready when GET of the path `health` is
    answered with 200. `model` is the name of the model there. `start`, `use` and `silence` are
    seconds: until it is ready, of the evaluation, and without an answer before it counts as hung.
    Suites with the same `slot` take turns.
    """

    slot: str = "default"
    command: tuple[str, ...] = Field(min_length=1)
    url: str = "http://127.0.0.1:{port}"
    health: str = "/health"
    model: str = "{revision}"
    start: float = Field(default=1800, gt=0, le=86400)
    use: float = Field(default=86400, gt=0, le=2592000)
    silence: float = Field(default=120, gt=0, le=86400)

    @field_validator("slot")
    @classmethod
    def _usable(cls, value: str) -> str:
        if not _SLOT.fullmatch(value):
            raise ValueError(f"expected letters, digits, - and _ only, found {value!r:.80}")
        return value

    @field_validator("command", "url", "model")
    @classmethod
    def _known_fields(cls, value: Any) -> Any:
        try:
            fill(value, dict.fromkeys((*FIELDS, "port"), ""))
        except InvalidInput as error:
            raise ValueError(error.message) from error
        return value

    @property
    def place(self) -> str:
        """The slot as the store names it: one of each machine, for what only it can end."""
        host = re.sub(r"[^A-Za-z0-9-]", "-", socket.gethostname())
        return f"{self.slot}.{host}" if self.command else self.slot

    @property
    def deciding(self) -> Mapping[str, Any]:
        """What may decide a result: no limit of time, and no place."""
        return self.model_dump(mode="json", exclude=_PLACES, exclude_defaults=True)


def suite_serving(values: Mapping[str, Any]) -> ServeConfig | None:
    """What serves the checkpoints of a suite with these values, if anything does."""
    return ServeConfig.model_validate(values["serve"]) if values.get("serve") else None
