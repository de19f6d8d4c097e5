"""Planning: a spec and its datasets become items with dense indices, kept as shards.

Every (question, repeat) that can ever be asked gets its index here, and whatever depends
on order or chance is fixed here. Planning twice writes the same bytes.
"""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import json
import zlib
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from itertools import chain

from caliper.benchmarks.base import PlanRequest
from caliper.benchmarks.registry import benchmark
from caliper.core.errors import InvalidInput
from caliper.core.keys import canonical_json
from caliper.core.layout import Layout
from caliper.core.plan import PlannedBenchmark, PlanSummary
from caliper.core.question import Item, Source
from caliper.core.rows import Row
from caliper.core.run import BenchmarkSpec, RunSpec
from caliper.pipeline.store.disk_spill import SpilledItems, SpillEntry
from caliper.pipeline.store.items import decode_item
from caliper.ports.storage import ObjectStore, Sources

SHARD_ITEMS, SHARD_QUESTIONS = 1000, 4000
"""A shard is full with so many items, or questions with their repeats."""
SUMMARY = "plan/summary.json"

PlanReader = Callable[[], AsyncIterator[list[Item]]]
Captions = Mapping[str, Mapping[str, str]]
"""Caption texts by benchmark and sample; `CutShort` where a model's limit cut them."""


def plan_items(spec: RunSpec, part: BenchmarkSpec, sources: Sources) -> list[Item]:
    """The items of one benchmark, drawn and grouped by sample, `first` still 0.

    Raises InvalidInput naming file, line and field of what is wrong with the rows, UnknownName
    for a caption prompt that the benchmark does not have.
    """
    return _by_sample(_items(spec, part, sources))


def _items(spec: RunSpec, part: BenchmarkSpec, sources: Sources) -> Iterator[Item]:
    """The items of one benchmark, drawn, in the order of the rows."""
    chosen = benchmark(part.name)
    request = PlanRequest(
        settings=part.settings,
        seed=spec.seed,
        repeats=part.repeats,
        captions=sources.captions,
        qa_rows=_qa_rows(part, sources),
    )
    items = chosen.plan(sources.data.rows(chosen.data), request)
    first = next(items, None)
    if first is None:
        raise InvalidInput(f"no questions for {part.name} in the data")
    # Refused here, and not sample by sample, when the benchmark has no such prompt.
    chosen.caption_prompt(chosen.group(first), part.prompt)
    whole = chain((first,), items)
    if spec.limit is None:
        yield from whole
    else:
        yield from draw(list(whole), spec.limit, spec.seed, chosen.group)


def _qa_rows(part: BenchmarkSpec, sources: Sources) -> Iterable[Row] | None:
    if "media" not in part.models:
        return None
    layout = qa_layout(part.name, given=sources.qa_data is not None)
    if layout is None or sources.qa_data is None:
        return ()
    return sources.qa_data.rows(layout)


def qa_layout(name: str, *, given: bool) -> Layout | None:
    """How the questions from the media lie that are `given` with their own data; None where
    the benchmark's own are asked. Raises InvalidInput where that is not what is given.
    """
    layout = benchmark(name).qa_data
    if layout is None and given:
        message = "its own questions are asked from the media: qa is true, and no path"
        raise InvalidInput(f"{name}: {message}", field="qa")
    if layout is not None and not given:
        message = "questions from the media need their own data: the path of it (--qa PATH)"
        raise InvalidInput(f"{name}: {message}", field="qa")
    return layout


def draw(items: list[Item], limit: int, seed: int, group: Callable[[Item], str]) -> list[Item]:
    """At most `limit` items of each group, chosen by a hash of seed and item.

    The choice depends on nothing else, keeps the order of the rows, and takes the
    questions from the media along with the items they belong to. Those that belong to none
    are drawn by themselves.
    """
    captioned = {item.key for item in items if item.source is Source.CAPTION}
    groups: dict[tuple[str, Source], list[str]] = {}
    for item in items:
        if item.source is Source.CAPTION or _belongs_to(item) not in captioned:
            groups.setdefault((group(item), item.source), []).append(item.key)
    drawn = {
        key
        for members in groups.values()
        for key in sorted(members, key=lambda key: _rank(seed, key))[:limit]
    }
    return [item for item in items if item.key in drawn or _belongs_to(item) in drawn]


def _belongs_to(item: Item) -> str | None:
    """The key of the item about the caption that questions from the media go with."""
    return item.key.removeprefix("qa/") if item.source is Source.MEDIA else None


def _rank(seed: int, key: str) -> bytes:
    return hashlib.sha256(f"{seed}\0{key}".encode("utf-8", "surrogatepass")).digest()


def _by_sample(items: Iterable[Item]) -> list[Item]:
    """All items of one sample together, in order of first appearance."""
    groups: dict[str, list[Item]] = {}
    for item in items:
        groups.setdefault(item.sample, []).append(item)
    return [item for members in groups.values() for item in members]


async def plan(spec: RunSpec, sources: Mapping[str, Sources], store: ObjectStore) -> PlanSummary:
    """Plan all benchmarks of a run and keep the plan in `store`. Planned before: reads it.

    Raises InvalidInput for rows that cannot be planned, before anything is written.
    """
    planned = await read_summary(store)
    if planned is not None and planned.run == spec.run_id:
        return planned
    parts: list[PlannedBenchmark] = []
    spilled: list[SpilledItems] = []
    first = 0
    for part in spec.benchmarks:
        # Large datasets take their time, and other calls are waiting.
        items = await asyncio.to_thread(SpilledItems, _items(spec, part, sources[part.name]))
        parts.append(PlannedBenchmark(part.name, first, items.size, items.count, items.samples))
        spilled.append(items)
        first += items.size
    shards, packed = 0, _shards(chain.from_iterable(spilled))
    while (shard := await asyncio.to_thread(next, packed, None)) is not None:
        await store.put(_shard_key(shards), shard)
        shards += 1
    summary = PlanSummary(spec.run_id, shards, tuple(parts))
    await store.put(SUMMARY, canonical_json(summary.to_json()))
    return summary


def _shards(items: Iterable[SpillEntry]) -> Iterator[bytes]:
    """Full shards of items, numbered; a sample never spans two, so that each shard can be reduced
    by itself.
    """
    lines: list[bytes] = []
    begun, first, sample = 0, 0, None
    for item in items:
        full = len(lines) >= SHARD_ITEMS or first - begun >= SHARD_QUESTIONS
        if full and item.sample != sample:
            yield _packed(lines)
            lines, begun = [], first
        lines.append(item.line(first))
        first, sample = first + item.size, item.sample
    if lines:
        yield _packed(lines)


def _packed(lines: list[bytes]) -> bytes:
    # Without a time stamp in its header, planning twice gives the same bytes.
    return gzip.compress(b"\n".join(lines) + b"\n", compresslevel=6, mtime=0)


def _shard_key(number: int) -> str:
    return f"plan/{number:06}.jsonl.gz"


async def read_summary(store: ObjectStore) -> PlanSummary | None:
    """The plan's summary, None when there is no whole plan."""
    written = await store.get(SUMMARY)
    return None if written is None else PlanSummary.from_json(json.loads(written), file=SUMMARY)


async def read_plan(
    store: ObjectStore, summary: PlanSummary, first: int = 0
) -> AsyncIterator[list[Item]]:
    """The items in plan order, a shard at a time, from shard `first` on; all items of a sample
    are in one shard.

    Raises InvalidInput when a shard is missing or broken.
    """
    for number in range(first, summary.shards):
        yield await read_shard(store, number)


async def read_shard(store: ObjectStore, number: int) -> list[Item]:
    """The items of one shard. Raises InvalidInput when it is missing or broken."""
    shard = await store.get(_shard_key(number))
    if not shard:
        raise InvalidInput("the plan lost a shard", file=_shard_key(number))
    try:
        lines = gzip.decompress(shard).splitlines()
        # Read as one list, lines take half the time.
        return [decode_item(item) for item in json.loads(b"[" + b",".join(lines) + b"]")]
    except (OSError, EOFError, zlib.error, ValueError) as error:
        raise InvalidInput(f"broken shard: {error}", file=_shard_key(number)) from error
