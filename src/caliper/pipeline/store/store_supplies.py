"""Supplies of runs from a store: datasets that were pushed and captions that were uploaded."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from caliper.benchmarks.registry import benchmark
from caliper.core.errors import DataLoss, InvalidInput
from caliper.core.layout import Layout
from caliper.core.question import Failure
from caliper.core.run import BenchmarkSpec, RunSpec
from caliper.pipeline.store.dataset_pushes import may_use
from caliper.pipeline.store.disk_spill import temporary_folder
from caliper.pipeline.store.owners import Ownership, caption_owners
from caliper.pipeline.store.supplies import (
    fetch_dataset,
    has_captions,
    read_supplied,
)
from caliper.ports.storage import Dataset, ObjectStore, Sources

_FOLDER_PREFIX = "caliper-plan-"
_ON_DISK = re.compile(rf"[^\s'\"]*{_FOLDER_PREFIX}[^/]*/")


def without_folder(text: str) -> str:
    """Strip local temporary folders from an error's text, so files appear as the dataset names
    them. Callers should not learn paths of this machine.
    """
    return _ON_DISK.sub("", text)


class StoredSupplies:
    """ports.storage.Supplies over a store. `open_dataset` opens a dataset's file or folder.
    Supplies that the caller may not see by `ownership` do not exist.
    """

    def __init__(
        self,
        store: ObjectStore,
        open_dataset: Callable[[Path], Dataset],
        ownership: Ownership | None = None,
    ) -> None:
        self._store, self._open = store, open_dataset
        self._ownership = ownership or Ownership()

    async def has_dataset(self, digest: str) -> bool:
        return await may_use(self._store, digest, self._ownership)

    async def has_captions(self, digest: str) -> bool:
        # In this order: owners are stored before the captions are there.
        return await has_captions(self._store, digest) and await self._ownership.permits(
            self._store, caption_owners(digest)
        )

    @asynccontextmanager
    async def sources(self, spec: RunSpec) -> AsyncIterator[Mapping[str, Sources]]:
        """Fetch the sources of a run to local disk for the duration of the context.

        Raises what the port raises.
        """
        with temporary_folder(_FOLDER_PREFIX) as folder:
            yield {part.name: await self._fetch(part, folder) for part in spec.benchmarks}

    async def _fetch(self, part: BenchmarkSpec, folder: Path) -> Sources:
        captions = qa_data = None
        lacking: Mapping[str, Failure] = {}
        definition = benchmark(part.name)
        if part.captions is not None:
            captions, lacking = await read_supplied(self._store, part.captions)
        place, qa_place = folder / part.name, folder / f"{part.name}-qa"
        data = await self._dataset(part.data, place, definition.data)
        if part.qa_data is not None and definition.qa_data is not None:
            qa_data = await self._dataset(part.qa_data, qa_place, definition.qa_data)
        size = await asyncio.to_thread(_size, place, qa_place)
        return Sources(data, captions, qa_data, lacking, size)

    async def _dataset(self, name: str, place: Path, layout: Layout) -> Dataset:
        await asyncio.to_thread(place.mkdir)
        dataset = self._open(await fetch_dataset(self._store, name, place))
        try:
            read = await asyncio.to_thread(dataset.digest, layout)
        except InvalidInput:
            # This layout has such a file in a folder only.
            dataset = self._open(place)
            read = await asyncio.to_thread(dataset.digest, layout)
        if read != name:
            raise DataLoss("not the files that were pushed", file=f"datasets/{name}")
        return dataset


def _size(*folders: Path) -> int:
    return sum(file.stat().st_size for folder in folders for file in folder.glob("*"))
