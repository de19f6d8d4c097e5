"""A part of a store is a store."""

from pathlib import Path

import pytest
from tests.contracts.test_store import StoreContract

from caliper.adapters.stores.directory import DirectoryStore
from caliper.pipeline.narrowed import Narrowed
from caliper.ports.storage import ObjectStore


class TestNarrowedStore(StoreContract):
    @pytest.fixture
    def store(self, tmp_path: Path) -> ObjectStore:
        return Narrowed(DirectoryStore(tmp_path), "runs/abc")


async def test_it_lies_below_its_prefix(tmp_path: Path) -> None:
    whole = DirectoryStore(tmp_path)
    await Narrowed(whole, "runs/a").put("plan/0", b"1")
    await whole.put("runs/ab/plan/0", b"2")
    assert await whole.get("runs/a/plan/0") == b"1"
    assert [key async for key in Narrowed(whole, "runs/a").list("")] == ["plan/0"]
