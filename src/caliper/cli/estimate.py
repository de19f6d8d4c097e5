"""What a run would take, before anything is spent."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from caliper.benchmarks.registry import benchmark
from caliper.core.question import Embed, Item, Nouns, Reply, Source
from caliper.local.setup import RunSetup
from caliper.pipeline.asking.request import render_ask
from caliper.pipeline.planning.publisher import jobs
from caliper.pipeline.store.plan import plan_items
from caliper.ports.models import ChatMessage
from caliper.wiring.anchors import anchors_of

_CHARACTERS_A_TOKEN = 4
"""A usual figure for English text; the run's own count stands in execution.json."""
_BYTES_A_VERDICT = 600
"""Segments, JSON lines and Parquet of one verdict, without its prompt."""


@dataclass(slots=True)
class BenchmarkEstimate:
    """What one benchmark would take. `calls` go to a chat model, `anchors` of them about anchors;
    lexical and replay make none. Tokens are estimates from characters, without those of
    pictures; `output_tokens` is the upper bound.
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

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


async def estimate(prepared: RunSetup) -> AsyncIterator[BenchmarkEstimate]:
    """One estimate a benchmark. Plans in memory, writes nothing and calls no chat model.

    Raises InvalidInput for rows that cannot be planned, BackendError for an embedder that
    does not answer.
    """
    for part in prepared.spec.benchmarks:
        items = plan_items(prepared.spec, part, prepared.supplies.opened[part.name])
        found = BenchmarkEstimate(part.name, len(items), len({item.sample for item in items}))
        captions = prepared.supplies.opened[part.name].captions
        if captions is None:
            found.captions_to_write = found.samples
        asks_model = part.models[benchmark(part.name).role].kind not in ("lexical", "replay")
        asked = {Source.MEDIA} & part.asked_of_checkpoint
        if asks_model:
            asked |= {Source.CAPTION}
        for members in jobs(items):
            for item in members:
                found.questions += item.size
                if item.source in asked:
                    await _add_calls(found, prepared, item, captions)
        found.storage_bytes = found.questions * _BYTES_A_VERDICT + found.prompt_tokens
        if asks_model and prepared.config.with_anchors:
            own = found.calls
            for anchor in anchors_of(part.name, part.settings):
                await _add_calls(found, prepared, anchor.item, {anchor.item.sample: anchor.caption})
            found.anchors = found.calls - own
        yield found


async def _add_calls(
    found: BenchmarkEstimate, prepared: RunSetup, item: Item, captions: Mapping[str, str] | None
) -> None:
    """Walk the item's examination with empty-handed models, and count what it asks."""
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
                        found.calls += 1
                        found.prompt_tokens += _tokens(render_ask(prepared.pack, ask))
                        found.output_tokens += ask.decoding.max_tokens
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
    return -(-characters // _CHARACTERS_A_TOKEN)


_TYPICAL_CAPTION = "word " * 200
"""As long as captions by current models usually are; used where none is written yet."""
