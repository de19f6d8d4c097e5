"""A chat model behind `/v1/chat/completions`: TGI, vLLM, SGLang, llama.cpp's server.

Uses huggingface_hub's asynchronous client. Every call is tried once: its result is a Completion
or an error of core.errors, and no failure turns into text. `pool` handles retries.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any

import httpx2
from huggingface_hub import AsyncInferenceClient, set_async_client_factory
from huggingface_hub.errors import HfHubHTTPError
from pydantic import SecretStr

from caliper.adapters.models.chat_json import media_options, message_json, read_completion
from caliper.adapters.models.endpoint import Endpoint, status_error
from caliper.adapters.models.form_search import FormSearch
from caliper.adapters.models.schema_forms import OTHER_FORMS, TGI_FORMS
from caliper.adapters.models.transport import (
    REPLY,
    AiohttpTransport,
    UntrustedServer,
    hub_client,
    use_trust,
)
from caliper.adapters.trust import tls_context
from caliper.core.errors import (
    BackendRejected,
    BackendTimeout,
    BackendUnavailable,
    CaliperError,
    InvalidInput,
    ModelChanged,
    UnknownName,
)
from caliper.core.keys import digest
from caliper.core.question import Decoding
from caliper.core.run import Identity
from caliper.ports.models import ChatMessage, Completion

_BRANCH = "@main"
"""The suffix that `transformers serve` adds to the name of a model in its replies."""


class TgiModel:
    """A ChatModel. Await `resolve` once before anything else, and `close` at the end.

    A request times out after `timeout` seconds; see `complete` for the requests of a call. `ca` is
    a PEM file of certificates to trust over https instead of those that this machine trusts.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        token: SecretStr | None = None,
        timeout: float = 120.0,
        ca: Path | None = None,
    ) -> None:
        """Raises InvalidInput for a token that no header can contain, and for an unusable CA."""
        self._endpoint, self._timeout = endpoint, timeout
        self._token = token.get_secret_value() if token else None
        if self._token and not (self._token.isascii() and self._token.isprintable()):
            raise InvalidInput(
                "the token holds a line break or another character that no header may",
                field="token",
            )
        self._forms = OTHER_FORMS
        self._search = FormSearch(self._post)
        self._identity: Identity | None = None
        self._trust = tls_context(ca) if endpoint.encrypted else None
        # The factory is global to the process, and applies only to clients created later.
        set_async_client_factory(hub_client)
        # Without a token the library would read the user's own from the environment or a
        # file at every call, and send it to this endpoint. It omits a header of None.
        no_token: dict[str, Any] = {"authorization": None}
        self._client = AsyncInferenceClient(
            base_url=f"{endpoint.base}/v1",
            token=self._token or "none",
            headers=None if self._token else no_token,
        )

    @property
    def identity(self) -> Identity:
        """The model that the endpoint serves, as first found by `resolve`."""
        if self._identity is None:
            raise CaliperError("the model's identity is asked for before it was resolved")
        return self._identity

    async def resolve(self) -> Identity:
        """Ask the endpoint, once, which model it serves now.

        The revision comes from TGI's `/info`, which a `chat` endpoint is not asked for, or else
        from the endpoint's `revision`. The origin is a digest of the model's entry in `/v1/models`
        without `created`: vLLM, SGLang and llama.cpp put the time of the request there.

        Raises UnknownName if the endpoint does not serve the named model, InvalidInput if it
        serves another revision, and BackendError subclasses.
        """
        # New connections: those kept alive may lead to the server that was there before.
        async with AiohttpTransport(self._trust) as transport:
            is_tgi = self._endpoint.kind == "tgi"
            info = await self._get_json(transport, "/info") if is_tgi else {}
            served = info.get("model_id")
            if isinstance(served, str) and self._endpoint.model in {"", served}:
                self._forms = TGI_FORMS
                return self._new_identity(served, str(info.get("model_sha") or ""))
            models = _models_by_id(await self._get_json(transport, "/v1/models"))
        if not models:
            raise BackendRejected(
                "the endpoint names no model under /info or /v1/models; check its URL"
            )
        name = self._endpoint.model or next(iter(models))
        if name not in models:
            raise UnknownName("model of the endpoint", name, tuple(models))
        origin = {key: models[name].get(key) for key in ("owned_by", "root", "parent")}
        return self._new_identity(name, "", digest(origin) if any(origin.values()) else "")

    async def complete(
        self,
        messages: Sequence[ChatMessage],
        decoding: Decoding,
        schema: Mapping[str, Any] | None = None,
        affinity: str = "",  # noqa: ARG002 - the port's; there is one endpoint to go to
    ) -> Completion:
        """One completion; its text is empty if the response has no choices.

        The first call with a schema finds the form that the endpoint obeys (`schema_forms`). If
        it rejects or ignores all forms, later calls omit the schema, and the reader of the reply
        repairs it or asks again. Such a call makes one request after another, up to one more than
        there are forms, each with its own timeout. Calls that start meanwhile wait for it. They
        and the next do the same if it found none for certain; all others make one request.

        Raises BackendOverloaded, BackendUnavailable or BackendTimeout for transient failures,
        BackendRejected for a request that will never be accepted, and ModelChanged if the reply
        names another model than `resolve` found.
        """
        name = self.identity.name
        request = {
            "model": name,
            "messages": [message_json(message) for message in messages],
            "max_tokens": decoding.max_tokens,
            "temperature": decoding.temperature,
            # TGI accepts only values between 0 and 1, exclusive; omitting it means 1.
            "top_p": decoding.top_p if decoding.top_p < 1 else None,
            "seed": decoding.seed,
            "stop": list(decoding.stop) or None,
            "extra_body": media_options(messages),
        }
        with self._translated_errors():
            if schema is None:
                completion = await self._post(request)
            else:
                completion = await self._search.complete(request, schema, self._forms)
        if completion.model not in {"", name, f"{name}{_BRANCH}"}:
            raise ModelChanged(
                f"the endpoint answered with the model {completion.model!r}; "
                f"the run was resolved with {name!r}"
            )
        return completion

    async def close(self) -> None:
        """Close all connections."""
        await self._client.close()  # type: ignore[no-untyped-call]  # untyped in the library

    def _new_identity(self, name: str, revision: str, origin: str = "") -> Identity:
        expected, kind = self._endpoint.revision, self._endpoint.kind
        if revision and expected not in ("", revision):
            raise InvalidInput(
                f"the endpoint serves revision {revision} of {name}, not {expected}", field=kind
            )
        identity = Identity(kind, name, revision or expected, cached=True, origin=origin)
        if self._identity is None:
            self._identity = identity
        return identity

    async def _post(
        self, request: Mapping[str, Any], extra: Mapping[str, Any] = MappingProxyType({})
    ) -> Completion:
        """Post a request; `extra` is added to its body."""
        body = {**request["extra_body"], **extra}
        with use_trust(self._trust):
            # Only the request is timed: nobody's time is spent on waiting for another's.
            async with asyncio.timeout(self._timeout):
                output = await self._client.chat_completion(**{**request, "extra_body": body})
        return read_completion(output[REPLY])

    async def _get_json(self, transport: AiohttpTransport, path: str) -> Mapping[str, Any]:
        """The JSON object at `path`, empty if there is none."""
        headers = {"authorization": f"Bearer {self._token}"} if self._token else {}
        request = httpx2.Request("GET", f"{self._endpoint.base}{path}", headers=headers)

        with self._translated_errors():
            async with asyncio.timeout(self._timeout):
                answer = await transport.handle_async_request(request)
            if answer.status_code in {404, 405}:
                return {}
            if not answer.is_success:
                raise HfHubHTTPError("", response=answer)
            return _json_object(answer)

    @contextmanager
    def _translated_errors(self) -> Iterator[None]:
        """Translate errors of huggingface_hub and httpx2 into errors of core.errors."""
        try:
            yield
        except HfHubHTTPError as error:
            answer = error.response
            # No chaining: the error contains the request, which contains the token.
            raise status_error(
                answer.status_code, answer.headers, answer.text, self._token
            ) from None
        except TimeoutError as error:
            story = f"the endpoint gave no answer within {self._timeout:g} s"
            raise BackendTimeout(story) from error
        except UntrustedServer as error:
            story = f"cannot connect to the endpoint: {error}"
            raise BackendRejected(story) from error
        except httpx2.HTTPError as error:
            story = f"cannot connect to the endpoint: {error}; is the server running?"
            raise BackendUnavailable(story) from error
        except (ValueError, TypeError, RecursionError) as error:
            story = f"{type(error).__name__}: {error!s:.100}"
            raise BackendUnavailable(f"the answer is not a chat completion: {story}") from error


def _json_object(answer: httpx2.Response) -> Mapping[str, Any]:
    try:
        value = answer.json()
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _models_by_id(answer: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """The models of a `/v1/models` response by name, in its order."""
    entries = answer.get("data")
    return {
        entry["id"]: entry
        for entry in (entries if isinstance(entries, list) else [])
        if isinstance(entry, dict) and isinstance(entry.get("id"), str)
    }
