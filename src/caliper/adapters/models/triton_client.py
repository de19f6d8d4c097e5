"""A gRPC client for one model of a Triton server: metadata, loading and inference, one try each."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from grpc import ChannelConnectivity, StatusCode, ssl_channel_credentials
from grpc.aio import AioRpcError
from pydantic import SecretStr
from tritonclient.grpc import InferInput, InferResult
from tritonclient.grpc.aio import InferenceServerClient
from tritonclient.utils import InferenceServerException

from caliper.adapters.models.triton_address import TritonAddress
from caliper.adapters.models.triton_errors import code_of, failure, is_queue_full
from caliper.adapters.models.triton_metadata import ServedModel, read_model
from caliper.adapters.trust import ca_certificates
from caliper.core.errors import (
    BackendOverloaded,
    BackendUnavailable,
    CaliperError,
    ModelChanged,
    UnknownName,
)

LOAD_SECONDS = 600.0
"""The timeout of loading a model: its weights may come from a slow disk."""
LOOK_SECONDS = 5.0
"""The timeout of asking the server why a call failed."""
_PONG_SECONDS = 10.0
"""The longest wait for the answer to a keepalive ping."""
CHECK_EVERY = 2.0
"""Seconds after which the model's metadata is read again: no reply reveals that a model was
reloaded under the same version.
"""
# These options replace all defaults of the library, including its message limits. gRPC's own
# default of 4 MB is too small for some pictures.
_CHANNEL = [
    ("grpc.max_send_message_length", 2**31 - 1),
    ("grpc.max_receive_message_length", 64 * 1024 * 1024),
    # Reconnect within two seconds of a server's return.
    ("grpc.max_reconnect_backoff_ms", 2000),
]
_FAILURES = (InferenceServerException, AioRpcError)
Result = TypeVar("Result")


class TritonClient:
    """A connection to one model. Await `open` before any request, and `close` at the end.

    A call times out after `seconds`. `ca` is a PEM file of certificates to trust over TLS instead
    of those that this machine trusts. `silence`: seconds without data until an open call sends a
    keepalive ping, a third of the longest call if None; without an answer in another third of
    that, 10 seconds at most, the connection is given up. Every method raises BackendError
    subclasses; inference also raises ModelChanged if the model is no longer the one that `open`
    found.
    """

    def __init__(
        self,
        address: TritonAddress,
        token: SecretStr | None,
        seconds: float,
        check_every: float = CHECK_EVERY,
        ca: Path | None = None,
        silence: float | None = None,
    ) -> None:
        """Raises InvalidInput for an unusable CA."""
        self._address, self._seconds, self._check_every = address, seconds, check_every
        self._headers = {"authorization": f"Bearer {token.get_secret_value()}"} if token else {}
        credentials = ssl_channel_credentials(ca_certificates(ca)) if address.encrypted else None
        # No proxy for plaintext: it could read everything.
        direct = [] if address.encrypted else [("grpc.enable_http_proxy", 0)]
        # Triton, like every gRPC server by default, ends a connection at the fourth ping without
        # data in between: a call that only takes long must not send so many.
        silence = silence or max(seconds, LOAD_SECONDS) / 3
        keepalive = [
            # A machine that vanishes closes no connections. With keepalive, gRPC also has the
            # kernel give up a connection whose data nobody acknowledges for 20 seconds.
            ("grpc.keepalive_time_ms", round(silence * 1000)),
            # This option ends the wait for a ping's answer; grpc.keepalive_timeout_ms does not.
            ("grpc.http2.ping_timeout_ms", round(min(silence / 3, _PONG_SECONDS) * 1000)),
        ]
        self._client = InferenceServerClient(
            address.target, creds=credentials, channel_args=[*_CHANNEL, *keepalive, *direct]
        )
        self._served: ServedModel | None = None
        self._verified_until = 0.0
        self._check_task: asyncio.Task[None] | None = None

    @property
    def model(self) -> ServedModel:
        """The model as `open` first found it."""
        if self._served is None:
            raise CaliperError("the Triton model is asked for before it was opened")
        return self._served

    async def open(self) -> ServedModel:
        """Read the model's metadata, after loading the model if the address asks for it.

        Raises UnknownName if the server has no such model or version.
        """
        if self._address.options.get("load") and not await self.ready():
            await self.load()
        served = await self._described()
        if self._served is None:
            self._served = served
        return served

    async def ready(self) -> bool:
        """Whether the model answers requests."""
        call = self._client.is_model_ready(
            self._address.model, self._address.version, **self._call_options
        )
        return bool(await self._translate(call))

    async def load(self) -> None:
        """Load or reload the model. Requires explicit model control mode."""
        options = {"headers": self._headers, "client_timeout": LOAD_SECONDS}
        await self._translate(self._client.load_model(self._address.model, **options))

    async def infer(
        self, inputs: Sequence[InferInput], parameters: Mapping[str, Any] | None = None
    ) -> InferResult:
        """The answer of a model that gives one answer per request."""
        await self._verify()
        address = self._address
        call = self._client.infer(
            address.model, inputs, address.version, parameters=parameters, **self._call_options
        )
        return self._check_version(await self._translate(call))

    async def stream(self, inputs: Sequence[InferInput]) -> AsyncGenerator[InferResult, None]:
        """Stream the answers of a decoupled model. Close the generator to cancel the request."""
        await self._verify()
        request = {
            "model_name": self._address.model,
            "model_version": self._address.version,
            "inputs": inputs,
        }

        async def requests() -> AsyncIterator[dict[str, Any]]:
            yield request

        # This header makes the server send a status with failures in a stream.
        headers = {**self._headers, "triton_grpc_error": "true"}
        answers = self._client.stream_infer(requests(), self._seconds, headers)
        try:
            async for result, error in answers:
                if error is not None:
                    raise await self._explain(error) from error
                yield self._check_version(result)
        except _FAILURES as error:
            raise await self._explain(error) from error
        finally:
            answers.cancel()

    async def close(self) -> None:
        """Close the connection."""
        if self._check_task is not None:
            self._check_task.cancel()
            await asyncio.wait([self._check_task])
        await self._client.close()

    @property
    def _call_options(self) -> dict[str, Any]:
        return {"headers": self._headers, "client_timeout": self._seconds}

    async def _translate(self, call: Awaitable[Result]) -> Result:
        try:
            return await call
        except _FAILURES as error:
            raise await self._explain(error) from error

    async def _described(self) -> ServedModel:
        name, version = self._address.model, self._address.version
        options = {"as_json": True, **self._call_options}
        metadata = await self._translate(self._client.get_model_metadata(name, version, **options))
        config = await self._translate(self._client.get_model_config(name, version, **options))
        try:
            served = read_model(metadata, config.get("config", {}), version)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise BackendUnavailable(f"the server does not describe {name}: {error!r}") from error
        self._verified_until = asyncio.get_running_loop().time() + self._check_every
        return served

    async def _verify(self) -> None:
        """Check again, after trouble and periodically, that the model is still the same.

        Calls in flight share one check.
        """
        if self._connected and asyncio.get_running_loop().time() < self._verified_until:
            return
        if self._check_task is None:
            self._check_task = asyncio.ensure_future(self._check_model())
            self._check_task.add_done_callback(self._check_done)
        # Cancelling one caller must not cancel the check of the others.
        await asyncio.shield(self._check_task)

    def _check_done(self, task: asyncio.Task[None]) -> None:
        self._check_task = None
        if not task.cancelled():
            # Waiting callers have the exception already; mark it as retrieved.
            task.exception()

    async def _check_model(self) -> None:
        opened = self.model
        served = await self._described()
        if served.revision != opened.revision:
            self._verified_until = 0.0
            raise _changed(opened, served.revision)

    @property
    def _connected(self) -> bool:
        """Whether the connection is up. A new connection may lead to another server."""
        # The library reconnects silently, and has no public access to the channel.
        channel = self._client._channel  # noqa: SLF001
        return channel.get_state() is ChannelConnectivity.READY

    def _check_version(self, result: InferResult) -> InferResult:
        version = result.get_response().model_version
        if version != self.model.version:
            self._verified_until = 0.0
            raise _changed(self.model, f"version {version}")
        return result

    async def _index(self) -> dict[str, dict[str, str]]:
        """The state of each version of each model in the server's repository."""
        call = self._client.get_model_repository_index(
            headers=self._headers, as_json=True, client_timeout=min(LOOK_SECONDS, self._seconds)
        )
        try:
            answer = await call
        except _FAILURES as error:
            raise failure(error) from error
        models: dict[str, dict[str, str]] = {}
        for entry in answer.get("models", ()):
            states = models.setdefault(entry["name"], {})
            if "version" in entry:
                states[entry["version"]] = entry.get("state", "UNAVAILABLE")
        return models

    async def _explain(self, error: InferenceServerException | AioRpcError) -> Exception:
        """The error for a failure; the model's state decides if the status is ambiguous.

        UNAVAILABLE means a missing model, version or server, NOT_FOUND a model that does not exist
        or is not loaded.
        """
        if is_queue_full(error):
            return BackendOverloaded(f"the queue of the Triton model {self._address.model} is full")
        code = code_of(error)
        if code not in (StatusCode.UNAVAILABLE, StatusCode.NOT_FOUND, None):
            return failure(error)
        try:
            models = await self._index()
        except CaliperError:
            self._verified_until = 0.0
            return failure(error)
        name, states = self._address.model, models.get(self._address.model)
        if states is None:
            return self._unknown("model of the Triton server", name, tuple(models))
        ready = tuple(version for version, state in states.items() if state == "READY")
        is_ready = bool(ready) and self._address.version in ("", *ready)
        self._verified_until = 0.0
        return failure(error) if is_ready else self._absent(states, ready)

    def _absent(self, states: Mapping[str, str], ready: tuple[str, ...]) -> Exception:
        """The error for a model without a ready version, or without the requested one ready."""
        name, version = self._address.model, self._address.version
        if ready:
            return self._unknown("version of the Triton model", version, ready)
        summary = ", ".join(f"version {number}: {state}" for number, state in states.items())
        return BackendUnavailable(f"the Triton model {name} is not loaded ({summary or 'not yet'})")

    def _unknown(self, kind: str, name: str, names: tuple[str, ...]) -> Exception:
        unknown = UnknownName(kind, name, names)
        # A name that was valid when the run began is not a user error.
        return unknown if self._served is None else _changed(self._served, str(unknown))


def _changed(opened: ServedModel, state: str) -> ModelChanged:
    return ModelChanged(
        f"the Triton server no longer has {opened.name} as it was: {state}; "
        f"the run was resolved with {opened.revision}"
    )
