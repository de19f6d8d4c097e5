"""Models with one answer a request: a picture and a prompt in, a caption out."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from caliper.adapters.models.triton_address import TritonAddress
from caliper.adapters.models.triton_client import TritonClient
from caliper.adapters.models.triton_metadata import ANY, ExpectedTensor, ServedModel
from caliper.adapters.models.triton_tensors import bytes_input, decoded, sendable, text_of
from caliper.core.errors import BackendRejected
from caliper.core.keys import digest
from caliper.core.question import Decoding
from caliper.ports.models import ChatMessage, Completion, Image

OPTIONS = ("image", "prompt", "caption")
"""A SPEC may say how a model names these tensors."""
_FINISH = "finish_reason"


class PlainShape:
    """Asks a request/response model. Raises InvalidInput when its tensors are others.

    No picture is an empty BYTES: a request without the tensor would not batch with others.
    Decoding goes along as parameters of the request (max_tokens, temperature, top_p, seed, and
    stop as JSON); a model may have an output `finish_reason`.
    """

    def __init__(self, client: TritonClient, served: ServedModel, address: TritonAddress) -> None:
        self._image, self._prompt, self._caption = (address.option(name, name) for name in OPTIONS)
        served.check(
            [
                ExpectedTensor(self._image, ("BYTES",), ((ANY,),)),
                ExpectedTensor(self._prompt, ("BYTES",), ((1,),)),
            ],
            [
                ExpectedTensor(self._caption, ("BYTES",), ((1,),)),
                ExpectedTensor(_FINISH, ("BYTES",), ((1,),), optional=True),
            ],
        )
        self._client = client
        self._batch = [1] if served.batch else []
        self._places = served.inputs[self._image].shape[0]
        self._tells_finish = _FINISH in served.outputs

    @property
    def rendering(self) -> str:
        """Tells apart what a model is asked with: which tensors are used for what."""
        return digest([self._image, self._prompt, self._caption])

    async def complete(
        self, messages: Sequence[ChatMessage], decoding: Decoding, schema: Mapping[str, Any] | None
    ) -> Completion:
        """One completion; a schema can only be asked for by the prompt.

        Raises BackendError subclasses, ModelChanged.
        """
        del schema
        parts = [part for message in messages for part in message.content]
        prompt = "\n\n".join(part for part in parts if isinstance(part, str))
        images = [part.data for part in parts if isinstance(part, Image)] or [b""]
        if self._places not in (ANY, len(images)):
            raise BackendRejected(
                f"the Triton model takes {self._places} picture(s) a request, "
                f"and this sample has {len(images)}"
            )
        parameters: dict[str, int | float | str] = {
            "max_tokens": decoding.max_tokens,
            "temperature": decoding.temperature,
            "top_p": decoding.top_p,
            "seed": decoding.seed,
        }
        if decoding.stop:
            # Parameters hold no lists.
            parameters["stop"] = json.dumps(decoding.stop)
        inputs = [
            bytes_input(self._image, images, [*self._batch, len(images)]),
            bytes_input(self._prompt, [sendable(prompt)], [*self._batch, 1]),
        ]
        answer = await self._client.infer(inputs, parameters)
        finish = decoded(text_of(answer, _FINISH)) if self._tells_finish else "stop"
        return Completion(decoded(text_of(answer, self._caption)), finish)
