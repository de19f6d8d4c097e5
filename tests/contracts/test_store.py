"""Every object store keeps the contract of `store_contract`."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.contracts.store_contract import DeletableStoreContract, StoreContract
from tests.fakes import runs
from tests.fakes.clock import FakeClock
from tests.fakes.counting_store import CountingStore
from tests.fakes.stores import MemoryStore
from tests.servers.access import new_bucket, versity_access

from caliper.adapters.stores.directory import DirectoryStore
from caliper.adapters.stores.minio import MinioStore
from caliper.adapters.stores.run_store import RunStore
from caliper.pipeline.aggregation.lease import Lease, LeasedStore
from caliper.pipeline.comparing.worker_loop import RelayedStore
from caliper.pipeline.store.authentic_store import AuthenticStore
from caliper.pipeline.store.caption_overlay import CaptionOverlay
from caliper.pipeline.store.pack_store import PackStore
from caliper.pipeline.store.store_view import KeyPrefix
from caliper.pipeline.store.write_back import WriteBackBuffer
from caliper.ports.storage import DeletableStore, ObjectStore
from caliper.ports.telemetry import SILENT


class TestMemoryStore(DeletableStoreContract):
    kind = MemoryStore

    @pytest.fixture
    def store(self) -> DeletableStore:
        return MemoryStore()


class TestPackedStore(DeletableStoreContract):
    kind = PackStore

    @pytest.fixture
    def store(self) -> DeletableStore:
        return PackStore(MemoryStore(), FakeClock())


class TestDirectoryStore(DeletableStoreContract):
    kind = DirectoryStore

    @pytest.fixture
    def store(self, tmp_path: Path) -> DeletableStore:
        return DirectoryStore(tmp_path / "not" / "yet" / "there")


class TestMinioStore(DeletableStoreContract):
    kind = MinioStore

    @pytest.fixture
    async def store(self, minio: str) -> AsyncIterator[DeletableStore]:
        async with new_bucket(minio) as store:
            yield store


class TestMinioStoreOfVersity(TestMinioStore):
    @pytest.fixture(params=["path", "host"])
    async def store(
        self, request: pytest.FixtureRequest, versity: str
    ) -> AsyncIterator[DeletableStore]:
        async with new_bucket(versity_access(versity, request.param)) as store:
            yield store


class TestNarrowedStore(StoreContract):
    kind = KeyPrefix

    @pytest.fixture
    def store(self, tmp_path: Path) -> ObjectStore:
        return KeyPrefix(DirectoryStore(tmp_path), "runs/abc")


class TestCaptionOverlay(StoreContract):
    kind = CaptionOverlay

    @pytest.fixture
    def store(self) -> ObjectStore:
        return CaptionOverlay(MemoryStore(), MemoryStore())


class TestRunStore(StoreContract):
    kind = RunStore

    @pytest.fixture
    def store(self, tmp_path: Path) -> ObjectStore:
        return RunStore(tmp_path / "run", runs.spec(), DirectoryStore(tmp_path / "store"))


class TestRelayedStore(StoreContract):
    kind = RelayedStore

    @pytest.fixture
    async def store(self, tmp_path: Path) -> ObjectStore:
        return RelayedStore(DirectoryStore(tmp_path))


class TestLeasedStore(StoreContract):
    kind = LeasedStore

    @pytest.fixture
    async def store(self) -> ObjectStore:
        lease = Lease(MemoryStore(), FakeClock(), "lease.json")
        await lease.acquire()
        return LeasedStore(MemoryStore(), lease)


class TestCountingStore(DeletableStoreContract):
    kind = CountingStore

    @pytest.fixture
    def store(self) -> DeletableStore:
        return CountingStore(MemoryStore())


SEGMENTS = st.from_regex(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,8}", fullmatch=True)
OBJECTS = st.dictionaries(
    st.lists(SEGMENTS, min_size=1, max_size=3).map(lambda parts: "k/" + "/".join(parts) + "/o."),
    st.binary(max_size=50),
    max_size=6,
)


@given(objects=OBJECTS)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_a_directory_holds_what_was_put(
    tmp_path_factory: pytest.TempPathFactory, objects: dict[str, bytes]
) -> None:
    store = DirectoryStore(tmp_path_factory.mktemp("store"))

    async def walk() -> dict[str, bytes | None]:
        for key, data in objects.items():
            await store.put(key, data)
        return {key: await store.get(key) async for key in store.list("k/")}

    found = asyncio.run(walk())
    assert found == objects
    assert list(found) == sorted(objects)


class TestSignedObjects(StoreContract):
    kind = AuthenticStore

    @pytest.fixture
    def store(self) -> ObjectStore:
        return AuthenticStore(MemoryStore(), [b"key"], SILENT, str)


class TestUnwrittenStore(StoreContract):
    kind = WriteBackBuffer

    @pytest.fixture
    def store(self, tmp_path: Path) -> ObjectStore:
        return WriteBackBuffer(DirectoryStore(tmp_path))
