"""The evidence of a run in an object store: immutable segments of gzip JSON lines.

Verdicts are buffered and written as segments when the aggregator takes a snapshot, or when
they have grown large. A segment is never written again: who takes a run up begins a new one,
behind all that are there. What a segment holds stays true even when the snapshot that goes
with it was lost, since entering a verdict twice changes nothing.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import zlib
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from itertools import groupby, islice

from cachetools import LRUCache

from caliper.core.errors import InvalidInput
from caliper.core.keys import canonical_json
from caliper.core.outcome import Verdict
from caliper.ports.storage import ObjectStore

SEGMENT_BYTES = 2 << 20
"""A segment is sealed when its lines, not yet compressed, take more than this."""
_CHUNK = 4096
_ENDING = ".jsonl.gz"
# A place holds the number of its segment above these bits, and its byte in it below.
_OFFSET_BITS = 32


class SegmentCache:
    """Unpacked segments that were read last, together at most `capacity` bytes or one segment."""

    def __init__(self, store: ObjectStore, capacity: int = SEGMENT_BYTES) -> None:
        self._store = store
        self._held: LRUCache[str, bytes] = LRUCache(
            capacity, lambda lines: min(len(lines), capacity)
        )

    async def get(self, key: str) -> bytes:
        """The lines of a segment. Raises StoreUnavailable, InvalidInput for a lost one."""
        found = await self.find(key)
        if found is None:
            raise InvalidInput("a segment of verdicts is lost", file=key)
        return found

    async def find(self, key: str) -> bytes | None:
        """The lines of a segment, None where there is none yet. Raises StoreUnavailable."""
        if key not in self._held:
            packed = await self._store.get(key)
            if packed is None:
                return None
            try:
                self._held[key] = await asyncio.to_thread(gzip.decompress, packed)
            except (OSError, EOFError, zlib.error) as error:
                raise InvalidInput(f"broken segment: {error}", file=key) from error
        return self._held[key]


class StoreLog:
    """ports.storage.VerdictLog over segments `<prefix>/<number>.jsonl.gz` in a store.

    `append` is heard of by the store only in `flush`; `waiting` counts the verdicts that wait
    for it. `first` is the number of the segment that it begins with.
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
        self.waiting = 0
        self._flushing = asyncio.Lock()

    @classmethod
    async def open(cls, store: ObjectStore, prefix: str, cache: SegmentCache) -> StoreLog:
        """The log behind all segments that are there. Raises StoreUnavailable."""
        numbers = [_number(key) async for key in store.list(f"{prefix}/")]
        return cls(store, prefix, cache, max(numbers, default=-1) + 1)

    @property
    def pending(self) -> int:
        """Bytes that are not in the store yet."""
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
        """Write what is pending. Raises StoreUnavailable or StoreFull; it then stays pending."""
        async with self._flushing:
            self._seal()
            self.waiting = 0
            for number, lines in list(self._sealed.items()):
                packed = await asyncio.to_thread(gzip.compress, lines, 1, mtime=0)
                await self._store.put(self._key(number), packed)
                self._sealed.pop(number, None)

    def read(self, place: int) -> Verdict:
        number, offset = _split(place)
        lines = self._at_hand(number)
        if lines is None:
            raise KeyError(place)
        return _verdict(lines, offset, self._key(number))

    async def read_many(self, places: Iterable[int]) -> dict[int, Verdict]:
        found = {}
        for number, members in groupby(sorted(set(places)), lambda place: _split(place)[0]):
            key = self._key(number)
            lines = self._at_hand(number) or await self._cache.get(key)
            for place in members:
                found[place] = _verdict(lines, _split(place)[1], key)
        return found

    async def batches(self) -> AsyncIterator[list[tuple[int, Verdict]]]:
        """All that the store holds as (place, verdict), some thousand at a time.

        Raises StoreUnavailable, InvalidInput for a broken segment.
        """
        async for key in self._store.list(f"{self._prefix}/"):
            placed = _placed(await self._cache.get(key), key)
            while batch := list(islice(placed, _CHUNK)):
                yield batch

    async def later(self) -> AsyncIterator[list[tuple[int, Verdict]]]:
        """What somebody else has written behind this log's beginning, which moves behind it:
        for a log that is only read. Yields and raises as `batches` does.
        """
        # Segments have no gaps between them, so the next one is asked for: nothing is listed.
        while (lines := await self._cache.find(key := self._key(self._number))) is not None:
            placed = _placed(lines, key)
            while batch := list(islice(placed, _CHUNK)):
                yield batch
            self._number += 1

    def _key(self, number: int) -> str:
        return segment_key(self._prefix, number)

    def _at_hand(self, number: int) -> bytes | bytearray | None:
        return self._buffer if number == self._number else self._sealed.get(number)


def segment_key(prefix: str, number: int) -> str:
    """The key of a segment of the log with that prefix."""
    return f"{prefix}/{number:08}{_ENDING}"


def _number(key: str) -> int:
    try:
        return int(key.rpartition("/")[2].removesuffix(_ENDING))
    except ValueError as error:
        raise InvalidInput("not a segment of verdicts", file=key) from error


def _split(place: int) -> tuple[int, int]:
    return place >> _OFFSET_BITS, place & (1 << _OFFSET_BITS) - 1


def _verdict(lines: bytes | bytearray, offset: int, file: str) -> Verdict:
    end = lines.find(b"\n", offset)
    return _read(lines[offset:end], file)


def _read(line: bytes | bytearray, file: str) -> Verdict:
    try:
        return Verdict.from_json(json.loads(line))
    except ValueError as error:
        raise InvalidInput("a segment holds no verdict at a place", file=file) from error


def _placed(lines: bytes, key: str) -> Iterator[tuple[int, Verdict]]:
    number, offset = _number(key), 0
    while (end := lines.find(b"\n", offset)) >= 0:
        yield number << _OFFSET_BITS | offset, _read(lines[offset:end], key)
        offset = end + 1
