"""A claim: an entry whose lease a loop holds, with the progress of its evaluation."""

from __future__ import annotations

from typing import Any

from caliper.core.checkpoints import CheckpointEntry
from caliper.core.entry_states import EntryCause, EntryState
from caliper.pipeline.aggregation.lease import Lease
from caliper.pipeline.suites.registry import StoredEntry, SuiteRegistry

_TRIES = 100


class EntryClaim:
    """A claimed entry. Progress is noted in its lease, which is renewed anyway, so that others see
    that it is being evaluated, and how far.
    """

    def __init__(self, registry: SuiteRegistry, stored: StoredEntry, lease: Lease) -> None:
        self._registry, self._stored = registry, stored
        self._progress: tuple[int, int, str] | None = None
        lease.note = self._note
        self.is_serving = False

    @property
    def entry(self) -> CheckpointEntry:
        """The entry as this process knows it."""
        return self._stored.entry

    @property
    def key(self) -> str:
        """The key of the entry's object."""
        return self._stored.key

    def _note(self) -> dict[str, Any]:
        note: dict[str, Any] = {"seen": self._registry.now()}
        if self._progress is not None:
            done, whole, phase = self._progress
            note |= {"done": done, "whole": whole, **({"phase": phase} if phase else {})}
        return note

    def note_progress(self, done: int, whole: int, phase: str = "") -> None:
        """Note how many of all questions, or in another phase samples, have an outcome."""
        self._progress = (done, whole, phase)

    async def note_server(self) -> None:
        """Note that the checkpoint's server is ready. Raises StoreUnavailable."""
        self.is_serving = True
        await self.move(EntryCause.SERVING)

    async def note_run(self, run: str) -> None:
        """Note that the run begins, in this directory or with this id. Raises StoreUnavailable."""
        self.is_serving = True
        await self.move(EntryCause.START, run=run)

    async def is_given_up(self) -> bool:
        """Whether somebody skipped the entry meanwhile. Raises DataLoss, StoreUnavailable."""
        stored = await self._registry.read(self._stored.key)
        if stored is None:
            return False
        # An entry that another loop took over is not given up.
        return stored.entry.state is EntryState.SKIPPED or stored.entry.round != self.entry.round

    async def move(self, cause: EntryCause, **fields: Any) -> CheckpointEntry | None:
        """Change the entry; None if it no longer belongs to this claim. Raises DataLoss,
        StoreUnavailable.
        """
        for _ in range(_TRIES):
            moved = await self._registry.move(self._stored, cause, **fields)
            if moved is not None:
                self._stored = moved
                return moved.entry
            stored = await self._registry.read(self._stored.key)
            if stored is None or not self._is_own(stored.entry):
                return None
            # It was delivered again meanwhile, with another tag.
            self._stored = stored
        return None

    def _is_own(self, entry: CheckpointEntry) -> bool:
        is_claimed = entry.state is EntryState.EVALUATING
        return is_claimed and (entry.round, entry.claims) == (self.entry.round, self.entry.claims)
