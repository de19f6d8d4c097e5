"""Quotas of what teams push: all that is stored for it counts, for the team that pushes."""

from collections.abc import AsyncIterator, Iterable
from dataclasses import replace
from pathlib import Path

import pytest
from tests.fakes.clock import FakeClock
from tests.fakes.stores import MemoryStore
from tests.fakes.teams import dataset, sha256_of

from caliper.adapters.remote.dataset_push import Parts, send_dataset
from caliper.api.evaluate.v1 import evaluate_pb2 as pb
from caliper.core.errors import BackendOverloaded, BackendUnavailable
from caliper.core.owners import Owner, Viewer
from caliper.core.quotas import QuotaTable, TeamLimits
from caliper.local.submission import parcel_at
from caliper.pipeline.store.owners import Ownership
from caliper.pipeline.store.team_quotas import TeamQuotas
from caliper.serving.dataset_uploads import receive_dataset
from caliper.serving.uploads import Uploads

LIMIT = 10_000


class House:
    """A gateway that limits what team red stores."""

    def __init__(self, limit: int = LIMIT) -> None:
        self.store, self.uploads = MemoryStore(), Uploads()
        self.ownership = Ownership(lambda: Viewer(Owner("ana", "red")))
        table = QuotaTable(default=TeamLimits(bytes_stored=limit))
        self.quotas = TeamQuotas(self.store, FakeClock(), self.ownership, lambda: table)

    async def push(self, requests: Iterable[pb.UploadDatasetRequest]) -> pb.UploadDatasetResponse:
        async def stream() -> AsyncIterator[pb.UploadDatasetRequest]:
            for request in requests:
                yield request

        admit = self.quotas.admit_bytes
        return await receive_dataset(self.store, self.uploads, stream(), self.ownership, admit)

    async def used(self) -> int:
        (use,) = await self.quotas.uses()
        return use.used

    def stored(self) -> int:
        """The bytes in the store, without the notes of owners and quotas."""
        return sum(
            len(data)
            for key, data in self.store.objects.items()
            if not key.startswith("teams/") and not key.endswith("owners.json")
        )


def files(data: bytes, names: Iterable[str]) -> list[pb.UploadDatasetRequest]:
    """What pushes files of the same content."""
    known = [pb.DatasetFile(name=name, sha256=sha256_of(data)) for name in names]
    header = pb.DatasetHeader(benchmark="captionqa", files=known, folder=True)
    content = pb.DatasetContent(sha256=sha256_of(data), data=data)
    return [pb.UploadDatasetRequest(header=header), pb.UploadDatasetRequest(content=content)]


async def test_a_content_counts_for_each_file_that_it_is() -> None:
    house, data = House(), bytes(1_000)
    await house.push(files(data, ("a.json", "b.json", "c.json")))
    used = await house.used()
    assert used >= 3_000
    # Once more takes no more room; another dataset does.
    await house.push(files(data, ("a.json", "b.json", "c.json")))
    assert await house.used() == used
    await house.push(files(data, ("d.json",)))
    assert await house.used() >= used + 1_000
    with pytest.raises(BackendOverloaded, match="bytes stored"):
        await house.push(files(data, map("{}.json".format, range(20))))
    assert house.stored() <= LIMIT


async def test_paths_of_media_count() -> None:
    house, medium = House(), b"a"
    few = {f"{'a' * 900}{number}": medium for number in range(2)}
    await house.push(dataset(b"[]", media=few))
    used = await house.used()
    assert used >= 1_800
    await house.push(dataset(b"[]", media=few))
    assert await house.used() == used
    many = {f"{'b' * 900}{number}": medium for number in range(20)}
    with pytest.raises(BackendOverloaded, match="bytes stored"):
        await house.push(dataset(b"[]", media=many))
    assert house.stored() <= LIMIT


async def test_a_refused_content_waits_until_there_is_room() -> None:
    house, data = House(limit=100), bytes(1_000)
    with pytest.raises(BackendOverloaded, match="bytes stored"):
        await house.push(dataset(data))
    assert (house.stored(), house.uploads.usage.total()) == (0, 0)
    asked = await house.push(dataset(data, sent=()))
    assert [each.offset for each in asked.partial] == [1_000]
    rest = pb.DatasetContent(sha256=sha256_of(data), offset=1_000)
    again = [*dataset(data, sent=()), pb.UploadDatasetRequest(content=rest)]
    with pytest.raises(BackendOverloaded, match="this needs 1,000"):
        await house.push(again)
    assert house.stored() == 0


async def test_a_sender_learns_why_it_is_refused(tmp_path: Path) -> None:
    """Whom a call ends while it still sends, learns no more than that it ended."""
    media = {name: tmp_path / name for name in ("a.jpg", "b.jpg")}
    for name, file in media.items():
        file.write_text(name)
    (tmp_path / "questions.json").write_text("[]")
    parcel = parcel_at("captionqa", tmp_path / "questions.json", None)
    missing = [sha256_of(data) for data in (b"a.jpg", b"b.jpg", b"[]")]
    held = [pb.PartialContent(sha256=missing[0], offset=5)]

    async def ask(_: Parts) -> pb.UploadDatasetResponse:
        return pb.UploadDatasetResponse(dataset=parcel.digest, missing=missing, partial=held)

    async def send(parts: Parts) -> pb.UploadDatasetResponse:
        if sum(bool(each.content.sha256) for each in parts()) > 1:
            raise BackendUnavailable("the link broke")
        raise BackendOverloaded("the quota of team red")

    with pytest.raises(BackendOverloaded, match="the quota of team red"):
        await send_dataset(replace(parcel, media=media), "", ask, send, lambda _: None)
