"""A claim: an entry that a loop holds the lease of, and what its evaluation tells meanwhile."""

from __future__ import annotations

from typing import Any

from caliper.core.checkpoints import CheckpointEntry
from caliper.core.entry_states import EntryCause, EntryState
from caliper.pipeline.aggregation.lease import Lease
from caliper.pipeline.suites.registry import StoredEntry, SuiteRegistry

_TRIES = 100


class EntryClaim:
    """An entry that was claimed. What goes on is noted in its lease, which is renewed anyway, so
    that others see that it is evaluated, and how far.
    """

    def __init__(self, registry: SuiteRegistry, stored: StoredEntry, lease: Lease) -> None:
        self._registry, self._stored = registry, stored
        self._progress: tuple[int, int, str] | None = None
        lease.note = self._note
        self.is_serving = False

    @property
    def entry(self) -> CheckpointEntry:
        """The entry, as far as this process knows it."""
        return self._stored.entry

    @property
    def key(self) -> str:
        """The key of the entry's object."""
        return self._stored.key

    def _note(self) -> dict[str, Any]:
        seen: dict[str, Any] = {"seen": self._registry.now()}
        if self._progress is not None:
            done, whole, phase = self._progress
            seen |= {"done": done, "whole": whole, **({"phase": phase} if phase else {})}
        return seen

    def note_progress(self, done: int, whole: int, phase: str = "") -> None:
        """So many of all questions have an outcome; or so many samples, in another phase."""
        self._progress = (done, whole, phase)

    async def note_server(self) -> None:
        """The checkpoint's server is ready. Raises StoreUnavailable."""
        self.is_serving = True
        await self.move(EntryCause.SERVING)

    async def note_run(self, run: str) -> None:
        """The run begins, in this directory or with this id. Raises StoreUnavailable."""
        self.is_serving = True
        await self.move(EntryCause.START, run=run)

    async def is_given_up(self) -> bool:
        """Whether somebody skipped the entry meanwhile. Raises DataLoss, StoreUnavailable."""
        found = await self._registry.read(self._stored.key)
        if found is None:
            return False
        # After another loop took it over, it is not given up.
        return found.entry.state is EntryState.SKIPPED or found.entry.round != self.entry.round

    async def move(self, cause: EntryCause, **fields: Any) -> CheckpointEntry | None:
        """Change the entry; None if it is no longer that of this claim. Raises DataLoss,
        StoreUnavailable.
        """
        for _ in range(_TRIES):
            moved = await self._registry.move(self._stored, cause, **fields)
            if moved is not None:
                self._stored = moved
                return moved.entry
            found = await self._registry.read(self._stored.key)
            if found is None or not self._is_own(found.entry):
                return None
            # It was delivered again meanwhile, with another tag.
            self._stored = found
        return None

    def _is_own(self, found: CheckpointEntry) -> bool:
        is_claimed = found.state is EntryState.EVALUATING
        return is_claimed and (found.round, found.claims) == (self.entry.round, self.entry.claims)
