"""Registers the checkpoints that a loop sees arrive and vanish."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

from caliper.core.checkpoints import CheckpointEntry, CheckpointRevision, SourceLoss
from caliper.core.entry_states import EntryCause
from caliper.core.errors import NotReady
from caliper.core.suites import Suite
from caliper.pipeline.suites.registry import SuiteRegistry

Arrivals = Callable[[], Awaitable[Sequence[CheckpointRevision | SourceLoss]]]
OnEntry = Callable[[CheckpointEntry, str, str], None]


class ArrivalBook:
    """Registers what `arrivals` returns: checkpoints that are new since the call before, and
    sources that are gone. `on_entry` takes an entry, what happened to it, and details.
    """

    def __init__(
        self, registry: SuiteRegistry, arrivals: Arrivals | None, on_entry: OnEntry
    ) -> None:
        self._registry, self._arrivals, self._on_entry = registry, arrivals, on_entry
        self._arrived: dict[str, CheckpointRevision] = {}
        self._registered: set[tuple[str, str, str]] = set()
        self._losses: list[SourceLoss] = []

    async def receive(self) -> None:
        """Note what arrived since the last call. Raises what `arrivals` raises."""
        self._losses.clear()
        for arrival in await self._arrivals() if self._arrivals else ():
            if isinstance(arrival, SourceLoss):
                self._losses.append(arrival)
                for key in [key for key, each in self._arrived.items() if arrival.covers(each)]:
                    del self._arrived[key]
                continue
            revision = arrival.revision
            self._arrived[revision] = arrival
            # One that comes back may be gone in the registry.
            self._registered = {key for key in self._registered if key[2] != revision}

    async def register(self, suite: Suite) -> None:
        """Register in a suite the checkpoints that arrived, and end open ones that are gone. Raises
        StoreUnavailable.
        """
        for checkpoint in self._arrived.values():
            key = (suite.name, suite.version, checkpoint.revision)
            if key not in self._registered:
                entry, is_new = await self._registry.register(suite, checkpoint)
                self._registered.add(key)
                if is_new:
                    self._on_entry(entry, "registered", entry.reason)
                elif checkpoint.name != entry.checkpoint.name:
                    self._on_entry(entry, "known", f"{checkpoint.name} has the same files")
        if self._losses:
            await self._lose(suite)

    async def _lose(self, suite: Suite) -> None:
        # All versions: entries that an earlier one left open move to the present one.
        stored, _ = await self._registry.entries(suite.name)
        for each in stored:
            checkpoint = each.entry.checkpoint
            loss = next((loss for loss in self._losses if loss.covers(checkpoint)), None)
            if loss is None or not each.entry.is_open:
                continue
            # It may have been decided meanwhile.
            with suppress(NotReady):
                cause, reason = EntryCause.LOSS, loss.reason
                entry = await self._registry.change_entry(each.key, cause, reason=reason)
                self._on_entry(entry, str(entry.state), reason)
