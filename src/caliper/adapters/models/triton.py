"""A chat model behind a Triton server: captioner, judge or reader."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from caliper.adapters.models import triton_plain
from caliper.adapters.models.chat_template import chat_template
from caliper.adapters.models.triton_address import COMMON_OPTIONS, TritonAddress, parse_addresses
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
    """Parse the part after `triton:` of a SPEC that names a chat model.

    Options: `template` (a named chat template, or a folder with a tokenizer) and `image_token`
    for the vLLM backend; `image`, `prompt` and `caption` (names of tensors) for request/response
    models; `load` and `revision`. Raises InvalidInput, UnknownName.
    """
    return parse_addresses(text, _OPTIONS)


class TritonModel:
    """A ChatModel. Await `resolve` once before anything else, and `close` at the end.

    Each call is one try of at most `seconds`. A decoupled model is one of the vLLM backend; any
    other gives one answer per request. `ca` as for TritonClient.
    """

    def __init__(
        self,
        address: TritonAddress,
        token: SecretStr | None = None,
        seconds: float = 120.0,
        check_every: float = CHECK_EVERY,
        ca: Path | None = None,
    ) -> None:
        """Raises InvalidInput for an unusable CA."""
        self._address = address
        self._client = TritonClient(address, token, seconds, check_every, ca)
        self._form: str | None = None
        self._resolved: tuple[VllmShape | PlainShape, Identity] | None = None

    @property
    def identity(self) -> Identity:
        """The model on the server, as first found by `resolve`.

        The origin covers its version, its configuration and the form of requests. Triton reports
        no hash of the weights, so the revision is the one in the address, if any.
        """
        return self._model[1]

    async def resolve(self) -> Identity:
        """Ask the server, once, for its current model, and check the tensors.

        The first call also finds the schema form of a vLLM backend. Raises InvalidInput naming
        model, tensor, expected and actual type, UnknownName if the server has no such model or
        version, and BackendError subclasses.
        """
        served = await self._client.open()
        shape = self._shape(served)
        if isinstance(shape, VllmShape):
            if self._form is None:
                self._form = await shape.find_form()
            shape.form = self._form
        origin = f"{served.version}-{digest([served.revision, shape.format_digest])}"
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
        """One completion, in one try. `affinity` is unused: there is only one server.

        Raises BackendOverloaded for a full queue, BackendUnavailable, BackendTimeout,
        BackendRejected for a request that will never be accepted, and ModelChanged if another
        version or configuration of the model answers than `resolve` found.
        """
        del affinity
        return await self._model[0].complete(messages, decoding, schema)

    async def close(self) -> None:
        """Close the connection."""
        await self._client.close()

    @property
    def _model(self) -> tuple[VllmShape | PlainShape, Identity]:
        if self._resolved is None:
            raise CaliperError("the model is used before it was resolved")
        return self._resolved

    def _shape(self, served: ServedModel) -> VllmShape | PlainShape:
        others = triton_plain.OPTIONS if served.decoupled else _VLLM_OPTIONS
        extra = [name for name in others if name in self._address.options]
        if extra:
            kind = "decoupled" if served.decoupled else "not decoupled"
            raise InvalidInput(
                f"the Triton model {served.name} is {kind}: the option {extra[0]} is not for it",
                field="triton",
            )
        if not served.decoupled:
            return PlainShape(self._client, served, self._address)
        template_name = self._address.options.get("template")
        if template_name is None:
            raise InvalidInput(
                f"the Triton model {served.name} takes text only: say which chat template it was "
                "trained on, #template=NAME or #template=FOLDER of its tokenizer",
                field="triton",
            )
        template = chat_template(template_name, self._address.options.get("image_token"))
        return VllmShape(self._client, served, template)
