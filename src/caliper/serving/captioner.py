"""captioner.v1: one caption, outside of runs."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from functools import partial

from caliper.adapters.media.preparation import InlineMedia
from caliper.adapters.wire.enums import encode_reason
from caliper.adapters.wire.specs import encode_identity
from caliper.adapters.wire.text import to_wire
from caliper.api.captioner.v1 import captioner_pb2
from caliper.benchmarks.registry import benchmark
from caliper.core.caption import CAPTION_TOKENS, MOST_CAPTION_TOKENS
from caliper.core.errors import DataLoss, InvalidInput, MediaMissing
from caliper.core.question import Decoding, Failure
from caliper.pipeline.asking.captioner import read_caption
from caliper.pipeline.asking.request import render, with_images
from caliper.pipeline.store.media_index import read_medium
from caliper.ports.models import ChatMessage, ChatModel, Image
from caliper.ports.prompts import PromptPack
from caliper.ports.storage import ObjectStore
from caliper.serving.calls import Context

MOST_MEDIA = 32
"""The most pictures in a sample."""
MOST_INLINE = 4 * 1024 * 1024
"""The most bytes of inline media in a request, in total."""

# Restricts requests to media: no other key, and no path outside of the store, can be read.
_KEY = re.compile("media/[0-9a-f]{64}")


class CaptionerServicer:
    """Captions with `model` and the prompts of `pack`. `store` has media by key; `inline` turns
    media into images for the model.
    """

    contract = captioner_pb2.DESCRIPTOR.services_by_name["CaptionerService"]

    def __init__(
        self, model: ChatModel, pack: PromptPack, store: ObjectStore, inline: InlineMedia
    ) -> None:
        self._model = model
        self._pack = pack
        self._loose = inline
        self._store = store

    async def Caption(  # noqa: N802 - named in the contract
        self, request: captioner_pb2.CaptionRequest, _: Context
    ) -> captioner_pb2.CaptionResponse:
        """Generate a caption, without storing it. A refusal is returned as such, never as text.

        Raises InvalidInput naming the request's field, DataLoss, MediaMissing, BackendError,
        ModelChanged.
        """
        prompt, decoding = self._prompt(request), _decoding(request)
        messages = with_images(prompt, await self._images(request.media))
        completion = await self._model.complete(messages, decoding)
        caption = read_caption("", completion, blank=False)
        if isinstance(caption, Failure):
            return captioner_pb2.CaptionResponse(
                unscored=encode_reason(caption.reason), explanation=to_wire(caption.detail)
            )
        return captioner_pb2.CaptionResponse(
            text=to_wire(caption.text), truncated=caption.truncated
        )

    async def Describe(  # noqa: N802 - named in the contract
        self, _: captioner_pb2.DescribeRequest, __: Context
    ) -> captioner_pb2.DescribeResponse:
        """The identity of the model, and the digest of its prompts."""
        identity = encode_identity(self._model.identity)
        return captioner_pb2.DescribeResponse(identity=identity, pack=self._pack.digest)

    def _prompt(self, request: captioner_pb2.CaptionRequest) -> tuple[ChatMessage, ...]:
        try:
            definition = benchmark(request.benchmark)
        except InvalidInput as error:
            raise InvalidInput(error.message, field="benchmark") from error
        try:
            name, fields = definition.caption_prompt(request.group, request.prompt or "simple")
        except InvalidInput as error:
            raise InvalidInput(error.message, field="prompt") from error
        if fields.get("taxonomy") == "":
            raise InvalidInput(f"{request.group} has no printed taxonomy", field="prompt")
        return render(self._pack.template(name), fields)

    async def _images(self, media: Sequence[captioner_pb2.Media]) -> list[Image]:
        if not 1 <= len(media) <= MOST_MEDIA:
            raise InvalidInput(f"expected 1 to {MOST_MEDIA}, found {len(media):,}", field="media")
        if sum(len(medium.inline) for medium in media) > MOST_INLINE:
            raise InvalidInput(f"more than {MOST_INLINE:,} bytes; use keys", field="media")
        images: list[Image] = []
        for number, medium in enumerate(media):
            field = f"media[{number}]"
            digest = _digest(medium, field)
            try:
                images += await self._loose.images(digest, medium.name, partial(self._data, medium))
            except DataLoss:
                raise
            except InvalidInput as error:
                raise InvalidInput(error.message, field=field) from error
        return images

    async def _data(self, medium: captioner_pb2.Media, most: int) -> bytes:
        if medium.WhichOneof("place") != "key":
            return medium.inline
        data = await read_medium(self._store, medium.key, most)
        if data is None:
            raise MediaMissing(f"no {medium.key} in the store")
        return data


def _decoding(request: captioner_pb2.CaptionRequest) -> Decoding:
    if not request.HasField("caption_tokens"):
        return Decoding(max_tokens=CAPTION_TOKENS)
    if not 1 <= request.caption_tokens <= MOST_CAPTION_TOKENS:
        raise InvalidInput(f"not from 1 to {MOST_CAPTION_TOKENS:,}", field="caption_tokens")
    return Decoding(max_tokens=request.caption_tokens)


def _digest(medium: captioner_pb2.Media, field: str) -> str:
    """The SHA-256 of the inline bytes, or the one in the key. Raises InvalidInput if there is
    neither, or for an invalid key.
    """
    if medium.WhichOneof("place") != "key":
        if not medium.inline:
            raise InvalidInput("expected a key or inline bytes, found neither", field=field)
        return hashlib.sha256(medium.inline).hexdigest()
    if not _KEY.fullmatch(medium.key):
        message = "a key is media/ and a SHA-256 of 64 hexadecimal digits"
        raise InvalidInput(message, field=f"{field}.key")
    return medium.key.removeprefix("media/")
