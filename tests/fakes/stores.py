import asyncio
import hashlib
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from caliper.adapters.datasets.files import DatasetFiles
from caliper.adapters.keys import check_key, check_prefix, check_size
from caliper.core.errors import StoreFull, StoreUnavailable
from caliper.core.outcome import Verdict
from caliper.pipeline.store.owners import Ownership
from caliper.pipeline.store.store_supplies import StoredSupplies
from caliper.ports.storage import ObjectStore


class MemoryStore:
    """ports.storage.ObjectStore, of the same objects as `shared`. `full` makes every write fail,
    `refused` those to keys with this prefix, `away` calls with keys that its part is in. `calls`
    are the calls so far; each waits for `before`, and once it took effect for `after`.
    """

    def __init__(self, shared: "MemoryStore | None" = None) -> None:
        self.objects: dict[str, bytes] = {} if shared is None else shared.objects
        self.full = False
        self.refused: str | None = None
        self.away: Mapping[str, str] = {}
        self.calls: list[tuple[str, str]] = []

    @property
    def read(self) -> list[str]:
        """Keys of objects that were read as a whole."""
        return [key for call, key in self.calls if call in ("get", "get_file")]

    def count(self, call: str) -> int:
        return sum(name == call for name, _ in self.calls)

    async def before(self, call: str, key: str) -> None:
        pass

    async def after(self, call: str, key: str) -> None:
        pass

    @asynccontextmanager
    async def _call(self, call: str, key: str) -> AsyncIterator[None]:
        self.calls.append((call, key))
        if call in self.away and self.away[call] in key:
            raise StoreUnavailable("away")
        await self.before(call, key)
        yield
        await self.after(call, key)

    async def put(self, key: str, data: bytes | Path) -> None:
        async with self._call("put", key):
            await self._write(key, data)

    async def get(self, key: str, max_bytes: int | None = None) -> bytes | None:
        async with self._call("get", key):
            return check_size(key, self.objects.get(check_key(key)), max_bytes)

    async def version(self, key: str) -> str | None:
        async with self._call("version", key):
            return self._version(key)

    async def replace(self, key: str, data: bytes | Path, version: str | None) -> str | None:
        async with self._call("replace", key):
            if isinstance(data, Path):
                data = await asyncio.to_thread(data.read_bytes)
            if self._version(key) == version:
                await self._write(key, data)
        return self._version(key) if self.objects.get(key) == data else None

    async def get_file(self, key: str, file: Path) -> bool:
        async with self._call("get_file", key):
            if key in self.objects:
                await asyncio.to_thread(file.write_bytes, self.objects[key])
            return key in self.objects

    async def get_range(self, key: str, first: int, length: int) -> bytes | None:
        async with self._call("get_range", key):
            data = self.objects.get(check_key(key))
            return None if data is None else data[first : first + length] or None

    async def size(self, key: str) -> int | None:
        async with self._call("size", key):
            data = self.objects.get(check_key(key))
            return None if data is None else len(data)

    async def delete(self, *keys: str) -> None:
        for key in keys:
            async with self._call("delete", key):
                self.objects.pop(check_key(key), None)

    async def list(self, prefix: str) -> AsyncIterator[str]:
        async with self._call("list", prefix):
            checked = check_prefix(prefix)
            found = sorted(key for key in self.objects if key.startswith(checked))
        for key in found:
            yield key

    def _version(self, key: str) -> str | None:
        data = self.objects.get(check_key(key))
        return None if data is None else hashlib.sha256(data).hexdigest()

    async def _write(self, key: str, data: bytes | Path) -> None:
        if self.full or (self.refused and key.startswith(self.refused)):
            raise StoreFull("no space left")
        if isinstance(data, Path):
            data = await asyncio.to_thread(data.read_bytes)
        self.objects[check_key(key)] = data


class Gate:
    """A hook of a MemoryStore that holds up a call whose key has a part, until it is open. With
    `first`, only the first of them.
    """

    def __init__(self, call: str, part: str = "", *, first: bool = False) -> None:
        self._call, self._part, self._first = call, part, first
        self.reached, self.opened = asyncio.Event(), asyncio.Event()

    async def __call__(self, call: str, key: str) -> None:
        passes = self._first and self.reached.is_set()
        if call == self._call and self._part in key and not passes:
            self.reached.set()
            await self.opened.wait()


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


def supplies(store: ObjectStore, ownership: Ownership | None = None) -> StoredSupplies:
    return StoredSupplies(store, DatasetFiles, ownership)
