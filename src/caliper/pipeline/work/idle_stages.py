"""Descriptions of idle stages, which are scaled to zero until a run brings jobs for them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from contextlib import suppress

from caliper.core.errors import BackendTimeout, BackendUnavailable, CaliperError
from caliper.core.run import Identity
from caliper.pipeline.store.runs import read_json, write_json
from caliper.ports.stages import StageDescription, StageDirectory
from caliper.ports.storage import ObjectStore


class IdleStages:
    """ports.stages.StageDirectory that remembers the last description of each stage.

    The store has it under `stages/<role>.json`; it stands in for a stage that does not answer. If
    the stage comes back with other models, it fails the runs started in the meantime, as it does
    with every run that was resolved with other models.
    """

    def __init__(self, stages: StageDirectory, store: ObjectStore) -> None:
        self._stages, self._store = stages, store
        self._descriptions: dict[str, StageDescription] = {}

    async def describe(self, role: str) -> StageDescription:
        """The current or last known description of the stage of a role.

        Raises what `stages` raises if the stage was never described; else NewerSchema,
        StoreUnavailable and StoreFull.
        """
        key = f"stages/{role}.json"
        try:
            description = await self._stages.describe(role)
        except (BackendUnavailable, BackendTimeout):
            fields = await read_json(self._store, key)
            if fields is None:
                raise
            models = {name: Identity(**model) for name, model in fields["models"].items()}
            return StageDescription(models, fields["pack"])
        if self._descriptions.get(role) != description:
            models_json = {name: model.to_json() for name, model in description.models.items()}
            await write_json(self._store, key, models=models_json, pack=description.pack)
            self._descriptions[role] = description
        return description

    async def follow(self, roles: Iterable[str], interval: float) -> None:
        """Poll the stages every `interval` seconds, forever, so that each is described before it
        is scaled to zero. Ignores failures: they surface when a run is started.
        """
        roles = tuple(roles)
        while True:
            for role in roles:
                with suppress(CaliperError):
                    await self.describe(role)
            await asyncio.sleep(interval)
