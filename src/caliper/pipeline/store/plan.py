"""Plans: turns a spec and its datasets into items with dense indices, stored as shards.

A plan gives every (question, repeat) of a run its index and fixes everything that depends on
order or chance. Planning twice writes the same bytes.
"""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import json
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import chain
from typing import TypeVar

from caliper.benchmarks.base import PlanRequest
from caliper.benchmarks.registry import benchmark
from caliper.core.errors import DataLoss, InvalidInput, UnknownName
from caliper.core.keys import canonical_json
from caliper.core.layout import Layout
from caliper.core.plan import PlannedBenchmark, PlanSummary
from caliper.core.question import Item, Source
from caliper.core.rows import Row
from caliper.core.run import BenchmarkSpec, RunSpec
from caliper.pipeline.store.decompression import MOST_UNPACKED, gunzip
from caliper.pipeline.store.disk_spill import SpilledItems, SpillEntry
from caliper.pipeline.store.items import decode_item
from caliper.pipeline.store.runs import read_as
from caliper.pipeline.store.share import caption_seed, in_part
from caliper.ports.storage import ObjectStore, Sources

SHARD_ITEMS, SHARD_QUESTIONS, _SHARD_BYTES = 1000, 4000, MOST_UNPACKED // 2
"""A shard is full at this many items, this many questions counted with their repeats, or this many
bytes.
"""
SUMMARY = "plan/summary.json"
_DECODED_SHARDS = 12
"""Shards that stay decoded, in at most 35 MB: a run reads its plan half a dozen times."""
_Decoded = TypeVar("_Decoded")

PlanReader = Callable[[], AsyncIterator[list[Item]]]
Captions = Mapping[str, Mapping[str, str]]
"""Caption texts by benchmark and sample; `CutShort` if the token limit truncated them."""


def plan_items(spec: RunSpec, part: BenchmarkSpec, sources: Sources) -> list[Item]:
    """The sampled items of one benchmark, grouped by sample, with `first` still 0.

    Raises InvalidInput for invalid rows, naming file, line and field, and UnknownName for a
    caption prompt that the benchmark does not have.
    """
    return _by_sample(_items(spec, part, sources))


def _items(spec: RunSpec, part: BenchmarkSpec, sources: Sources) -> Iterator[Item]:
    """The sampled items of one benchmark, in the order of the rows."""
    definition = benchmark(part.name)
    request = PlanRequest(
        settings=part.settings,
        seed=spec.seed,
        repeats=part.repeats,
        captions=sources.captions,
        qa_rows=_qa_rows(part, sources),
    )
    all_items: Iterable[Item] = definition.plan(sources.data.rows(definition.data), request)
    all_items = _prompted(all_items, part)
    if spec.limit is not None:
        all_items = draw(list(all_items), spec.limit, spec.seed, definition.group)
    if spec.judge_share is not None:
        all_items = in_part(list(all_items), spec.judge_share, caption_seed(part, spec.seed))
    yield from all_items


def _prompted(items: Iterable[Item], part: BenchmarkSpec) -> Iterator[Item]:
    """The items, if captions of their groups can be requested: an unknown prompt, or one without
    nodes, refuses the run here rather than failing sample by sample.
    """
    definition, groups = benchmark(part.name), dict[str, None]()
    for item in items:
        group = definition.group(item)
        if group not in groups:
            groups[group] = None
            _, fields = definition.caption_prompt(group, part.prompt, part.taxonomy)
            if part.captions is None and fields.get("taxonomy") == "":
                message = f"the paper has no taxonomy of {group}: give a file of its nodes"
                raise InvalidInput(message, field="taxonomy")
        yield item
    if not groups:
        raise InvalidInput(f"no questions for {part.name} in the data")
    for group in part.taxonomy:
        _, fields = definition.caption_prompt(group, part.prompt)
        if group not in groups and fields.get("taxonomy") == "":
            message = f"no questions about {group!r:.60}; the data have {', '.join(groups)}"
            raise InvalidInput(message, field="taxonomy")


def _qa_rows(part: BenchmarkSpec, sources: Sources) -> Iterable[Row] | None:
    if "media" not in part.models:
        return None
    layout = qa_layout(part.name, path=sources.qa_data is not None)
    if layout is None or sources.qa_data is None:
        return ()
    return sources.qa_data.rows(layout)


def qa_layout(name: str, *, path: bool) -> Layout | None:
    """The layout of the dataset of media questions; None if the benchmark asks its own questions.

    Raises InvalidInput if the benchmark needs such a dataset and none is `path`, or the reverse.
    """
    layout = benchmark(name).qa_data
    if layout is None and path:
        message = "it asks its own questions about the media: set qa to true, not a path"
        raise InvalidInput(f"{name}: {message}", field="qa")
    if layout is not None and not path:
        message = "questions about the media need their own data: give its path (--qa PATH)"
        raise InvalidInput(f"{name}: {message}", field="qa")
    return layout


def draw(items: list[Item], limit: int, seed: int, group: Callable[[Item], str]) -> list[Item]:
    """Sample at most `limit` items per group, by a hash of seed and item key alone.

    Keeps the order of the rows. Media questions are sampled along with the caption item they
    belong to; those that belong to none are sampled on their own.
    """
    caption_keys = {item.key for item in items if item.source is Source.CAPTION}
    groups: dict[tuple[str, Source], list[str]] = {}
    for item in items:
        if item.source is Source.CAPTION or _belongs_to(item) not in caption_keys:
            groups.setdefault((group(item), item.source), []).append(item.key)
    sampled = {
        key
        for members in groups.values()
        for key in sorted(members, key=lambda key: seeded_rank(seed, key))[:limit]
    }
    return [item for item in items if item.key in sampled or _belongs_to(item) in sampled]


def _belongs_to(item: Item) -> str | None:
    """The key of the caption item that a media item belongs to; None for a caption item."""
    return item.key.removeprefix("qa/") if item.source is Source.MEDIA else None


def seeded_rank(seed: int, key: str) -> bytes:
    """A place in a random order that depends on the seed and the key alone."""
    return hashlib.sha256(f"{seed}\0{key}".encode("utf-8", "surrogatepass")).digest()


def _by_sample(items: Iterable[Item]) -> list[Item]:
    """Group items by sample, in order of first appearance."""
    groups: dict[str, list[Item]] = {}
    for item in items:
        groups.setdefault(item.sample, []).append(item)
    return [item for members in groups.values() for item in members]


async def plan(spec: RunSpec, sources: Mapping[str, Sources], store: ObjectStore) -> PlanSummary:
    """Plan all benchmarks of a run and write the plan to `store`, unless it exists.

    A plan that lost its summary or a shard is rewritten. Raises InvalidInput for rows that cannot
    be planned, and DataLoss, before writing anything, if the new plan differs.
    """
    existing, loss = await _existing(store, spec)
    if existing is not None and loss is None:
        return existing
    parts: list[PlannedBenchmark] = []
    spills: list[SpilledItems] = []
    first = 0
    for part in spec.benchmarks:
        # Large datasets take seconds: in a thread, they do not block the event loop.
        items = await asyncio.to_thread(SpilledItems, _items(spec, part, sources[part.name]))
        parts.append(PlannedBenchmark(part.name, first, items.size, items.count, items.samples))
        spills.append(items)
        first += items.size
    if existing is not None and loss is not None and existing.benchmarks != tuple(parts):
        raise DataLoss(f"{loss.message}; planning again gives another plan", file=loss.file)
    digests, shards = list[str](), _shards(chain.from_iterable(spills))
    while (shard := await asyncio.to_thread(next, shards, None)) is not None:
        data, digest = shard
        await store.put(_shard_key(len(digests)), data)
        digests.append(digest)
    summary = PlanSummary(spec.run_id, len(digests), tuple(parts), tuple(digests))
    await store.put(SUMMARY, canonical_json(summary.to_json()))
    return summary


async def _existing(
    store: ObjectStore, spec: RunSpec
) -> tuple[PlanSummary | None, DataLoss | None]:
    """The stored plan of a run, and its loss, if any."""
    summary = None
    try:
        summary = await read_summary(store)
        if summary is not None and summary.run == spec.run_id:
            for number in range(summary.shards):
                await _read_shard(store, summary, number, _lines_of)
            return summary, None
    except DataLoss as error:
        return summary, error
    return None, None


def _shards(items: Iterable[SpillEntry]) -> Iterator[tuple[bytes, str]]:
    """Assign dense indices to items and pack them into compressed shards, each with its digest.

    A sample never spans two shards, so each shard can be reduced independently. Raises
    InvalidInput for a sample whose questions are more than a shard can hold.
    """
    lines: list[bytes] = []
    shard_first, first, sample, size = 0, 0, None, 0
    for item in items:
        full = len(lines) >= SHARD_ITEMS or first - shard_first >= SHARD_QUESTIONS
        if (full or size >= _SHARD_BYTES) and item.sample != sample:
            yield _compress(lines, sample)
            lines, shard_first, size = [], first, 0
        lines.append(item.line(first))
        first, sample, size = first + item.size, item.sample, size + len(lines[-1])
    if lines:
        yield _compress(lines, sample)


def _compress(lines: list[bytes], sample: str | None) -> tuple[bytes, str]:
    text = b"\n".join(lines) + b"\n"
    if len(text) > MOST_UNPACKED:
        message = f"the questions about {sample!r:.100} are too long: {len(text)} bytes in a shard"
        raise InvalidInput(f"{message}, of at most {MOST_UNPACKED}")
    # A timestamp in the gzip header would make every planning write different bytes. The digest
    # is of the lines: two planners may have other releases of zlib.
    return gzip.compress(text, compresslevel=6, mtime=0), hashlib.sha256(text).hexdigest()


def _shard_key(number: int) -> str:
    return f"plan/{number:06}.jsonl.gz"


async def read_summary(store: ObjectStore) -> PlanSummary | None:
    """The summary of the plan; None if there is no complete plan.

    Raises NewerSchema, DataLoss if it is broken, StoreUnavailable.
    """
    return await read_as(store, SUMMARY, PlanSummary.from_json)


async def read_plan(
    store: ObjectStore, summary: PlanSummary, first: int = 0
) -> AsyncIterator[list[Item]]:
    """The items in plan order, one shard at a time, from shard `first` on.

    All items of a sample are in one shard. Raises DataLoss when a shard is missing or broken.
    """
    for number in range(first, summary.shards):
        yield await read_shard(store, summary, number)


async def read_shard(store: ObjectStore, summary: PlanSummary, number: int) -> list[Item]:
    """The items of one shard. Raises DataLoss when it is missing, broken or changed,
    StoreUnavailable.
    """
    return list(await _read_shard(store, summary, number, _items_of))


def _lines_of(shard: bytes, digest: str) -> bytes:
    text = gunzip(shard)
    if digest and hashlib.sha256(text).hexdigest() != digest:
        raise ValueError("not what was planned")
    return text


@lru_cache(maxsize=_DECODED_SHARDS)
def _items_of(shard: bytes, digest: str) -> tuple[Item, ...]:
    # Parsing the lines as one list takes half the time.
    lines = b",".join(_lines_of(shard, digest).splitlines())
    return tuple(map(decode_item, json.loads(b"[" + lines + b"]")))


async def _read_shard(
    store: ObjectStore,
    summary: PlanSummary,
    number: int,
    decode: Callable[[bytes, str], _Decoded],
) -> _Decoded:
    shard = await store.get(_shard_key(number))
    if not shard:
        raise DataLoss("the plan lost a shard", file=_shard_key(number))
    try:
        return decode(shard, summary.digests[number] if summary.digests else "")
    except UnknownName:
        # The shard is intact: a package with a benchmark is missing here.
        raise
    except (InvalidInput, ValueError, RecursionError) as error:
        raise DataLoss(f"broken shard: {error}", file=_shard_key(number)) from error
