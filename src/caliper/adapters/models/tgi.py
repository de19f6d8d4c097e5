"""A chat model behind `/v1/chat/completions`: TGI, vLLM, SGLang, llama.cpp's server.

Goes through huggingface_hub's asynchronous client. Every call is tried once: whatever the
endpoint does comes out as a Completion or as an error of core.errors, and no trouble turns into
text. `pool` decides what is tried again, when and where.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
from huggingface_hub import AsyncInferenceClient, ChatCompletionOutput, set_async_client_factory
from huggingface_hub.errors import HfHubHTTPError
from pydantic import SecretStr

from caliper.adapters.models.chat_json import message_json, read_completion
from caliper.adapters.models.endpoint import Endpoint, status_error
from caliper.adapters.models.schema_forms import OF_OTHERS, OF_TGI, Form, ignores
from caliper.adapters.models.transport import (
    UntrustedServer,
    client_of_the_library,
    new_client,
    trusted,
)
from caliper.adapters.trust import trusting
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
from caliper.core.run import Identity
from caliper.ports.models import ChatMessage, Completion


class TgiModel:
    """A ChatModel. `resolve` must be awaited once before anything else, `close` at the end.

    A call that takes longer than `timeout` seconds is given up. `ca` is a PEM file of
    certificates to trust over https instead of those that this machine trusts.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        token: SecretStr | None = None,
        timeout: float = 120.0,
        ca: Path | None = None,
    ) -> None:
        """Raises InvalidInput for a token that cannot stand in a header, and for a CA that
        cannot be used.
        """
        self._endpoint, self._timeout = endpoint, timeout
        self._token = token.get_secret_value() if token else None
        if self._token and not (self._token.isascii() and self._token.isprintable()):
            raise InvalidInput(
                "the token holds a line break or another character that no header may",
                field="token",
            )
        self._forms = OF_OTHERS
        self._obeyed: dict[bytes, Form | None] = {}
        self._finding_out = asyncio.Lock()
        self._identity: Identity | None = None
        self._trust = trusting(ca) if endpoint.encrypted else None
        # The factory is one for the whole process, and only clients made later use it.
        set_async_client_factory(client_of_the_library)
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
        """Which model the endpoint serves, as `resolve` found it first."""
        if self._identity is None:
            raise CaliperError("the model's identity is asked for before it was resolved")
        return self._identity

    async def resolve(self) -> Identity:
        """Ask the endpoint, once, which model it serves now.

        TGI's `/info` gives the revision, else the endpoint's `revision` is taken. What
        `/v1/models` says of the model is digested as its origin. `created` is left out of it:
        vLLM, SGLang and llama.cpp put the time of the request there.

        Raises UnknownName when the endpoint does not serve the model that was named, InvalidInput
        when it serves another revision, and BackendError subclasses.
        """
        async with new_client(self._trust) as client:
            info = await self._described(client, "/info")
            served = info.get("model_id")
            if isinstance(served, str) and self._endpoint.model in {"", served}:
                self._forms = OF_TGI
                return self._resolved(served, str(info.get("model_sha") or ""))
            models = _listed(await self._described(client, "/v1/models"))
        if not models:
            raise BackendRejected(
                "the endpoint names no model under /info or /v1/models; check its URL"
            )
        name = self._endpoint.model or next(iter(models))
        if name not in models:
            raise UnknownName("model of the endpoint", name, tuple(models))
        origin = {key: models[name].get(key) for key in ("owned_by", "root", "parent")}
        return self._resolved(name, "", digest(origin) if any(origin.values()) else "")

    async def complete(
        self,
        messages: Sequence[ChatMessage],
        decoding: Decoding,
        schema: Mapping[str, Any] | None = None,
        affinity: str = "",  # noqa: ARG002 - the port's; there is one endpoint to go to
    ) -> Completion:
        """One completion; its text is empty when the endpoint gave no choice.

        The first call with a schema finds out how the endpoint takes it (`schema_forms`). One
        that refuses or ignores it is asked without, from then on at once; whoever reads the
        reply repairs it or asks again. Raises
        BackendOverloaded, BackendUnavailable or BackendTimeout for what may pass,
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
            "stop": list(decoding.stop) or None,
        }
        with self._translated():
            async with asyncio.timeout(self._timeout):
                completion = read_completion(await self._chat(asked, schema))
        if completion.model not in {"", resolved}:
            raise ModelChanged(
                f"the endpoint answered with the model {completion.model!r}; "
                f"the run was resolved with {resolved!r}"
            )
        return completion

    async def close(self) -> None:
        """Close all connections."""
        await self._client.close()  # type: ignore[no-untyped-call]  # the library left it bare

    def _resolved(self, name: str, revision: str, origin: str = "") -> Identity:
        named = self._endpoint.revision
        if revision and named not in ("", revision):
            raise InvalidInput(
                f"the endpoint serves revision {revision} of {name}, not {named}", field="tgi"
            )
        found = Identity("tgi", name, revision or named, cached=True, origin=origin)
        if self._identity is None:
            self._identity = found
        return found

    async def _chat(
        self, asked: Mapping[str, Any], schema: Mapping[str, Any] | None
    ) -> ChatCompletionOutput:
        if schema is None:
            return await self._post(asked)
        key = canonical_json(schema)
        if key not in self._obeyed:
            # One call finds out how the endpoint takes the schema; the others wait.
            async with self._finding_out:
                if key not in self._obeyed:
                    return await self._find_out(key, asked, schema)
        form = self._obeyed[key]
        return await self._post(asked if form is None else {**asked, **form(schema)})

    async def _find_out(
        self, key: bytes, asked: Mapping[str, Any], schema: Mapping[str, Any]
    ) -> ChatCompletionOutput:
        """The reply to the first form of the schema that is obeyed, which is sent from then on;
        none is where none is obeyed.
        """
        ignored: ChatCompletionOutput | None = None
        for form in self._forms:
            try:
                output = await self._post({**asked, **form(schema)})
            except HfHubHTTPError as error:
                status = error.response.status_code
                # llama-cpp-python fails by itself over a form that it does not know. What fails
                # over the last one too is in trouble.
                if status not in {400, 422} and (status != 500 or form is self._forms[-1]):
                    raise
                continue
            if not ignores(read_completion(output), schema):
                self._obeyed[key] = form
                return output
            ignored = output
        output = await self._post(asked) if ignored is None else ignored
        # Only now is it known that the schema was what the endpoint did not like.
        self._obeyed[key] = None
        return output

    async def _post(self, asked: Mapping[str, Any]) -> ChatCompletionOutput:
        with trusted(self._trust):
            output: ChatCompletionOutput = await self._client.chat_completion(**asked)
        return output

    async def _described(self, client: httpx2.AsyncClient, path: str) -> Mapping[str, Any]:
        """The JSON object under `path`, an empty one when there is none."""
        headers = {"authorization": f"Bearer {self._token}"} if self._token else {}

        with self._translated():
            async with asyncio.timeout(self._timeout):
                answer = await client.get(f"{self._endpoint.base}{path}", headers=headers)
            if answer.status_code in {404, 405}:
                return {}
            if not answer.is_success:
                raise HfHubHTTPError("", response=answer)
            return _json_object(answer)

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
            raise BackendUnavailable(f"the answer is no chat completion: {story}") from error


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
