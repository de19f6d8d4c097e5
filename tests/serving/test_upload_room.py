"""The room that uploads have on disk, which they share and give back."""

import asyncio
import tempfile
import threading
from collections.abc import AsyncIterator, Iterable
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.stores import MemoryStore
from tests.fakes.teams import dataset

from caliper.api.evaluate.v1 import evaluate_pb2 as pb
from caliper.core.errors import BackendOverloaded, InvalidInput
from caliper.serving.calls import begin
from caliper.serving.dataset_uploads import receive_dataset
from caliper.serving.tokens import Caller, Role
from caliper.serving.uploads import Uploads

QUESTIONS = b'[{"id": "nat_000"}]'


async def parts(
    requests: Iterable[pb.UploadDatasetRequest],
) -> AsyncIterator[pb.UploadDatasetRequest]:
    for request in requests:
        yield request


def files_in(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


async def test_a_push_that_ends_while_it_writes_leaves_nothing(
    store: MemoryStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    loop, writing, ended = asyncio.get_running_loop(), asyncio.Event(), threading.Event()
    opened, freed = Path.open, list[bool]()

    def slow(self: Path, *arguments: Any, **more: Any) -> Any:
        if self.name == "content":
            loop.call_soon_threadsafe(writing.set)
            freed.append(ended.wait(60))
        return opened(self, *arguments, **more)

    monkeypatch.setattr(Path, "open", slow)
    uploads = Uploads()
    pushing = receive_dataset(store, uploads, parts(dataset(QUESTIONS)))
    push = asyncio.create_task(pushing)
    begun = asyncio.create_task(writing.wait())
    await asyncio.wait([begun, push], return_when=asyncio.FIRST_COMPLETED)
    push.cancel()
    loop.call_later(0.01, ended.set)
    with pytest.raises(asyncio.CancelledError):
        await push
    # A disk that is slow blocks nobody else.
    assert freed == [True]
    assert (uploads.usage.total(), store.objects) == (0, {})
    # What came may be gone on with.
    assert uploads.partial.size == len(QUESTIONS)
    uploads.partial.shrink(0)
    assert files_in(tmp_path) == []


async def test_uploads_share_the_disk(store: MemoryStore) -> None:
    pictures = [b"%d" % number * 6 for number in range(3)]
    small = dataset(b"[]", media={f"{each!r}": each for each in pictures}, sent=pictures)
    # One at a time is on disk.
    await receive_dataset(store, Uploads(each=6, together=6), parts(small))
    with pytest.raises(InvalidInput, match="more than 5 bytes"):
        await receive_dataset(store, uploads := Uploads(each=5), parts(small))
    assert uploads.usage.total() == 0
    with pytest.raises(BackendOverloaded):
        await receive_dataset(store, Uploads(each=6, together=5), parts(small))


async def test_a_team_leaves_room_to_others() -> None:
    uploads = Uploads(each=6, together=6, of_team=4)

    async def taken(team: str, *lengths: int) -> None:
        begin(None, Caller(team, Role.EVALUATE, team))
        with uploads.room() as room:
            for length in lengths:
                room.add(length, "content.data")
            if team == "red":
                with pytest.raises(BackendOverloaded):
                    await asyncio.create_task(taken("red", 1))
                await asyncio.create_task(taken("blue", 2))

    await asyncio.create_task(taken("red", 2, 2))
    assert uploads.usage.total() == 0
