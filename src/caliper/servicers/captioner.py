"""captioner.v1: one caption, outside any run."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from functools import partial

from caliper.adapters.media.loose import LooseMedia
from caliper.adapters.wire.specs import encode_identity
from caliper.adapters.wire.text import to_wire
from caliper.api.captioner.v1 import captioner_pb2, captioner_pb2_grpc
from caliper.benchmarks.registry import benchmark
from caliper.core.errors import InvalidInput, MediaMissing
from caliper.core.question import Decoding
from caliper.pipeline.caption import MAX_TOKENS
from caliper.pipeline.rendering import render, with_images
from caliper.ports.models import ChatModel, Image, Message
from caliper.ports.prompts import PromptPack
from caliper.ports.storage import ObjectStore
from caliper.runtime.calls import Context
from caliper.runtime.grpc_server import Service

NAME = captioner_pb2.DESCRIPTOR.services_by_name["CaptionerService"].full_name
MOST_MEDIA = 32
"""Pictures of a sample."""
MOST_INLINE = 4 * 1024 * 1024
"""Bytes of media that come with a request, all together."""

# Nothing else that the store holds can be named, and nothing outside of it.
_KEY = re.compile("media/[0-9a-f]{64}")


class CaptionerServicer(captioner_pb2_grpc.CaptionerServiceServicer):
    """Captions with `model`, asked with the prompts of `pack`. `store` holds media by key,
    `loose` makes what the model is shown of them.
    """

    def __init__(
        self, model: ChatModel, pack: PromptPack, store: ObjectStore, loose: LooseMedia
    ) -> None:
        self._model = model
        self._pack = pack
        self._loose = loose
        self._store = store

    async def Caption(  # noqa: N802 - named in the contract
        self, request: captioner_pb2.CaptionRequest, context: Context
    ) -> captioner_pb2.CaptionResponse:
        """Ask for a caption; nothing is kept.

        Raises InvalidInput naming the request's field, MediaMissing, BackendError, ModelChanged.
        """
        del context
        words = self._words(request)
        messages = with_images(words, await self._images(request.media))
        completion = await self._model.complete(messages, Decoding(max_tokens=MAX_TOKENS))
        return captioner_pb2.CaptionResponse(
            text=to_wire(completion.text.strip()), truncated=completion.finish == "length"
        )

    async def Describe(  # noqa: N802 - named in the contract
        self, request: captioner_pb2.DescribeRequest, context: Context
    ) -> captioner_pb2.DescribeResponse:
        """Who captions, and with which prompts."""
        del request, context
        identity = encode_identity(self._model.identity)
        return captioner_pb2.DescribeResponse(identity=identity, pack=self._pack.digest)

    def _words(self, request: captioner_pb2.CaptionRequest) -> tuple[Message, ...]:
        try:
            chosen = benchmark(request.benchmark)
        except InvalidInput as error:
            raise InvalidInput(error.message, field="benchmark") from error
        try:
            name, fields = chosen.caption_prompt(request.group, request.prompt or "simple")
        except InvalidInput as error:
            raise InvalidInput(error.message, field="prompt") from error
        return render(self._pack.template(name), fields)

    async def _images(self, media: Sequence[captioner_pb2.Media]) -> list[Image]:
        if not 1 <= len(media) <= MOST_MEDIA:
            raise InvalidInput(f"expected 1 to {MOST_MEDIA}, found {len(media)}", field="media")
        if sum(len(medium.inline) for medium in media) > MOST_INLINE:
            raise InvalidInput(f"more than {MOST_INLINE} bytes; use keys", field="media")
        images: list[Image] = []
        for place, medium in enumerate(media):
            field = f"media[{place}]"
            digest = _digest(medium, field)
            try:
                images += await self._loose.images(digest, medium.name, partial(self._data, medium))
            except InvalidInput as error:
                raise InvalidInput(error.message, field=field) from error
        return images

    async def _data(self, medium: captioner_pb2.Media, most: int) -> bytes:
        if medium.WhichOneof("place") != "key":
            return medium.inline
        data = await self._store.get_within(medium.key, most)
        if data is None:
            raise MediaMissing(f"no {medium.key} in the store")
        return data


def _digest(medium: captioner_pb2.Media, field: str) -> str:
    """The SHA-256 of the bytes that come with the request, or that its key names."""
    if medium.WhichOneof("place") != "key":
        return hashlib.sha256(medium.inline).hexdigest()
    if not _KEY.fullmatch(medium.key):
        message = "a key is media/ and a SHA-256 of 64 hexadecimal digits"
        raise InvalidInput(message, field=f"{field}.key")
    return medium.key.removeprefix("media/")


def service(servicer: CaptionerServicer) -> Service:
    """The servicer as a server takes it."""
    return Service(
        NAME,
        lambda server: captioner_pb2_grpc.add_CaptionerServiceServicer_to_server(servicer, server),
    )
