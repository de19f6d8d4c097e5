"""Supplies that were pushed and uploaded to a store."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from caliper.core.run import BenchmarkSpec, RunSpec
from caliper.pipeline.store.supplies import fetch_dataset, has_captions, has_dataset, read_captions
from caliper.ports.storage import Dataset, ObjectStore, Sources

_FOLDER = "caliper-plan-"
_ON_DISK = re.compile(rf"[^\s'\"]*{_FOLDER}[^/]*/")


def without_folder(text: str) -> str:
    """An error's text with files as their dataset calls them. Where they lie on this machine is
    nothing that callers know, or should.
    """
    return _ON_DISK.sub("", text)


class StoredSupplies:
    """ports.storage.Supplies of a store. `open_dataset` reads what lies in a file or folder."""

    def __init__(self, store: ObjectStore, open_dataset: Callable[[Path], Dataset]) -> None:
        self._store, self._open = store, open_dataset

    async def has_dataset(self, digest: str) -> bool:
        """Whether the dataset's manifest is there. Raises StoreUnavailable."""
        return await has_dataset(self._store, digest)

    async def has_captions(self, digest: str) -> bool:
        """Whether captions of that digest were uploaded. Raises StoreUnavailable."""
        return await has_captions(self._store, digest)

    @asynccontextmanager
    async def sources(self, spec: RunSpec) -> AsyncIterator[Mapping[str, Sources]]:
        """The sources of a run, on this machine's disk while the context lasts. Raises as the port
        says.
        """
        with TemporaryDirectory(prefix=_FOLDER) as folder:
            yield {part.name: await self._fetched(part, Path(folder)) for part in spec.benchmarks}

    async def _fetched(self, part: BenchmarkSpec, folder: Path) -> Sources:
        captions = qa_data = None
        if part.captions is not None:
            captions = await read_captions(self._store, part.captions)
        data = await self._dataset(part.data, folder / part.name)
        if part.qa_data is not None:
            qa_data = await self._dataset(part.qa_data, folder / f"{part.name}-qa")
        return Sources(data, captions, qa_data)

    async def _dataset(self, name: str, place: Path) -> Dataset:
        await asyncio.to_thread(place.mkdir)
        return self._open(await fetch_dataset(self._store, name, place))
