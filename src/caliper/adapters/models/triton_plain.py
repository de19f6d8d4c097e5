"""Triton models with one answer per request: pictures and a prompt in, a caption out."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from caliper.adapters.models.pictures import pictures_of
from caliper.adapters.models.triton_address import TritonAddress
from caliper.adapters.models.triton_client import TritonClient
from caliper.adapters.models.triton_metadata import ANY, ExpectedTensor, ServedModel
from caliper.adapters.models.triton_tensors import bytes_input, decode_text, encode_text, text_of
from caliper.core.errors import BackendRejected
from caliper.core.keys import digest
from caliper.core.question import Decoding
from caliper.ports.models import ChatMessage, Completion

OPTIONS = ("image", "prompt", "caption")
"""The options of a SPEC that rename these tensors."""
_FINISH = "finish_reason"


class PlainShape:
    """Calls a request/response model. Raises InvalidInput if its tensors do not match.

    Without a picture, the input is an empty BYTES: a request without the tensor could not be
    batched with others. Decoding is sent as request parameters (max_tokens, temperature, top_p,
    seed, and stop as JSON). A model may have an output `finish_reason`.
    """

    def __init__(self, client: TritonClient, model: ServedModel, address: TritonAddress) -> None:
        self._image, self._prompt, self._caption = (address.option(name, name) for name in OPTIONS)
        model.check(
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
        self._batch = [1] if model.batch else []
        self._image_count = model.inputs[self._image].shape[0]
        self._has_finish = _FINISH in model.outputs

    @property
    def format_digest(self) -> str:
        """A digest of the tensor names, which distinguishes forms of requests."""
        return digest([self._image, self._prompt, self._caption])

    async def complete(
        self, messages: Sequence[ChatMessage], decoding: Decoding, schema: Mapping[str, Any] | None
    ) -> Completion:
        """One completion. The schema is ignored: only the prompt can ask for one.

        Raises BackendError subclasses, ModelChanged.
        """
        del schema
        parts = [part for message in messages for part in message.content]
        prompt = "\n\n".join(part for part in parts if isinstance(part, str))
        images = [image.data for image in pictures_of(messages)] or [b""]
        if self._image_count not in (ANY, len(images)):
            raise BackendRejected(
                f"the Triton model takes {self._image_count} picture(s) a request, "
                f"and this sample has {len(images)}"
            )
        parameters: dict[str, int | float | str] = {
            "max_tokens": decoding.max_tokens,
            "temperature": decoding.temperature,
            "top_p": decoding.top_p,
            "seed": decoding.seed,
        }
        if decoding.stop:
            # Parameters cannot be lists.
            parameters["stop"] = json.dumps(decoding.stop)
        inputs = [
            bytes_input(self._image, images, [*self._batch, len(images)]),
            bytes_input(self._prompt, [encode_text(prompt)], [*self._batch, 1]),
        ]
        answer = await self._client.infer(inputs, parameters)
        finish = decode_text(text_of(answer, _FINISH)) if self._has_finish else "stop"
        return Completion(decode_text(text_of(answer, self._caption)), finish)
