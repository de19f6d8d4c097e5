"""What every object store does. A store joins by a subclass with a `store` fixture."""

import asyncio
from pathlib import Path
from typing import ClassVar

import pytest

from caliper.core.errors import InvalidInput
from caliper.ports.storage import DeletableStore, ObjectStore


async def keys(store: ObjectStore, prefix: str) -> list[str]:
    return [key async for key in store.list(prefix)]


class StoreContract:
    kind: ClassVar[type]

    async def test_the_store_is_of_its_kind(self, store: ObjectStore) -> None:
        assert type(store) is self.kind

    async def test_what_was_put_is_got(self, store: ObjectStore) -> None:
        for data in (b"", b"bytes \x00\xff", b"x" * 3_000_000):
            await store.put("jobs/ab/abcdef", data)
            assert await store.get("jobs/ab/abcdef") == data

    async def test_files_go_in_and_out(self, store: ObjectStore, tmp_path: Path) -> None:
        source, target = tmp_path / "source", tmp_path / "target"
        for data in (b"", b"bytes", b"x" * 12_000_000):
            source.write_bytes(data)
            await store.put("report/verdicts", source)
            assert await store.get("report/verdicts") == data
            assert await store.get_file("report/verdicts", target)
            assert target.read_bytes() == data

    async def test_a_file_is_not_made_of_nothing(self, store: ObjectStore, tmp_path: Path) -> None:
        await store.put("report/a", b"1")
        for key in ("report/b", "report", "report/a/deeper"):
            assert not await store.get_file(key, tmp_path / "target")
        assert not (tmp_path / "target").exists()

    async def test_a_key_that_was_never_put_holds_nothing(self, store: ObjectStore) -> None:
        await store.put("jobs/ab/abcdef", b"1")
        assert await store.get("jobs/ab/other") is None
        assert await store.get("jobs/ab") is None
        assert await store.get("jobs/ab/abcdef/deeper") is None

    async def test_no_more_is_got_than_is_wanted(self, store: ObjectStore) -> None:
        data = b"x" * 1000
        await store.put("media/a", data)
        assert await store.get("media/a", 1000) == data
        assert await store.get("media/b", 1000) is None
        assert await store.get("media", 1000) is None
        for most in (0, 999):
            with pytest.raises(InvalidInput, match=f"media/a: larger than {most} bytes"):
                await store.get("media/a", most)
        await store.put("media/empty", b"")
        assert await store.get("media/empty", 0) == b""
        with pytest.raises(InvalidInput, match="not a key"):
            await store.get("../a", 1)

    async def test_writing_a_key_again_replaces_it(self, store: ObjectStore) -> None:
        await store.put("plan/0", b"a longer first version")
        await store.put("plan/0", b"second")
        assert await store.get("plan/0") == b"second"
        assert await keys(store, "plan/") == ["plan/0"]

    async def test_keys_are_listed_in_order_whatever_the_order_of_writing(
        self, store: ObjectStore
    ) -> None:
        written = ["runs/b/1", "runs/a/2", "runs/a.b/1", "runs/a/10", "runs/a-b", "run/a", "z"]
        for key in written:
            await store.put(key, key.encode())
        assert await keys(store, "") == sorted(written)
        assert await keys(store, "runs/") == [
            "runs/a-b", "runs/a.b/1", "runs/a/10", "runs/a/2", "runs/b/1"
        ]  # fmt: skip
        assert await keys(store, "runs/a/") == ["runs/a/10", "runs/a/2"]

    async def test_a_prefix_need_not_end_at_a_slash(self, store: ObjectStore) -> None:
        for key in ("jobs/ab1", "jobs/ab/2", "jobs/ac"):
            await store.put(key, b"")
        assert await keys(store, "jobs/ab") == ["jobs/ab/2", "jobs/ab1"]

    async def test_nothing_is_listed_where_nothing_is(self, store: ObjectStore) -> None:
        assert await keys(store, "") == []
        assert await keys(store, "no/such/") == []

    async def test_many_writers_of_one_key_leave_one_whole_object(self, store: ObjectStore) -> None:
        versions = [bytes([number]) * 100_000 for number in range(8)]
        await asyncio.gather(*(store.put("jobs/one", data) for data in versions))
        assert await store.get("jobs/one") in versions
        assert await keys(store, "") == ["jobs/one"]

    async def test_a_key_is_created_once(self, store: ObjectStore, tmp_path: Path) -> None:
        assert await store.version("verdicts/0") is None
        created = await store.replace("verdicts/0", b"first", None)
        assert created is not None
        assert await store.version("verdicts/0") == created
        assert await store.replace("verdicts/0", b"second", None) is None
        assert await store.get("verdicts/0") == b"first"
        # The answer was lost, and the call is repeated.
        assert await store.replace("verdicts/0", b"first", None) == created
        file = tmp_path / "file"
        file.write_bytes(b"of a file")
        assert await store.replace("verdicts/1", file, None) is not None
        assert await store.replace("verdicts/0", file, None) is None
        assert await store.get("verdicts/1") == b"of a file"
        assert await keys(store, "verdicts") == ["verdicts/0", "verdicts/1"]

    async def test_only_the_expected_version_is_replaced(self, store: ObjectStore) -> None:
        await store.put("end", b"first")
        first = await store.version("end")
        second = await store.replace("end", b"second", first)
        assert second not in (None, first)
        assert await store.replace("end", b"third", first) is None
        assert await store.get("end") == b"second"
        assert await store.replace("end", b"third", second) is not None
        assert await store.get("end") == b"third"
        assert await store.replace("nothing", b"1", first) is None
        assert await store.get("nothing") is None

    @pytest.mark.parametrize("exists", [False, True])
    async def test_of_many_at_once_one_replaces(self, store: ObjectStore, exists: bool) -> None:
        if exists:
            await store.put("lease", b"old")
        version = await store.version("lease")
        versions = [b"%d" % number for number in range(8)]
        replaced = await asyncio.gather(
            *(store.replace("lease", data, version) for data in versions)
        )
        (winner,) = [data for data, found in zip(versions, replaced, strict=True) if found]
        assert await store.get("lease") == winner

    @pytest.mark.parametrize(
        "key",
        ["", "/", "/etc/x", "a//b", "a/", "../x", "a/../b", ".", "a/./b", ".hidden", "a b", "ä",
         "a\\b", "a\0b", "a\n", "C:/x", "x" * 1025],
    )  # fmt: skip
    async def test_what_is_no_key_is_refused(self, store: ObjectStore, key: str) -> None:
        with pytest.raises(InvalidInput):
            await store.put(key, b"")
        with pytest.raises(InvalidInput):
            await store.get(key)
        with pytest.raises(InvalidInput):
            await store.replace(key, b"", None)
        assert await keys(store, "") == []


class DeletableStoreContract(StoreContract):
    async def test_deleted_objects_are_gone(self, store: DeletableStore) -> None:
        for key in ("jobs/ab/1", "jobs/ab/2", "jobs/b"):
            await store.put(key, b"123")
        assert await store.size("jobs/ab/1") == 3
        for _ in range(2):
            await store.delete("jobs/ab/1")
        await store.delete("jobs/b/deeper")
        await store.delete("jobs/ab")
        assert await store.get("jobs/ab/1") is None
        assert await store.size("jobs/ab/1") is None
        assert await store.size("jobs/ab") is None
        assert await store.version("jobs/ab/1") is None
        assert await keys(store, "") == ["jobs/ab/2", "jobs/b"]
        await store.delete("jobs/ab/2")
        await store.put("jobs/ab", b"now a file")
        assert await store.get("jobs/ab") == b"now a file"
        with pytest.raises(InvalidInput):
            await store.delete("../a")

    async def test_parts_are_got(self, store: DeletableStore) -> None:
        await store.put("packs/a", b"0123456789")
        parts = [(0, 4), (3, 4), (8, 100), (10, 1), (50, 1)]
        found = [await store.get_range("packs/a", *part) for part in parts]
        assert found == [b"0123", b"3456", b"89", None, None]
        assert await store.get_range("packs/b", 0, 1) is None

    async def test_many_are_deleted_at_once(self, store: DeletableStore) -> None:
        names = [f"jobs/{number % 7}/{number}" for number in range(30)]
        await asyncio.gather(*(store.put(name, b"1") for name in names))
        await store.delete()
        await store.delete(*names[1:], "jobs/none")
        assert await keys(store, "") == names[:1]

    async def test_replies_are_written_and_deleted_under_one_key(
        self, store: DeletableStore
    ) -> None:
        name = f"jobs/ab/{'ab' * 32}.json"
        for data in (b"first", b"longer"):
            await store.put(name, data)
            assert await store.get(name) == data
        assert await store.size(name)
        await store.delete(name)
        assert await store.get(name) is None
        assert await store.size(name) is None
