"""One model of a Triton server over gRPC: described, controlled and asked, one try a call."""

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
from caliper.adapters.models.triton_errors import code_of, failure
from caliper.adapters.models.triton_metadata import ServedModel, read_served
from caliper.adapters.trust import roots
from caliper.core.errors import (
    BackendOverloaded,
    BackendUnavailable,
    CaliperError,
    ModelChanged,
    UnknownName,
)

LOAD_SECONDS = 600.0
"""How long a model may take to load: its weights may come from a slow disk."""
LOOK_SECONDS = 5.0
"""How long the server may take to say why a call failed."""
CHECK_EVERY = 2.0
"""Seconds after which the model is described again: one that was loaded anew under the same
version tells it in no reply.
"""
# Options given replace all of the library's defaults, its limits on messages as well: without
# them gRPC lets 4 MB in, and a picture may have more than that.
_CHANNEL = [
    ("grpc.max_send_message_length", 2**31 - 1),
    ("grpc.max_receive_message_length", 64 * 1024 * 1024),
    # A server that was away is tried again within a second or two.
    ("grpc.max_reconnect_backoff_ms", 2000),
]
_FAILURES = (InferenceServerException, AioRpcError)
Result = TypeVar("Result")


class TritonClient:
    """A connection to one model. `open` must be awaited before it is asked, `close` at the end.

    A call may take `seconds`. `ca` is a PEM file of certificates to trust over TLS instead of
    those that this machine trusts. Every method raises BackendError subclasses; those that ask the
    model raise ModelChanged as well when it is no longer the one that `open` found.
    """

    def __init__(
        self,
        address: TritonAddress,
        token: SecretStr | None,
        seconds: float,
        check_every: float = CHECK_EVERY,
        ca: Path | None = None,
    ) -> None:
        """Raises InvalidInput for a CA that cannot be used."""
        self._address, self._seconds, self._check_every = address, seconds, check_every
        self._headers = {"authorization": f"Bearer {token.get_secret_value()}"} if token else {}
        credentials = ssl_channel_credentials(roots(ca)) if address.encrypted else None
        # In plaintext not by way of a proxy, which would read all of it.
        direct = [] if address.encrypted else [("grpc.enable_http_proxy", 0)]
        self._client = InferenceServerClient(
            address.target, creds=credentials, channel_args=[*_CHANNEL, *direct]
        )
        self._served: ServedModel | None = None
        self._sure_until = 0.0
        self._looking: asyncio.Task[None] | None = None

    @property
    def served(self) -> ServedModel:
        """The model as `open` found it first."""
        if self._served is None:
            raise CaliperError("the Triton model is asked for before it was opened")
        return self._served

    async def open(self) -> ServedModel:
        """The model as the server describes it; loaded first where the address says so.

        Raises UnknownName when the server has no such model or version.
        """
        if self._address.options.get("load") and not await self.ready():
            await self.load()
        found = await self._described()
        if self._served is None:
            self._served = found
        return found

    async def ready(self) -> bool:
        """Whether the model answers requests."""
        call = self._client.is_model_ready(self._address.model, self._address.version, **self._how)
        return bool(await self._told(call))

    async def load(self) -> None:
        """Load the model, or load it anew. For a server in explicit model control."""
        how = {"headers": self._headers, "client_timeout": LOAD_SECONDS}
        await self._told(self._client.load_model(self._address.model, **how))

    async def infer(
        self, inputs: Sequence[InferInput], parameters: Mapping[str, Any] | None = None
    ) -> InferResult:
        """The one answer of a model that gives one answer a request."""
        await self._be_sure()
        address = self._address
        call = self._client.infer(
            address.model, inputs, address.version, parameters=parameters, **self._how
        )
        return self._checked(await self._told(call))

    async def stream(self, inputs: Sequence[InferInput]) -> AsyncGenerator[InferResult, None]:
        """The answers of a decoupled model until it ends them. Close it to cancel the request."""
        await self._be_sure()
        request = {
            "model_name": self._address.model,
            "model_version": self._address.version,
            "inputs": inputs,
        }

        async def requests() -> AsyncIterator[dict[str, Any]]:
            yield request

        # With this header the server gives failures in a stream a status.
        headers = {**self._headers, "triton_grpc_error": "true"}
        answers = self._client.stream_infer(requests(), self._seconds, headers)
        try:
            async for result, error in answers:
                if error is not None:
                    raise await self._explained(error) from error
                yield self._checked(result)
        except _FAILURES as error:
            raise await self._explained(error) from error
        finally:
            answers.cancel()

    async def close(self) -> None:
        """Close the connection."""
        if self._looking is not None:
            self._looking.cancel()
            await asyncio.wait([self._looking])
        await self._client.close()

    @property
    def _how(self) -> dict[str, Any]:
        return {"headers": self._headers, "client_timeout": self._seconds}

    async def _told(self, call: Awaitable[Result]) -> Result:
        try:
            return await call
        except _FAILURES as error:
            raise await self._explained(error) from error

    async def _described(self) -> ServedModel:
        name, version = self._address.model, self._address.version
        how = {"as_json": True, **self._how}
        metadata = await self._told(self._client.get_model_metadata(name, version, **how))
        config = await self._told(self._client.get_model_config(name, version, **how))
        try:
            served = read_served(metadata, config.get("config", {}), version)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise BackendUnavailable(f"the server does not describe {name}: {error!r}") from error
        self._sure_until = asyncio.get_running_loop().time() + self._check_every
        return served

    async def _be_sure(self) -> None:
        """Look again, after trouble and once in a while, whether it is still the same model.
        Calls in flight share one look.
        """
        if self._connected and asyncio.get_running_loop().time() < self._sure_until:
            return
        if self._looking is None:
            self._looking = asyncio.ensure_future(self._look())
            self._looking.add_done_callback(self._looked)
        # One caller who goes away must not take it from the others.
        await asyncio.shield(self._looking)

    def _looked(self, task: asyncio.Task[None]) -> None:
        self._looking = None
        if not task.cancelled():
            # Whoever waited has been told; if all went away, nobody needs to be.
            task.exception()

    async def _look(self) -> None:
        opened = self.served
        found = await self._described()
        if found.revision != opened.revision:
            self._sure_until = 0.0
            raise _changed(opened, found.revision)

    @property
    def _connected(self) -> bool:
        """Whether the connection holds; behind a new one may be another server."""
        # The library makes a channel anew without a word, and shows it to nobody.
        channel = self._client._channel  # noqa: SLF001
        return channel.get_state() is ChannelConnectivity.READY

    def _checked(self, result: InferResult) -> InferResult:
        version = result.get_response().model_version
        if version != self.served.version:
            self._sure_until = 0.0
            raise _changed(self.served, f"version {version}")
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
        found: dict[str, dict[str, str]] = {}
        for entry in answer.get("models", ()):
            states = found.setdefault(entry["name"], {})
            if "version" in entry:
                states[entry["version"]] = entry.get("state", "UNAVAILABLE")
        return found

    async def _explained(self, error: InferenceServerException | AioRpcError) -> Exception:
        """The failure, after a look at the model's state where its status has two meanings.

        UNAVAILABLE is a full queue when the model is ready, and a model, version or server that
        is not there otherwise. NOT_FOUND is a model that nobody has, or one that is not loaded now.
        """
        code = code_of(error)
        if code not in (StatusCode.UNAVAILABLE, StatusCode.NOT_FOUND, None):
            return failure(error)
        try:
            models = await self._index()
        except CaliperError:
            self._sure_until = 0.0
            return failure(error)
        name, states = self._address.model, models.get(self._address.model)
        if states is None:
            return self._unknown("model of the Triton server", name, tuple(models))
        ready = tuple(version for version, state in states.items() if state == "READY")
        meant = bool(ready) and self._address.version in ("", *ready)
        if code is StatusCode.UNAVAILABLE and meant:
            return BackendOverloaded(f"the queue of the Triton model {name} is full")
        self._sure_until = 0.0
        return failure(error) if meant else self._absent(states, ready)

    def _absent(self, states: Mapping[str, str], ready: tuple[str, ...]) -> Exception:
        """What it is that a model has no version ready, or another one than is asked for."""
        name, version = self._address.model, self._address.version
        if ready:
            return self._unknown("version of the Triton model", version, ready)
        known = ", ".join(f"version {found}: {state}" for found, state in states.items())
        return BackendUnavailable(f"the Triton model {name} is not loaded ({known or 'not yet'})")

    def _unknown(self, kind: str, name: str, known: tuple[str, ...]) -> Exception:
        unknown = UnknownName(kind, name, known)
        # What was there when the run began is no fault of who named it.
        return unknown if self._served is None else _changed(self._served, str(unknown))


def _changed(opened: ServedModel, found: str) -> ModelChanged:
    return ModelChanged(
        f"the Triton server no longer has {opened.name} as it was: {found}; "
        f"the run was resolved with {opened.revision}"
    )
