"""The Answerer that asks a chat model, with prompts rendered from a pack."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from caliper.core.errors import InvalidInput
from caliper.core.keys import sampling_seed
from caliper.core.outcome import Reason
from caliper.core.question import Answer, Ask, Decoding, Failure, Item, Reply, Source
from caliper.core.run import Identity
from caliper.pipeline.asking.request import Request, render_ask, with_images
from caliper.pipeline.asking.token_budget import Allowance, CappedChatModel
from caliper.ports.models import ChatModel, Completion, Image
from caliper.ports.prompts import PromptPack

REFUSALS = frozenset({"refusal", "content_filter"})
"""Finish reasons of a refusal, by the model or by a filter behind it."""
CALLS = frozenset({"tool_calls", "function_call"})
"""Finish reasons of a tool call, though no tools were offered."""


Pictures = Mapping[tuple[str, ...], Sequence[Image]]
"""Pictures, or frames of a clip, by the media paths of an item."""
_NO_MEDIA: Pictures = MappingProxyType({})


class PromptingAnswerer:
    """Renders an Ask with a template of `pack` and asks `model`. Does not cache replies.

    `seed` is the sampling seed of the run, `images` are for media questions.
    """

    def __init__(
        self, model: ChatModel, pack: PromptPack, seed: int = 0, images: Pictures = _NO_MEDIA
    ) -> None:
        self._model, self._pack, self._seed, self._images = model, pack, seed, images

    @property
    def identity(self) -> Identity:
        """The identity of the chat model. The run's spec records the pack's digest separately."""
        return self._model.identity

    def request(self, ask: Ask) -> Request:
        """The request for `send`, from which the reply's key can be computed before any call.

        Raises UnknownName for an unknown template or placeholder, and InvalidInput for a media
        question without its images: a model would guess.
        """
        messages = render_ask(self._pack, ask)
        if ask.item.source is Source.MEDIA:
            images = self._images.get(ask.item.media)
            if images is None:
                raise InvalidInput(
                    "questions about the picture or clip itself cannot be put to a judge or "
                    "reader of captions; supply recorded replies for them",
                    field=ask.item.key,
                )
            messages = with_images(messages, images)
        return Request(messages, sampling(ask, self._seed), ask.schema, affinity_of(ask.item))

    async def answer(self, ask: Ask) -> Answer:
        """Render and send an ask. Raises what `request` and `send` raise."""
        return await self.send(self.request(ask))

    async def send(self, request: Request) -> Answer:
        """The model's reply, or a Failure if it refused or called a tool.

        A blank reply counts as a reply: the benchmark decides how to read it. Raises what the
        model raises.
        """
        completion = await self._model.complete(
            request.messages, request.decoding, request.schema, request.affinity
        )
        if not completion.text.strip() and completion.finish not in REFUSALS | CALLS:
            return Reply("", truncated=completion.finish == "length")
        return read_completion(completion)

    def within(self, allowance: Allowance) -> PromptingAnswerer:
        """A copy of this answerer that is limited by an allowance."""
        model = CappedChatModel(self._model, allowance)
        return PromptingAnswerer(model, self._pack, self._seed, self._images)

    async def close(self) -> None:
        """Close the model."""
        await self._model.close()


def affinity_of(item: Item) -> str:
    """The affinity of an item: equal for all calls about one caption, or one sample's media."""
    return f"{item.benchmark}/{item.sample}"


def sampling(ask: Ask, seed: int) -> Decoding:
    """The decoding of an ask, with a separate seed for every repeat and attempt.

    A server samples the same words for the same seed: with one seed for all, repeats at
    temperature 0.6 (CompreCap) would agree by construction.
    """
    own = sampling_seed(seed + ask.decoding.seed, ask.repeat, ask.attempt)
    return ask.decoding if own == ask.decoding.seed else replace(ask.decoding, seed=own)


def read_completion(completion: Completion) -> Answer:
    """Read a completion as an answer: refusals and empty texts are failures, never replies."""
    truncated = completion.finish == "length"
    if completion.finish in REFUSALS:
        return Failure(Reason.REFUSED, completion.text or "the model refused to answer")
    if completion.finish in CALLS:
        return Failure(Reason.NO_REPLY, "the model called a tool instead of writing")
    if completion.text.strip():
        return Reply(completion.text, truncated)
    if truncated:
        return Failure(
            Reason.TRUNCATED, "the limit of output tokens was reached before any answer was written"
        )
    return Failure(Reason.NO_REPLY, "the reply was empty")
