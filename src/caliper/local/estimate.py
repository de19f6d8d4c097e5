"""Estimates the cost of a run before it starts."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass

from caliper.benchmarks.registry import benchmark
from caliper.core.question import Embed, Item, Nouns, Reply, Source
from caliper.local.setup import RunSetup
from caliper.pipeline.asking.request import render_ask
from caliper.pipeline.planning.publisher import jobs
from caliper.pipeline.store.plan import plan_items
from caliper.ports.models import ChatMessage
from caliper.wiring.anchors import anchors_of

_CHARACTERS_PER_TOKEN = 4
"""A common figure for English text; execution.json has the actual number of tokens."""
_BYTES_PER_VERDICT = 600
"""Size of one verdict in segments, JSON lines and Parquet together, without its prompt."""
_TYPICAL_CAPTION = "word " * 200
"""A stand-in for captions not written yet: as long as those of current models."""


@dataclass(slots=True)
class BenchmarkEstimate:
    """The estimated cost of one benchmark.

    `calls` go to a chat model, and `anchors` of them are about anchors; lexical and replay need
    none. Tokens are estimated from characters, without those of pictures; `output_tokens` is an
    upper bound.
    """

    benchmark: str
    items: int = 0
    samples: int = 0
    questions: int = 0
    captions_to_write: int = 0
    calls: int = 0
    anchors: int = 0
    prompt_tokens: int = 0
    output_tokens: int = 0
    storage_bytes: int = 0


async def estimate(prepared: RunSetup) -> AsyncIterator[BenchmarkEstimate]:
    """Yield one estimate per benchmark. Plans in memory, writes nothing and calls no chat model.

    Raises InvalidInput for rows that cannot be planned, BackendError for an embedder that does
    not answer.
    """
    for part in prepared.spec.benchmarks:
        items = plan_items(prepared.spec, part, prepared.supplies.files[part.name])
        total = BenchmarkEstimate(part.name, len(items), len({item.sample for item in items}))
        captions = prepared.supplies.files[part.name].captions
        if captions is None:
            total.captions_to_write = total.samples
        asks_model = part.models[benchmark(part.name).role].kind not in ("lexical", "replay")
        sources = {Source.MEDIA} & part.checkpoint_sources
        if asks_model:
            sources |= {Source.CAPTION}
        for members in jobs(items):
            for item in members:
                total.questions += item.size
                if item.source in sources:
                    await _add_calls(total, prepared, item, captions)
        total.storage_bytes = total.questions * _BYTES_PER_VERDICT + total.prompt_tokens
        if asks_model and prepared.config.with_anchors:
            before_anchors = total.calls
            for anchor in anchors_of(part.name, part.settings):
                await _add_calls(total, prepared, anchor.item, {anchor.item.sample: anchor.caption})
            total.anchors = total.calls - before_anchors
        yield total


async def _add_calls(
    total: BenchmarkEstimate, prepared: RunSetup, item: Item, captions: Mapping[str, str] | None
) -> None:
    """Run the item's examination with dummy replies, and count its calls."""
    caption = _caption(item, captions)
    settings = prepared.spec.benchmark(item.benchmark).settings
    examination = benchmark(item.benchmark).examine(item, caption, settings)
    try:
        batch = next(examination)
        while True:
            match batch:
                case Nouns(texts):
                    tagger = prepared.models.tagger
                    batch = examination.send(tagger.nouns(texts) if tagger else [])
                case Embed(texts):
                    embedder = prepared.models.embedder
                    vectors = await embedder.embed(texts) if embedder else []
                    batch = examination.send(vectors)
                case asks:
                    for ask in asks:
                        total.calls += 1
                        total.prompt_tokens += _tokens(render_ask(prepared.models.pack, ask))
                        total.output_tokens += ask.decoding.max_tokens
                    batch = examination.send([Reply(" ")] * len(asks))
    except StopIteration:
        return


def _caption(item: Item, captions: Mapping[str, str] | None) -> str | None:
    if item.source is Source.MEDIA:
        return None
    return _TYPICAL_CAPTION if captions is None else captions.get(item.sample)


def _tokens(messages: tuple[ChatMessage, ...]) -> int:
    characters = sum(
        len(part) for message in messages for part in message.content if isinstance(part, str)
    )
    return -(-characters // _CHARACTERS_PER_TOKEN)
