"""Writes items that come at about the same time together: a store's cost is per object."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

from caliper.ports.clock import Clock

_REST = 0.1
"""Seconds between writes."""
_Item = TypeVar("_Item")


class GroupCommit(Generic[_Item]):
    """Writes items by `write`: one that comes alone at once, those that come during a write
    together, after a pause.
    """

    def __init__(self, write: Callable[[Sequence[_Item]], Awaitable[object]], clock: Clock) -> None:
        self._write, self._clock = write, clock
        self._items: list[_Item] = []
        self._next: asyncio.Task[None] | None = None
        self._rests_until = 0.0
        self._writing, self._alone = 0, True

    async def add(self, item: _Item) -> None:
        """Write an item. Raises what `write` raises."""
        self._items.append(item)
        if self._next is None:
            self._next = asyncio.create_task(self._commit())
        # A caller that stops waiting does not cancel the items of others.
        await asyncio.shield(self._next)

    async def _commit(self) -> None:
        if self._writing or not self._alone:
            await self._clock.sleep(max(0.0, self._rests_until - self._clock.monotonic()))
        items, self._items, self._next = self._items, [], None
        self._rests_until, self._alone = self._clock.monotonic() + _REST, len(items) == 1
        self._writing += 1
        try:
            await self._write(items)
        finally:
            self._writing -= 1
