"""The section `serve` of a suite: how and where its checkpoints are served."""

from __future__ import annotations

import re
import socket
from collections.abc import Mapping
from typing import Any, Self
from urllib.parse import urlsplit

from pydantic import Field, ValidationInfo, field_validator, model_validator

from caliper.adapters.hosts.template import FIELDS, fill
from caliper.core.errors import InvalidInput
from caliper.wiring.strict import Strict

_SLOT = re.compile(r"[A-Za-z0-9_-]{1,63}", re.ASCII)
_LOOPBACK = {"localhost", "127.0.0.1", "::1"}
_MOST = 200
"""Characters of a server in a key. Servers with the same beginning take turns needlessly."""
_LIMITS = {"slot", "start", "use", "silence"}
_PLACES = {"namespace", "api", "account"}
_WITH_PORT = ("command", "url")
KINDS: Mapping[str, tuple[str, ...]] = {
    "command": ("url", "health", "model"),
    "triton": ("config",),
    "endpoint": ("lora", "model"),
    "pod": ("namespace", "port", "api", "account", "health", "model"),
}
"""The ways to serve a checkpoint, and the keys of each."""
ENDPOINT_FIELDS = ("endpoint", "model")
"""Fields of a captioner's SPEC that the server of the checkpoint fills in."""


class ServeConfig(Strict):
    """How a checkpoint is served: one of `KINDS`. In texts, {path}, {source}, {revision}, {name}
    and {step} are those of the checkpoint.

    `command` is a list of words, with {port}; it serves at `url`, and is ready when GET of the path
    `health` returns 200. `triton` is `[https://]HOST:PORT/MODEL` of a server in explicit control
    mode, `config` replaces the model's configuration there. `endpoint` is the URL of a server that
    others run; it is waited for, or loads the folder `lora` as an adapter (vLLM). `pod` is the
    manifest of a pod, created in `namespace` of the API server `api` with `token` and `ca.crt` of
    the folder `account`; it serves at `port`. `model` is the model's name. `start`, `use` and
    `silence` are limits in seconds: until it is ready, for the evaluation, and without an answer
    before it counts as hung. Suites with the same `slot`, or the same server, take turns.
    """

    slot: str = "default"
    command: tuple[str, ...] | None = Field(default=None, min_length=1)
    triton: str | None = None
    config: Mapping[str, Any] | None = None
    endpoint: str | None = None
    lora: str | None = None
    pod: Mapping[str, Any] | None = None
    namespace: str = "caliper"
    port: int = Field(default=8000, ge=1, le=65535)
    api: str = "https://kubernetes.default.svc"
    account: str = "/var/run/secrets/kubernetes.io/serviceaccount"
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

    @field_validator("health")
    @classmethod
    def _within_the_server(cls, value: str) -> str:
        if not value.startswith("/"):
            raise ValueError(f"expected a path that begins with /, found {value!r:.80}")
        return value

    @field_validator("command", "url", "model", "triton", "config", "endpoint", "lora", "pod")
    @classmethod
    def _known_fields(cls, value: Any, info: ValidationInfo) -> Any:
        port = ("port",) if info.field_name in _WITH_PORT else ()
        try:
            fill(value, dict.fromkeys((*FIELDS, *port), ""))
        except InvalidInput as error:
            raise ValueError(error.message) from error
        return value

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        kinds = [name for name in KINDS if getattr(self, name) is not None]
        if len(kinds) != 1:
            raise ValueError(f"give exactly one of {', '.join(KINDS)}")
        keys = {*_LIMITS, *kinds, *KINDS[kinds[0]]}
        if foreign := sorted(self.model_fields_set - keys):
            raise ValueError(f"{foreign[0]} is not for {kinds[0]}")
        return self

    @property
    def place(self) -> str:
        """The slot's name in the store. Each machine has its own for commands, which only it can
        end.
        """
        host = re.sub(r"[^A-Za-z0-9-]", "-", socket.gethostname())
        return f"{self.slot}.{host}" if self.command else self.slot

    @property
    def server_place(self) -> str:
        """The slot of a server that others run, however suites write its address; empty if the
        server is created for the checkpoint. Servers named by one template share a slot, as slots
        are not removed.
        """
        target = self.triton.rpartition("/")[0] if self.triton else self.endpoint
        if not target:
            return ""
        try:
            url = urlsplit(target if "://" in target else f"http://{target}")
            port = url.port or (443 if url.scheme == "https" else 80)
        except ValueError:
            # Its use will be refused.
            where = target.rpartition("@")[2]
        else:
            host = (url.hostname or "").rstrip(".")
            host = socket.gethostname().lower() if host in _LOOPBACK else host
            where = f"{host}-{port}" + re.sub(r"(/v1)?/*$", "", url.path)
        return "server." + re.sub(r"[^A-Za-z0-9.-]", "-", where)[:_MOST]

    @property
    def deciding(self) -> Mapping[str, Any]:
        """The values that may affect a result: no time limits and no places."""
        return self.model_dump(mode="json", exclude=_LIMITS | _PLACES, exclude_defaults=True)


def suite_serving(values: Mapping[str, Any]) -> ServeConfig | None:
    """How the checkpoints of a suite with these values are served, if at all."""
    return ServeConfig.model_validate(values["serve"]) if values.get("serve") else None
