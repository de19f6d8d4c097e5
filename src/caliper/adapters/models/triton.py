"""A chat model behind a Triton server: captioner, judge or reader."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from caliper.adapters.models import triton_plain
from caliper.adapters.models.chat_template import chat_template
from caliper.adapters.models.triton_address import (
    COMMON_OPTIONS,
    TritonAddress,
    parse_addresses,
)
from caliper.adapters.models.triton_client import CHECK_EVERY, TritonClient
from caliper.adapters.models.triton_metadata import ServedModel
from caliper.adapters.models.triton_plain import PlainShape
from caliper.adapters.models.triton_vllm import VllmShape
from caliper.core.errors import CaliperError, InvalidInput
from caliper.core.keys import digest
from caliper.core.question import Decoding
from caliper.core.run import Identity
from caliper.ports.models import ChatMessage, Completion

_VLLM_OPTIONS = ("template", "image_token")
_OPTIONS = (*_VLLM_OPTIONS, *triton_plain.OPTIONS, *COMMON_OPTIONS)


def parse_chat_addresses(text: str) -> tuple[TritonAddress, ...]:
    """The addresses behind `triton:` of a SPEC that names a chat model.

    Options: `template` (a named chat template, or a folder with a tokenizer) and `image_token`
    for the vLLM backend; `image`, `prompt` and `caption` (names of tensors) for request/response
    models; `load` and `revision`. Raises InvalidInput, UnknownName.
    """
    return parse_addresses(text, _OPTIONS)


class TritonModel:
    """A ChatModel. `resolve` must be awaited once before anything else, `close` at the end.

    Each call is one try of at most `seconds`. A decoupled model is one of the vLLM backend;
    any other answers each request once. `ca` as for the connection.
    """

    def __init__(
        self,
        address: TritonAddress,
        token: SecretStr | None = None,
        seconds: float = 120.0,
        check_every: float = CHECK_EVERY,
        ca: Path | None = None,
    ) -> None:
        """Raises InvalidInput for a CA that cannot be used."""
        self._address = address
        self._client = TritonClient(address, token, seconds, check_every, ca)
        self._form: str | None = None
        self._resolved: tuple[VllmShape | PlainShape, Identity] | None = None

    @property
    def identity(self) -> Identity:
        """Which model the server has, as `resolve` found it first.

        Its version, its configuration and how it is asked are its origin; Triton reports no hash
        of the weights, so the revision is the one that the address names, if any.
        """
        return self._known[1]

    async def resolve(self) -> Identity:
        """Ask the server, once, for the model that it has now, and check its tensors. One of
        the vLLM backend is asked, the first time, how it takes schemas.

        Raises InvalidInput that names model, tensor, what is expected and what was found,
        UnknownName when the server has no such model or version, BackendError subclasses.
        """
        served = await self._client.open()
        shape = self._shape(served)
        if isinstance(shape, VllmShape):
            if self._form is None:
                self._form = await shape.find_form()
            shape.form = self._form
        origin = f"{served.version}-{digest([served.revision, shape.rendering])}"
        revision = self._address.option("revision", "")
        identity = Identity("triton", served.name, revision, cached=True, origin=origin)
        if self._resolved is None:
            self._resolved = shape, identity
        return identity

    async def complete(
        self,
        messages: Sequence[ChatMessage],
        decoding: Decoding,
        schema: Mapping[str, Any] | None = None,
        affinity: str = "",
    ) -> Completion:
        """One completion, in one try; `affinity` is for those who choose between servers.

        Raises BackendOverloaded for a full queue, BackendUnavailable, BackendTimeout,
        BackendRejected for what will never be accepted, ModelChanged when another version or
        configuration of the model answers than `resolve` found.
        """
        del affinity
        return await self._known[0].complete(messages, decoding, schema)

    async def close(self) -> None:
        """Close the connection."""
        await self._client.close()

    @property
    def _known(self) -> tuple[VllmShape | PlainShape, Identity]:
        if self._resolved is None:
            raise CaliperError("the model is used before it was resolved")
        return self._resolved

    def _shape(self, served: ServedModel) -> VllmShape | PlainShape:
        others = triton_plain.OPTIONS if served.decoupled else _VLLM_OPTIONS
        wrong = [name for name in others if name in self._address.options]
        if wrong:
            kind = "decoupled" if served.decoupled else "not decoupled"
            raise InvalidInput(
                f"the Triton model {served.name} is {kind}: the option {wrong[0]} is not for it",
                field="triton",
            )
        if not served.decoupled:
            return PlainShape(self._client, served, self._address)
        chosen = self._address.options.get("template")
        if chosen is None:
            raise InvalidInput(
                f"the Triton model {served.name} takes text only: say which chat template it was "
                "trained on, #template=NAME or #template=FOLDER of its tokenizer",
                field="triton",
            )
        template = chat_template(chosen, self._address.options.get("image_token"))
        return VllmShape(self._client, served, template)
