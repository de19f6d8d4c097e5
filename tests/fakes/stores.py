import asyncio
import hashlib
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from pathlib import Path

from caliper.adapters.datasets.files import DatasetFiles
from caliper.adapters.keys import check_key, check_prefix, check_size
from caliper.core.errors import StoreFull
from caliper.core.outcome import Verdict
from caliper.pipeline.store.store_supplies import StoredSupplies
from caliper.ports.storage import ObjectStore


class MemoryStore:
    """ports.storage.ObjectStore. `full` makes every write fail, `refused` those to keys with this
    prefix.
    """

    def __init__(self) -> None:
        self.objects: dict[str, bytes] = {}
        self.full = False
        self.refused: str | None = None

    async def put(self, key: str, data: bytes | Path) -> None:
        if self.full or (self.refused and key.startswith(self.refused)):
            raise StoreFull("no space left")
        if isinstance(data, Path):
            data = await asyncio.to_thread(data.read_bytes)
        self.objects[check_key(key)] = data

    async def get(self, key: str, max_bytes: int | None = None) -> bytes | None:
        data = self.objects.get(check_key(key))
        return check_size(key, data, max_bytes)

    async def version(self, key: str) -> str | None:
        data = self.objects.get(check_key(key))
        return None if data is None else hashlib.sha256(data).hexdigest()

    async def replace(self, key: str, data: bytes | Path, version: str | None) -> str | None:
        if isinstance(data, Path):
            data = await asyncio.to_thread(data.read_bytes)
        if await self.version(key) == version:
            await self.put(key, data)
        return await self.version(key) if self.objects.get(key) == data else None

    async def get_file(self, key: str, file: Path) -> bool:
        if key in self.objects:
            await asyncio.to_thread(file.write_bytes, self.objects[key])
        return key in self.objects

    async def get_range(self, key: str, first: int, length: int) -> bytes | None:
        data = self.objects.get(check_key(key))
        return None if data is None else data[first : first + length] or None

    async def size(self, key: str) -> int | None:
        data = self.objects.get(check_key(key))
        return None if data is None else len(data)

    async def delete(self, *keys: str) -> None:
        for key in keys:
            self.objects.pop(check_key(key), None)

    async def list(self, prefix: str) -> AsyncIterator[str]:
        checked = check_prefix(prefix)
        for key in sorted(key for key in self.objects if key.startswith(checked)):
            yield key


class MemoryLog:
    """ports.storage.VerdictLog. A place is an index into `verdicts`."""

    def __init__(self) -> None:
        self.verdicts: list[Verdict] = []

    def append(self, verdicts: Sequence[Verdict]) -> list[int]:
        first = len(self.verdicts)
        self.verdicts.extend(verdicts)
        return list(range(first, len(self.verdicts)))

    def read(self, place: int) -> Verdict:
        return self.verdicts[place]

    async def read_many(self, places: Iterable[int]) -> Mapping[int, Verdict]:
        return {place: self.verdicts[place] for place in places}


def supplies(store: ObjectStore) -> StoredSupplies:
    return StoredSupplies(store, DatasetFiles)
