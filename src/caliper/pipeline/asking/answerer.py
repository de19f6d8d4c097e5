"""The Answerer that asks a chat model with the prompts of a pack."""

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
from caliper.pipeline.asking.token_budget import Allowance, capped
from caliper.ports.models import ChatModel, Completion, Image
from caliper.ports.prompts import PromptPack

REFUSALS = frozenset({"refusal", "content_filter"})
"""How a completion ends that a model, or a filter behind it, refused to write."""
CALLS = frozenset({"tool_calls", "function_call"})
"""How one ends that is a call of a tool: nobody offered it any."""


Shown = Mapping[tuple[str, ...], Sequence[Image]]
"""Pictures, or frames of a clip, by the media paths of an item."""
_NOTHING: Shown = MappingProxyType({})


class PromptingAnswerer:
    """Renders an Ask with a template of `pack` and asks `model`. Keeps no replies.

    `seed` is that of the run: sampling starts from it. `shown` is what questions from the
    media are put with.
    """

    def __init__(
        self, model: ChatModel, pack: PromptPack, seed: int = 0, shown: Shown = _NOTHING
    ) -> None:
        self._model, self._pack, self._seed, self._shown = model, pack, seed, shown

    @property
    def identity(self) -> Identity:
        """The identity of the chat model; the pack's digest is part of the run by itself."""
        return self._model.identity

    def request(self, ask: Ask) -> Request:
        """What `send` takes: a reply's key is computed from it before any call.

        Raises UnknownName for a template or a gap that nothing goes by, and InvalidInput
        for a question about the media: asked without its picture, a model would guess.
        """
        messages = render_ask(self._pack, ask)
        if ask.item.source is Source.MEDIA:
            images = self._shown.get(ask.item.media)
            if images is None:
                raise InvalidInput(
                    "questions about the picture or clip itself cannot be put to a judge or "
                    "reader of captions; supply recorded replies for them",
                    field=ask.item.key,
                )
            messages = with_images(messages, images)
        return Request(messages, sampling(ask, self._seed), ask.schema, affinity_of(ask.item))

    async def answer(self, ask: Ask) -> Answer:
        """Render an ask and send it. Raises what `request` and `send` raise."""
        return await self.send(self.request(ask))

    async def send(self, request: Request) -> Answer:
        """The model's reply, or a Failure when it refused or called a tool.

        A blank reply is one: the benchmark's reading decides what it is worth. Raises what the
        model raises.
        """
        completion = await self._model.complete(
            request.messages, request.decoding, request.schema, request.affinity
        )
        if not completion.text.strip() and completion.finish not in REFUSALS | CALLS:
            return Reply("", truncated=completion.finish == "length")
        return read_completion(completion)

    def within(self, allowance: Allowance | None) -> PromptingAnswerer:
        """The same answerer, which asks as long as there is an allowance where there is one."""
        model = capped(self._model, allowance)
        return PromptingAnswerer(model, self._pack, self._seed, self._shown)

    async def close(self) -> None:
        """Close the model."""
        await self._model.close()


def affinity_of(item: Item) -> str:
    """What the calls about one caption, or one sample's media, have in common."""
    return f"{item.benchmark}/{item.sample}"


def sampling(ask: Ask, seed: int) -> Decoding:
    """The decoding of an ask in a run of that seed, with a seed of its own for every repeat
    and second ask.

    A server draws the same words again for the same seed: with one seed for all, repeats at
    temperature .6 (CompreCap) would agree by construction.
    """
    own = sampling_seed(seed + ask.decoding.seed, ask.repeat, ask.attempt)
    return replace(ask.decoding, seed=own)


def read_completion(completion: Completion) -> Answer:
    """A completion as an answer: refusals and empty texts are failures, never replies."""
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
