"""Serves a checkpoint as a model that a Triton server loads for it, in explicit control mode."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from grpc import StatusCode, ssl_channel_credentials
from grpc.aio import AioRpcError
from tritonclient.grpc.aio import InferenceServerClient
from tritonclient.utils import InferenceServerException

from caliper.adapters.hosts.access import HostAccess
from caliper.adapters.hosts.probe import LOOK_SECONDS, PACE, until_ready, until_silent
from caliper.adapters.hosts.template import checkpoint_fields, fill
from caliper.adapters.trust import ca_certificates
from caliper.core.checkpoints import CheckpointRevision
from caliper.core.errors import BackendRejected, BackendUnavailable, InvalidInput
from caliper.ports.serving import CheckpointEndpoint, Note, Trace

_UNLOADED_WITHIN = 120.0
_CHANGING = {"LOADING", "UNLOADING"}
_FAILURES = (InferenceServerException, AioRpcError)


@dataclass(frozen=True, slots=True)
class RepositoryPlan:
    """Templates of `[https://]HOST:PORT/MODEL`, and of the model's configuration, which replaces
    that in the server's repository. `start` and `silence` are seconds, as in CommandPlan.
    """

    address: str
    config: Mapping[str, Any] | None
    start: float
    silence: float


@asynccontextmanager
async def _client(access: HostAccess, target: str) -> AsyncIterator[InferenceServerClient]:
    """A client of the server at `[https://]HOST:PORT`."""
    plain = target.removeprefix("https://")
    tls = ssl_channel_credentials(ca_certificates(access.ca)) if plain != target else None
    direct = [] if tls else [("grpc.enable_http_proxy", 0)]
    async with InferenceServerClient(plain, creds=tls, channel_args=direct) as client:
        yield client


class RepositoryServer:
    """ports.serving.CheckpointServer."""

    def __init__(self, plan: RepositoryPlan, access: HostAccess) -> None:
        self._plan, self._access = plan, access
        self._target = self._model = ""

    async def start(self, checkpoint: CheckpointRevision, note: Note) -> CheckpointEndpoint:
        address, config = fill(
            [self._plan.address, self._plan.config], checkpoint_fields(checkpoint)
        )
        self._target, slash, self._model = address.rpartition("/")
        if not slash:
            raise InvalidInput("expected HOST:PORT/MODEL", field="serve.triton")
        # A trace that nobody may follow would block the slot.
        headers = self._access.headers(self._target)
        await note({"kind": "triton", "target": self._target, "model": self._model})
        limit = self._plan.start
        async with _client(self._access, self._target) as client:
            try:
                await client.load_model(
                    self._model,
                    headers=headers,
                    config=None if config is None else json.dumps(config),
                    client_timeout=limit,
                )
            except _FAILURES as error:
                raise self._load_error(error) from error
        if problem := await until_ready(self._look, limit):
            raise BackendRejected(self._late(problem))
        return CheckpointEndpoint(self._target, self._model)

    def _late(self, problem: str) -> str:
        return f"not ready within {self._plan.start:,g} seconds: Triton's {self._model}: {problem}"

    def _load_error(self, error: Exception) -> Exception:
        code, text = _status(error), _text(error)
        if code is StatusCode.UNAVAILABLE:
            return BackendUnavailable(f"cannot reach the Triton server; gRPC says: {text}")
        if code is StatusCode.DEADLINE_EXCEEDED:
            return BackendRejected(self._late("it is being loaded"))
        return BackendRejected(f"Triton does not load {self._model}; it says: {text}")

    async def watch(self) -> None:
        problem = await until_silent(self._look, self._plan.silence)
        silence = f"not ready any more for {self._plan.silence:,g} seconds"
        raise BackendRejected(f"Triton's {self._model} is {silence}: {problem}")

    async def last_words(self) -> str:
        return ""

    async def close(self) -> None:
        pass

    async def _look(self) -> str:
        headers = self._access.headers(self._target)
        options = {"headers": headers, "client_timeout": LOOK_SECONDS}
        try:
            async with _client(self._access, self._target) as client:
                return "" if await client.is_model_ready(self._model, **options) else "not loaded"
        except _FAILURES as error:
            return _text(error)


async def unload(trace: Trace, access: HostAccess) -> None:
    """Unload the model of a trace, and wait until it is. Raises BackendUnavailable."""
    model, problem = trace["model"], "no answer"
    headers = access.headers(trace["target"])
    options: dict[str, Any] = {"headers": headers, "client_timeout": LOOK_SECONDS}
    try:
        async with asyncio.timeout(_UNLOADED_WITHIN), _client(access, trace["target"]) as client:
            while states := await _states(client, model, options):
                problem = ", ".join(sorted(states))
                # Wait while it loads or unloads: a request at that time has made Triton exit.
                if states - _CHANGING:
                    await client.unload_model(model, **options)
                await asyncio.sleep(PACE)
    except TimeoutError as error:
        raise BackendUnavailable(f"Triton does not unload {model}: {problem}") from error
    except _FAILURES as error:
        raise BackendUnavailable(f"Triton does not unload {model}: {_text(error)}") from error


async def _states(client: InferenceServerClient, model: str, options: dict[str, Any]) -> set[str]:
    """The states of a model's versions but those that are not loaded."""
    index = await client.get_model_repository_index(as_json=True, **options)
    versions = (each for each in index.get("models", ()) if each.get("name") == model)
    return {each.get("state", "") for each in versions} - {"", "UNAVAILABLE"}


def _status(error: Exception) -> StatusCode | None:
    if isinstance(error, AioRpcError):
        return error.code()
    assert isinstance(error, InferenceServerException)  # noqa: S101 - nothing else is caught
    return {str(code): code for code in StatusCode}.get(error.status() or "")


def _text(error: Exception) -> str:
    text = error.details() if isinstance(error, AioRpcError) else str(error)
    return " ".join((text or type(error).__name__).split())[:300]
