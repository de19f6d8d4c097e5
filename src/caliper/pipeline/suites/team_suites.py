"""The suites of a store that the caller may see: those that it or its team applied."""

from __future__ import annotations

from caliper.core.errors import AlreadyExists, UnknownName
from caliper.core.suites import Suite, SuiteRecord
from caliper.pipeline.store.owners import Ownership, suite_owners
from caliper.pipeline.suites.registry import SuiteRegistry
from caliper.pipeline.suites.suite_data import with_digests
from caliper.ports.clock import Clock
from caliper.ports.storage import ObjectStore


class TeamSuites(SuiteRegistry):
    """Like `SuiteRegistry`; a suite that the caller may not see does not exist. Its owners are
    those that applied it.
    """

    def __init__(self, store: ObjectStore, clock: Clock, ownership: Ownership) -> None:
        super().__init__(store, clock)
        self._ownership = ownership

    async def apply(self, suite: Suite) -> tuple[SuiteRecord, bool]:
        """Like that of any registry. Raises AlreadyExists if another team's suite has its name, and
        what `with_digests` raises.
        """
        suite = await with_digests(suite, self.store, self._ownership)
        owners, content = suite_owners(suite.name), f"suites/{suite.name}/suite.json"
        taken = f"there is another suite {suite.name}: choose another name"
        if not await self._ownership.permits(self.store, owners):
            raise AlreadyExists(taken)
        # Another team may apply one at the same time.
        await self._ownership.claim(self.store, owners, content, taken)
        return await super().apply(suite)

    async def names(self) -> list[str]:
        """The names of the suites that the caller may see."""
        names = await super().names()
        return [
            each for each in names if await self._ownership.permits(self.store, suite_owners(each))
        ]

    async def _suite_key(self, name: str) -> str:
        key = await super()._suite_key(name)
        if not await self._ownership.permits(self.store, suite_owners(name)):
            raise UnknownName("suite", name, tuple(await self.names()))
        return key
