"""Slots: the parts into which runs are divided, so that several aggregators can share them.

A slot has all runs of its models, as the windows of a model span its runs.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from zlib import crc32

from cachetools import LRUCache

from caliper.core.envelopes import Record
from caliper.core.errors import InvalidInput, NotFound
from caliper.pipeline.planning.publisher import RUNS
from caliper.pipeline.store.run_book import RunBook
from caliper.pipeline.store.runs import is_run_id
from caliper.ports.stages import ScoreBoard, Scores

SLOTS = 4
"""The most aggregators that share runs."""
_RUNS = 4096


def slot_of(model: str) -> int:
    """The slot of a model."""
    return crc32(model.encode()) % SLOTS


class SlotIndex:
    """Finds the slots of runs. A run that does not exist is in slot 0."""

    def __init__(self, book: RunBook) -> None:
        self._book = book
        self._slots: LRUCache[str, int | None] = LRUCache(_RUNS)

    async def find(self, run: str, *, again: bool = False) -> int:
        """The slot of a run. One that did not exist is looked up `again` only on request. Raises
        StoreUnavailable.
        """
        if is_run_id(run) and (run not in self._slots or (again and self._slots[run] is None)):
            try:
                self._slots[run] = slot_of((await self._book.spec(run)).name)
            except NotFound:
                self._slots[run] = None
            except InvalidInput:
                return 0
        return self._slots.get(run) or 0


@dataclass(frozen=True, slots=True)
class Slot:
    """One slot of the runs in `index`."""

    number: int
    index: SlotIndex

    @property
    def folder(self) -> str:
        """The folder of its lease and snapshots."""
        return f"aggregator/slot-{self.number}/"

    async def has(self, record: Record) -> bool:
        """Whether a record is about a run in the slot. Raises StoreUnavailable."""
        run = record.message.key.partition("/")[0]
        return await self.index.find(run, again=record.message.topic == RUNS) == self.number


class SlotBoard:
    """ports.stages.ScoreBoard of all runs, from the board of each slot."""

    def __init__(self, index: SlotIndex, boards: Sequence[ScoreBoard]) -> None:
        self._index, self._boards = index, boards

    async def scores(self, run: str) -> Scores | None:
        return await self._boards[await self._index.find(run, again=True)].scores(run)

    async def watch(self, run: str, interval: float) -> AsyncGenerator[Scores, None]:
        board = self._boards[await self._index.find(run, again=True)]
        async with aclosing(board.watch(run, interval)) as updates:
            async for scores in updates:
                yield scores
