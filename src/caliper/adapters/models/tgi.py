"""A chat model behind `/v1/chat/completions`: TGI, vLLM, SGLang, llama.cpp's server.

Goes through huggingface_hub's asynchronous client. Whatever an endpoint does comes out as a
Completion or as an error of core.errors; no trouble turns into text.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import httpx2
from huggingface_hub import AsyncInferenceClient, ChatCompletionOutput, set_async_client_factory
from huggingface_hub.errors import HfHubHTTPError
from pydantic import SecretStr

from caliper.adapters.models.chat_json import message_json, read_completion
from caliper.adapters.models.endpoint import Endpoint, status_error
from caliper.adapters.models.retrying import Budget, Sleep, retried
from caliper.adapters.models.transport import new_client
from caliper.core.errors import (
    BackendRejected,
    BackendTimeout,
    BackendUnavailable,
    CaliperError,
    InvalidInput,
    ModelChanged,
    UnknownName,
)
from caliper.core.keys import canonical_json, digest
from caliper.core.question import Decoding
from caliper.ports.models import Completion, Identity, Message

_BUDGET = Budget()


class TgiModel:
    """A ChatModel. `resolve` must be awaited once before anything else, `close` at the end.

    At most `in_flight` calls are made at once; one that waits to be tried again keeps its
    place, so that an overloaded server gets less. `sleep` is how such waits are spent.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        token: SecretStr | None = None,
        in_flight: int = 64,
        budget: Budget = _BUDGET,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        """Raises InvalidInput for a token that cannot stand in a header."""
        self._endpoint, self._budget, self._sleep = endpoint, budget, sleep
        self._token = token.get_secret_value() if token else None
        if self._token and not (self._token.isascii() and self._token.isprintable()):
            raise InvalidInput(
                "the token holds a line break or another character that no header may",
                field="token",
            )
        self._slots = asyncio.Semaphore(in_flight)
        self._schemas_refused: set[bytes] = set()
        self._identity: Identity | None = None
        # The factory is one for the whole process, and only clients made later use it.
        set_async_client_factory(new_client)
        # Without a token the library would read the user's own from the environment or a
        # file, at every call, and send it to this endpoint. A header of None is left out.
        withheld: dict[str, Any] = {"authorization": None}
        self._client = AsyncInferenceClient(
            base_url=f"{endpoint.base}/v1",
            token=self._token or "none",
            headers=None if self._token else withheld,
        )

    @property
    def identity(self) -> Identity:
        """Which model the endpoint serves, as `resolve` found it."""
        if self._identity is None:
            raise CaliperError("the model's identity is asked for before it was resolved")
        return self._identity

    async def resolve(self) -> Identity:
        """Ask the endpoint which model it serves.

        TGI's `/info` gives the revision. Elsewhere it is a digest of what `/v1/models` says
        of the model's origin, or empty. `created` is left out of it: vLLM, SGLang and
        llama.cpp put the time of the request there.

        Raises UnknownName when the endpoint does not serve the model that was named, and
        BackendError subclasses.
        """
        async with new_client() as client:
            info = await self._described(client, "/info")
            served = info.get("model_id")
            if isinstance(served, str) and self._endpoint.model in {"", served}:
                self._identity = _identity(served, str(info.get("model_sha") or ""))
                return self._identity
            models = _listed(await self._described(client, "/v1/models"))
        if not models:
            raise BackendRejected(
                "the endpoint names no model under /info or /v1/models; check its URL"
            )
        name = self._endpoint.model or next(iter(models))
        if name not in models:
            raise UnknownName("model of the endpoint", name, tuple(models))
        origin = {key: models[name].get(key) for key in ("owned_by", "root", "parent")}
        known = any(origin.values())
        self._identity = _identity(name, digest(origin) if known else "")
        return self._identity

    async def complete(
        self,
        messages: Sequence[Message],
        decoding: Decoding,
        schema: Mapping[str, Any] | None = None,
    ) -> Completion:
        """One completion; its text is empty when the endpoint gave no choice.

        An endpoint that refuses a schema is asked without one, from then on at once. Raises
        BackendOverloaded, BackendUnavailable or BackendTimeout when the budget is spent,
        BackendRejected for what will never be accepted, ModelChanged when the reply names
        another model than `resolve` found.
        """
        resolved = self.identity.name
        asked = {
            "model": resolved,
            "messages": [message_json(message) for message in messages],
            "max_tokens": decoding.max_tokens,
            "temperature": decoding.temperature,
            # TGI takes only values between 0 and 1; leaving it out keeps everything.
            "top_p": decoding.top_p if decoding.top_p < 1 else None,
            "seed": decoding.seed,
        }

        async def attempt() -> Completion:
            with self._translated():
                async with asyncio.timeout(self._budget.try_seconds):
                    return read_completion(await self._chat(asked, schema))

        async with self._slots:
            completion = await retried(attempt, self._budget, self._sleep)
        if completion.model not in {"", resolved}:
            raise ModelChanged(
                f"the endpoint answered with the model {completion.model!r}; "
                f"the run was resolved with {resolved!r}"
            )
        return completion

    async def close(self) -> None:
        """Close all connections."""
        await self._client.close()  # type: ignore[no-untyped-call]  # the library left it bare

    async def _chat(
        self, asked: Mapping[str, Any], schema: Mapping[str, Any] | None
    ) -> ChatCompletionOutput:
        if schema is None or (key := canonical_json(schema)) in self._schemas_refused:
            return await self._post(asked)
        # The library rewrites this into TGI's own form. To other servers that says "any JSON
        # object": there the prompt alone asks for the fields.
        form = {"type": "json_schema", "json_schema": {"name": "reply", "schema": dict(schema)}}
        try:
            return await self._post({**asked, "response_format": form})
        except HfHubHTTPError as error:
            if error.response.status_code not in {400, 422}:
                raise
        output = await self._post(asked)
        # Only now is it known that the schema was what the endpoint did not like.
        self._schemas_refused.add(key)
        return output

    async def _post(self, asked: Mapping[str, Any]) -> ChatCompletionOutput:
        output: ChatCompletionOutput = await self._client.chat_completion(**asked)
        return output

    async def _described(self, client: httpx2.AsyncClient, path: str) -> Mapping[str, Any]:
        """The JSON object under `path`, an empty one when there is none."""
        headers = {"authorization": f"Bearer {self._token}"} if self._token else {}

        async def attempt() -> Mapping[str, Any]:
            with self._translated():
                async with asyncio.timeout(self._budget.try_seconds):
                    answer = await client.get(f"{self._endpoint.base}{path}", headers=headers)
                if answer.status_code in {404, 405}:
                    return {}
                if not answer.is_success:
                    raise HfHubHTTPError("", response=answer)
                return _json_object(answer)

        return await retried(attempt, self._budget, self._sleep)

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """Turns what huggingface_hub and httpx2 raise into errors of core.errors."""
        try:
            yield
        except HfHubHTTPError as error:
            answer = error.response
            # The chain is cut: the error carries the request, and that the token.
            raise status_error(
                answer.status_code, answer.headers, answer.text, self._token
            ) from None
        except TimeoutError as error:
            limit = self._budget.try_seconds
            raise BackendTimeout(f"the endpoint gave no answer within {limit:g} s") from error
        except httpx2.HTTPError as error:
            raise BackendUnavailable(f"the endpoint cannot be talked to: {error}") from error
        except (ValueError, TypeError, RecursionError) as error:
            story = f"{type(error).__name__}: {error!s:.100}"
            raise BackendUnavailable(f"the answer is no chat completion: {story}") from error


def _identity(name: str, revision: str) -> Identity:
    return Identity("tgi", name, revision, cached=True)


def _json_object(answer: httpx2.Response) -> Mapping[str, Any]:
    try:
        read = answer.json()
    except ValueError:
        return {}
    return read if isinstance(read, dict) else {}


def _listed(answer: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """The models of a `/v1/models` answer by name, in its order."""
    entries = answer.get("data")
    return {
        entry["id"]: entry
        for entry in (entries if isinstance(entries, list) else [])
        if isinstance(entry, dict) and isinstance(entry.get("id"), str)
    }
