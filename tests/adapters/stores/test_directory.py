"""What only a store on a disk can show."""

import asyncio
import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from caliper.adapters.files import store_error
from caliper.adapters.stores.directory import DirectoryStore
from caliper.core.errors import StoreFull, StoreUnavailable

LIMITED = """
import asyncio, resource, signal, sys
from pathlib import Path
from caliper.adapters.stores.directory import DirectoryStore
from caliper.core.errors import StoreFull

async def main(root):
    store = DirectoryStore(root)
    await store.put("jobs/one", b"first")
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
    try:
        await store.put("jobs/one", b"x" * 5000)
    except StoreFull as error:
        print("full:", error)

asyncio.run(main(Path(sys.argv[1])))
"""


def files(root: Path) -> list[str]:
    return sorted(path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file())


def test_a_write_that_runs_out_of_room_leaves_the_old_object_and_nothing_else(
    tmp_path: Path,
) -> None:
    command = [sys.executable, "-c", LIMITED, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout.startswith("full:"), done.stderr
    assert files(tmp_path) == ["jobs/one"]
    assert (tmp_path / "jobs" / "one").read_bytes() == b"first"


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (errno.ENOSPC, StoreFull),
        (errno.EDQUOT, StoreFull),
        (errno.EFBIG, StoreFull),
        (errno.EACCES, StoreUnavailable),
        (errno.EROFS, StoreUnavailable),
        (errno.EIO, StoreUnavailable),
    ],
)
def test_what_the_disk_says_is_told_apart(number: int, expected: type[Exception]) -> None:
    error = store_error(Path("jobs/one"), OSError(number, os.strerror(number)))
    assert type(error) is expected
    assert "jobs/one" in str(error)


async def test_a_root_that_is_a_file_is_unavailable_for_writing(tmp_path: Path) -> None:
    root = tmp_path / "store"
    root.write_text("a file")
    with pytest.raises(StoreUnavailable):
        await DirectoryStore(root).put("jobs/one", b"1")


async def test_a_loop_of_links_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    store = DirectoryStore(tmp_path / "loop")
    with pytest.raises(StoreUnavailable):
        await store.put("jobs/one", b"1")
    with pytest.raises(StoreUnavailable):
        await store.get("jobs/one")
    with pytest.raises(StoreUnavailable):
        [key async for key in store.list("")]


async def test_what_a_killed_writer_left_behind_is_no_object(tmp_path: Path) -> None:
    store = DirectoryStore(tmp_path)
    await store.put("jobs/one", b"1")
    (tmp_path / "jobs" / ".0f3a").write_bytes(b"half")
    assert [key async for key in store.list("")] == ["jobs/one"]


async def test_a_call_that_was_given_up_harms_no_other(tmp_path: Path) -> None:
    store = DirectoryStore(tmp_path, synced=False)
    calls = [asyncio.create_task(store.put(f"some/{name}", b"it")) for name in range(100)]
    await asyncio.sleep(0)
    for call in calls[::2]:
        call.cancel()
    await asyncio.wait(calls)
    assert [call.cancelled() for call in calls] == [True, False] * 50
    assert [await store.get(f"some/{name}") for name in range(1, 100, 2)] == [b"it"] * 50


@pytest.mark.parametrize("synced", [True, False])
async def test_many_calls_at_once_all_end(tmp_path: Path, *, synced: bool) -> None:
    store = DirectoryStore(tmp_path, synced=synced)
    keys = [f"jobs/{number}" for number in range(200)]
    await asyncio.gather(*(store.put(key, key.encode()) for key in keys))
    assert await asyncio.gather(*map(store.get, keys)) == [key.encode() for key in keys]


@pytest.mark.parametrize("synced", [True, False])
def test_what_a_loop_left_behind_holds_up_no_later_one(tmp_path: Path, *, synced: bool) -> None:
    store = DirectoryStore(tmp_path, synced=synced)

    async def leave() -> None:
        tasks = [asyncio.create_task(store.put(f"jobs/{number}", b"")) for number in range(40)]
        await asyncio.sleep(0)
        for task in tasks:
            task.cancel()

    async def use() -> bytes | None:
        await store.put("jobs/last", b"data")
        return await store.get("jobs/last")

    for _ in range(3):
        asyncio.run(leave())
    assert asyncio.run(use()) == b"data"
