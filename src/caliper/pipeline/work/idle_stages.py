"""Stages that are asleep: scaled to nothing until jobs come for them, which come with a run."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from contextlib import suppress

from caliper.core.errors import BackendTimeout, BackendUnavailable, CaliperError
from caliper.core.run import Identity
from caliper.pipeline.store.runs import read_json, write_json
from caliper.ports.stages import StageDescription, StageDirectory
from caliper.ports.storage import ObjectStore


class SleepingStages:
    """ports.stages.StageDirectory. A stage that does not answer is what it last said it was:
    that is kept in the store, under `stages/<role>.json`. When it wakes as another, it stops
    the runs that were begun meanwhile, as it does with any that were resolved with others.
    """

    def __init__(self, stages: StageDirectory, store: ObjectStore) -> None:
        self._stages, self._store = stages, store
        self._kept: dict[str, StageDescription] = {}

    async def describe(self, role: str) -> StageDescription:
        """The stage of a role, as it says or last said.

        Raises what the other directory raises, for a stage that never said anything; else
        NewerSchema and StoreUnavailable, StoreFull.
        """
        key = f"stages/{role}.json"
        try:
            found = await self._stages.describe(role)
        except (BackendUnavailable, BackendTimeout):
            told = await read_json(self._store, key)
            if told is None:
                raise
            models = {name: Identity(**model) for name, model in told["models"].items()}
            return StageDescription(models, told["pack"])
        if self._kept.get(role) != found:
            models_json = {name: model.to_json() for name, model in found.models.items()}
            await write_json(self._store, key, models=models_json, pack=found.pack)
            self._kept[role] = found
        return found

    async def follow(self, roles: Iterable[str], interval: float) -> None:
        """Ask the stages every `interval` seconds, for ever, so that each has said what it is
        before it falls asleep. Failures are passed over: whoever begins a run is told.
        """
        roles = tuple(roles)
        while True:
            for role in roles:
                with suppress(CaliperError):
                    await self.describe(role)
            await asyncio.sleep(interval)
