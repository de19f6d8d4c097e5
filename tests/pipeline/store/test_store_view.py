"""Where the part of a store lies; that it is a store is the stores' contract."""

from pathlib import Path

from caliper.adapters.stores.directory import DirectoryStore
from caliper.pipeline.store.store_view import KeyPrefix


async def test_it_lies_below_its_prefix(tmp_path: Path) -> None:
    whole = DirectoryStore(tmp_path)
    await KeyPrefix(whole, "runs/a").put("plan/0", b"1")
    await whole.put("runs/ab/plan/0", b"2")
    assert await whole.get("runs/a/plan/0") == b"1"
    assert [key async for key in KeyPrefix(whole, "runs/a").list("")] == ["plan/0"]
