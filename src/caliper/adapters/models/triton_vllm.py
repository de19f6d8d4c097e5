"""Models behind Triton's vLLM backend: one text in, with a chat template applied here.

The tensors and their meaning are those of the backend's model.py: it is always decoupled, takes
pictures as base64 and sampling parameters as JSON, supports neither chat nor video, and prepends
the prompt to the text by default.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from typing import Any

from tritonclient.grpc import InferInput

from caliper.adapters.models.chat_template import ChatTemplate
from caliper.adapters.models.pictures import pictures_of
from caliper.adapters.models.triton_client import TritonClient
from caliper.adapters.models.triton_metadata import ANY, ExpectedTensor, ServedModel
from caliper.adapters.models.triton_tensors import (
    base64_text,
    bytes_input,
    decode_text,
    encode_text,
    flag_input,
    number_of,
    text_of,
)
from caliper.core.errors import BackendRejected, BackendUnavailable
from caliper.core.question import Decoding
from caliper.ports.models import ChatMessage, Completion, Usage

_BYTES, _BOOL = ("BYTES",), ("BOOL",)
_COUNTS = ("return_finish_reason", "return_num_input_tokens", "return_num_output_tokens")
_INPUTS = (
    ExpectedTensor("text_input", _BYTES, ((1,),)),
    ExpectedTensor("sampling_parameters", _BYTES, ((1,),)),
    ExpectedTensor("exclude_input_in_output", _BOOL, ((1,),)),
    ExpectedTensor("stream", _BOOL, ((1,),)),
    ExpectedTensor("image", _BYTES, ((ANY,),), optional=True),
    *(ExpectedTensor(name, _BOOL, ((1,),), optional=True) for name in _COUNTS),
)
_OUTPUTS = (
    ExpectedTensor("text_output", _BYTES, ((ANY,),)),
    ExpectedTensor("finish_reason", _BYTES, ((ANY,),), optional=True),
    ExpectedTensor("num_input_tokens", ("UINT32",), ((1,), (ANY,)), optional=True),
    ExpectedTensor("num_output_tokens", ("UINT32",), ((ANY,),), optional=True),
)
_FORMS = ("structured_outputs", "guided_decoding")
"""The sampling parameter for a schema: vLLM renamed it, and dropped the older name."""
_PROBE = (ChatMessage("user", ("Answer with a JSON object.",)),)
_PROBE_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {"answer": {"type": "boolean"}},
    "required": ["answer"],
}
_PROBE_DECODING = Decoding(max_tokens=16)
_ABORTED = frozenset({b"abort", b"error"})
_BYTES_PER_TOKEN = 256
"""An upper bound of a token's length: a longer text means that the model does not stop."""


class VllmShape:
    """Calls a model of the vLLM backend. Raises InvalidInput if its tensors do not match."""

    def __init__(self, client: TritonClient, model: ServedModel, template: ChatTemplate) -> None:
        model.check(_INPUTS, _OUTPUTS)
        self._client, self._template = client, template
        self._has_image = "image" in model.inputs
        self._counts = [name for name in _COUNTS if name in model.inputs]
        self.form = ""

    @property
    def format_digest(self) -> str:
        """The digest of the chat template, and the schema form: replies with and without an
        enforced schema must have different keys.
        """
        return f"{self._template.digest} {self.form}".rstrip()

    async def find_form(self) -> str:
        """The backend's parameter name for schemas, empty if it has none; set it as `form`.

        The backend does not report it, and answers an unknown name with the status of a broken
        engine. So each name is tried with a few tokens. A name that fails counts as unknown once
        a request without a schema succeeded and the name failed again. Raises BackendError.
        """
        for last in (False, True):
            for form in _FORMS:
                if await self._obeys(form):
                    return form
            if not last:
                await self._generate(_PROBE, _PROBE_DECODING, {})
        return ""

    async def _obeys(self, form: str) -> bool:
        try:
            completion = await self._generate(_PROBE, _PROBE_DECODING, _guide(form, _PROBE_SCHEMA))
        except (BackendUnavailable, BackendRejected):
            return False
        return completion.text.lstrip().startswith("{")

    async def complete(
        self, messages: Sequence[ChatMessage], decoding: Decoding, schema: Mapping[str, Any] | None
    ) -> Completion:
        """One completion, constrained to the schema if the backend can.

        Raises BackendError subclasses, ModelChanged.
        """
        guide = {} if schema is None or not self.form else _guide(self.form, schema)
        return await self._generate(messages, decoding, guide)

    async def _generate(
        self, messages: Sequence[ChatMessage], decoding: Decoding, guide: Mapping[str, str]
    ) -> Completion:
        inputs = self._inputs(messages, _sampling(decoding, guide))
        # A stream without answers has no finish reason.
        text, reason, usage = b"", b"", Usage()
        async with aclosing(self._client.stream(inputs)) as answers:
            async for answer in answers:
                text += text_of(answer, "text_output")
                if len(text) > _BYTES_PER_TOKEN * decoding.max_tokens:
                    raise BackendUnavailable("the model exceeds the maximum output tokens")
                has_reason = "return_finish_reason" in self._counts
                reason = text_of(answer, "finish_reason") if has_reason else b"stop"
                usage = Usage(
                    number_of(answer, "num_input_tokens"),
                    usage.completion + number_of(answer, "num_output_tokens"),
                )
        if reason in _ABORTED:
            raise BackendUnavailable("the engine behind the Triton model aborted its answer")
        return Completion(decode_text(text), decode_text(reason), usage)

    def _inputs(self, messages: Sequence[ChatMessage], sampling: str) -> list[InferInput]:
        images = [image.data for image in pictures_of(messages)]
        if images and not self._has_image:
            raise BackendRejected("the Triton model takes no pictures: it has no input image")
        return [
            bytes_input("text_input", [encode_text(self._template.render(messages))], [1]),
            *(
                [bytes_input("image", [base64_text(image) for image in images], [len(images)])]
                if images
                else []
            ),
            bytes_input("sampling_parameters", [sampling.encode()], [1]),
            # Otherwise the prompt precedes the caption, and is judged with it.
            flag_input("exclude_input_in_output", value=True),
            flag_input("stream", value=False),
            *(flag_input(name, value=True) for name in self._counts),
        ]


def _guide(form: str, schema: Mapping[str, Any]) -> dict[str, str]:
    """The sampling parameter for a schema: JSON within JSON, which every version accepts."""
    return {form: json.dumps({"json": dict(schema)})}


def _sampling(decoding: Decoding, guide: Mapping[str, str]) -> str:
    """The value of the input `sampling_parameters`."""
    parameters: dict[str, Any] = {
        "max_tokens": decoding.max_tokens,
        "temperature": decoding.temperature,
        "top_p": decoding.top_p,
        "seed": decoding.seed,
        **guide,
    }
    if decoding.stop:
        parameters["stop"] = list(decoding.stop)
    return json.dumps(parameters)
