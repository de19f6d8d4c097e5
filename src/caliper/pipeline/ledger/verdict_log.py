"""The verdict log of a run in an object store: immutable segments of gzipped JSON lines.

Verdicts are buffered and written as segments when the aggregator takes a snapshot, or when the
buffer is large. A readable segment is never rewritten: a process that resumes a run begins a new
one after all existing ones. Segments stay valid even if their snapshot was lost, since entering a
verdict twice changes nothing.
"""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import json
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import groupby, islice
from typing import Any

from cachetools import LRUCache

from caliper.core.errors import DataLoss, LeaseLost
from caliper.core.keys import canonical_json
from caliper.core.outcome import Verdict
from caliper.pipeline.store.decompression import gunzip
from caliper.pipeline.store.runs import END, read_replaceable
from caliper.ports.storage import ObjectStore

SEGMENT_BYTES = 2 << 20
"""A segment is sealed when its uncompressed lines exceed this."""
_BATCH_SIZE = 4096
_SUFFIX = ".jsonl.gz"
# A place is the number of a segment, shifted by these bits, plus a byte offset in the segment.
_OFFSET_BITS = 32


class SegmentCache:
    """Caches the most recently read segments, uncompressed: `capacity` bytes, or one segment."""

    def __init__(self, store: ObjectStore, capacity: int = SEGMENT_BYTES) -> None:
        self._store = store
        self._segments: LRUCache[str, bytes] = LRUCache(
            capacity, lambda lines: min(len(lines), capacity)
        )

    async def get(self, key: str, digest: str = "") -> bytes:
        """The lines of a segment. Raises StoreUnavailable, DataLoss if it is missing or broken."""
        lines = await self.find(key, digest)
        if lines is None:
            raise DataLoss.missing(key)
        return lines

    async def find(self, key: str, digest: str = "") -> bytes | None:
        """The lines of a segment; None if it does not exist yet. Raises StoreUnavailable, DataLoss
        if it is broken, or has another `digest`, if that is known.
        """
        if key not in self._segments:
            data = await self._store.get(key)
            if data is None:
                return None
            try:
                self._segments[key] = await asyncio.to_thread(_lines, data, digest)
            except ValueError as error:
                raise DataLoss(f"broken segment: {error}", file=key) from error
        return self._segments[key]

    def forget(self, key: str) -> None:
        """Drop a segment: another one has its key, or it will not be read soon."""
        self._segments.pop(key, None)

    async def empty(self, key: str) -> None:
        """Replace a segment whose verdicts come again. Raises StoreUnavailable or StoreFull."""
        self.forget(key)
        await self._store.put(key, gzip.compress(b"", mtime=0))


class StoreLog:
    """ports.storage.VerdictLog over segments `<prefix>/<number>.jsonl.gz` in a store.

    `append` only buffers; `flush` writes to the store, and `waiting` counts the verdicts appended
    since the last flush. `first` is the number of the first segment to write. `digests` has the
    known SHA-256 of segments' lines by number: compressed bytes may differ.
    """

    def __init__(
        self, store: ObjectStore, prefix: str, cache: SegmentCache, first: int = 0
    ) -> None:
        self._store = store
        self._prefix = prefix
        self._cache = cache
        self._number = first
        self._buffer = bytearray()
        self._sealed: dict[int, bytes] = {}
        self.digests: dict[int, str] = {}
        self.waiting = 0
        self._flushing = asyncio.Lock()

    @classmethod
    async def open(
        cls, store: ObjectStore, prefix: str, cache: SegmentCache, least: int = 0
    ) -> StoreLog:
        """Open a log that continues after all segments: those that exist, and the first `least`
        ones, which existed. Raises StoreUnavailable.
        """
        numbers = [_number(key) async for key in store.list(f"{prefix}/")]
        return cls(store, prefix, cache, max(least, *(number + 1 for number in numbers), 0))

    @property
    def next_key(self) -> str:
        """The key of the next segment to write."""
        return self._key(self._number)

    @property
    def segments(self) -> int:
        """The number of segments before the next one to write."""
        return self._number

    @property
    def stored(self) -> int:
        """The number of segments in the store."""
        return min(self._sealed, default=self._number)

    def has_stored(self, place: int) -> bool:
        """Whether a place is before the next segment to write."""
        return _split(place)[0] < self._number

    @property
    def pending(self) -> int:
        """The number of bytes not yet in the store."""
        return len(self._buffer) + sum(map(len, self._sealed.values()))

    def append(self, verdicts: Sequence[Verdict]) -> list[int]:
        places = []
        for verdict in verdicts:
            places.append(self._number << _OFFSET_BITS | len(self._buffer))
            self._buffer += canonical_json(verdict.to_json()) + b"\n"
            if len(self._buffer) > SEGMENT_BYTES:
                self._seal()
        self.waiting += len(places)
        return places

    def _seal(self) -> None:
        if self._buffer:
            self._sealed[self._number] = bytes(self._buffer)
            self._number += 1
            self._buffer = bytearray()

    async def flush(self) -> None:
        """Write everything pending. After StoreUnavailable or StoreFull, it stays pending.

        Raises LeaseLost if another process has written a segment of the same number.
        """
        async with self._flushing:
            self._seal()
            self.waiting = 0
            for number, lines in list(self._sealed.items()):
                data = await asyncio.to_thread(gzip.compress, lines, 1, mtime=0)
                key = self._key(number)
                if await self._store.replace(key, data, None) is None:
                    raise LeaseLost(f"{key}: another process has written it")
                self._cache.forget(key)
                self._sealed.pop(number, None)
                self.digests[number] = await asyncio.to_thread(_digest, lines)

    async def note_digests(self) -> None:
        """Take the digests of earlier processes' segments as stored. Raises StoreUnavailable."""
        for number in set(range(self.stored)) - self.digests.keys():
            # A broken one has none: its readers will report it.
            with suppress(DataLoss):
                self.digests[number] = _digest(await self._cache.get(self._key(number)))

    def clear_cache(self) -> None:
        """Drop the segments of this log from its shared cache."""
        for number in range(self._number):
            self._cache.forget(self._key(number))

    def read(self, place: int) -> Verdict:
        number, offset = _split(place)
        lines = self._pending_lines(number)
        if lines is None:
            raise KeyError(place)
        return _verdict(lines, offset, self._key(number))

    async def read_many(self, places: Iterable[int]) -> dict[int, Verdict]:
        verdicts = {}
        for number, members in groupby(sorted(set(places)), lambda place: _split(place)[0]):
            lines = self._pending_lines(number) or await self._cache.get(*self._segment(number))
            for place in members:
                verdicts[place] = _verdict(lines, _split(place)[1], self._key(number))
        return verdicts

    async def batches(self, *, heal: bool = False) -> AsyncIterator[list[tuple[int, Verdict]]]:
        """All stored verdicts as (place, verdict), in batches of some thousands.

        Raises StoreUnavailable, and DataLoss for a missing or broken segment. With `heal`, empties
        such a segment instead, as its verdicts will come again, and may raise StoreFull.
        """
        # Segment numbers have no gaps: a missing one was lost.
        for number in range(self._number):
            key, digest = self._segment(number)
            if heal:
                self._cache.forget(key)
            try:
                verdicts = _placed(await self._cache.get(key, digest), key)
                # None of a segment's verdicts counts if it is emptied.
                verdicts = iter(list(verdicts)) if heal else verdicts
            except DataLoss:
                if not heal:
                    raise
                await self._cache.empty(key)
                self.digests.pop(number, None)
                continue
            while batch := list(islice(verdicts, _BATCH_SIZE)):
                yield batch

    async def read_new(self) -> AsyncIterator[list[tuple[int, Verdict]]]:
        """The verdicts of segments that another process wrote since the last call, as `batches`
        yields them. Only for a log that is never appended to.
        """
        # Segment numbers have no gaps, so fetching the next one saves listing them.
        while (lines := await self._cache.find(*self._segment(self._number))) is not None:
            verdicts = _placed(lines, self._key(self._number))
            while batch := list(islice(verdicts, _BATCH_SIZE)):
                yield batch
            self._number += 1

    def _key(self, number: int) -> str:
        return segment_key(self._prefix, number)

    def _segment(self, number: int) -> tuple[str, str]:
        return self._key(number), self.digests.get(number, "")

    def _pending_lines(self, number: int) -> bytes | bytearray | None:
        return self._buffer if number == self._number else self._sealed.get(number)


async def check_segments(run: ObjectStore) -> None:
    """Raise DataLoss for a segment of a run that is missing, broken, or changed since its end.
    `run` is the run's own part of the store. Raises StoreUnavailable.
    """
    cache, end = SegmentCache(run), await read_replaceable(run, END)
    log = await StoreLog.open(run, "verdicts", cache, stored_at(end))
    digests = end.get("segment_digests") or {}
    for number in range(log.segments):
        await cache.get(segment_key("verdicts", number), digests.get(str(number), ""))


def stored_at(end: Mapping[str, Any]) -> int:
    """The number of segments at the end of a run, by its end.json; 0 if that is lost, or from an
    earlier release.
    """
    segments = end.get("segments")
    return segments if isinstance(segments, int) else 0


def segment_key(prefix: str, number: int) -> str:
    """The key of a segment in the log with this prefix."""
    return f"{prefix}/{number:08}{_SUFFIX}"


def _lines(segment: bytes, digest: str) -> bytes:
    lines = gunzip(segment)
    if digest and _digest(lines) != digest:
        raise ValueError("not the lines that were written")
    return lines


def _digest(lines: bytes) -> str:
    return hashlib.sha256(lines).hexdigest()


def _number(key: str) -> int:
    try:
        return int(key.rpartition("/")[2].removesuffix(_SUFFIX))
    except ValueError as error:
        raise DataLoss("not a segment of verdicts", file=key) from error


def _split(place: int) -> tuple[int, int]:
    return place >> _OFFSET_BITS, place & (1 << _OFFSET_BITS) - 1


def _verdict(lines: bytes | bytearray, offset: int, file: str) -> Verdict:
    end = lines.find(b"\n", offset)
    return _read(lines[offset:end], file)


def _read(line: bytes | bytearray, file: str) -> Verdict:
    try:
        return Verdict.from_json(json.loads(line))
    except (ValueError, RecursionError) as error:
        raise DataLoss("the segment has no verdict at a place", file=file) from error


def _placed(lines: bytes, key: str) -> Iterator[tuple[int, Verdict]]:
    """The verdicts of a segment, each with its place."""
    number, offset = _number(key), 0
    while (end := lines.find(b"\n", offset)) >= 0:
        yield number << _OFFSET_BITS | offset, _read(lines[offset:end], key)
        offset = end + 1
