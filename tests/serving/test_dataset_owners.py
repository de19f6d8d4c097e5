"""Datasets belong to the teams that pushed them, by digest too, and so do the media they have."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import grpc
import pytest
from tests.fakes.clock import FakeClock
from tests.fakes.datasets import push_dataset
from tests.fakes.loopback_server import bearer, failure, stub_of
from tests.fakes.sources import EXAMPLES
from tests.fakes.stores import MemoryStore
from tests.fakes.teams import CALLERS, dataset, gateway, push, sha256_of, started

from caliper.adapters.wire.specs import decode_spec
from caliper.api.evaluate.v1 import evaluate_pb2 as pb
from caliper.core.owners import Sharing
from caliper.core.run import BenchmarkSpec
from caliper.local.submission import parcel_at
from caliper.pipeline.store.media_index import MediaIndex

ROWS = (EXAMPLES / "captionqa" / "questions.json").read_bytes()
DIGEST = parcel_at("captionqa", EXAMPLES / "captionqa/questions.json", None).digest
NOBODYS = "e" * 64
OWNERS = {
    Sharing.PRIVATE: {"ana", "root"},
    Sharing.TEAM: {"ana", "ben", "root"},
    Sharing.ALL: {*CALLERS},
}
"""Who may evaluate on what ana pushed."""


async def run_on(channel: grpc.aio.Channel, caller: str, data: str = DIGEST) -> Any:
    """The spec of the benchmark of a run on a dataset, or why there is none."""
    stub, header = stub_of("EvaluateService", channel), pb.UploadHeader(benchmark="captionqa")
    caption = pb.UploadedCaption(sample="nat_000", text=f"A dog that {caller} saw.")
    sent = [pb.UploadCaptionsRequest(header=header), pb.UploadCaptionsRequest(caption=caption)]
    captions = (await stub.UploadCaptions(iter(sent), metadata=bearer(caller))).captions
    part = pb.BenchmarkRequest(name="captionqa", data=data, captions=captions)
    request = pb.StartEvaluationRequest(name=caller, benchmarks=[part])
    found = await started(channel, caller, request)
    return found if isinstance(found, str) else decode_spec(found.spec).benchmarks[0]


async def media_of(store: MemoryStore, part: BenchmarkSpec, *paths: str) -> list[str | None]:
    index = MediaIndex(store, FakeClock())
    return [await index.key(part.data, path, part.media) for path in paths]


@pytest.mark.parametrize("sharing", Sharing)
async def test_a_digest_is_of_those_that_pushed_it(tmp_path: Path, sharing: Sharing) -> None:
    async with gateway(MemoryStore(), tmp_path, sharing) as channel:
        missing = dataset(ROWS, sent=())
        absent = {name: await run_on(channel, name, NOBODYS) for name in CALLERS}
        before = {name: await push(channel, name, missing) for name in CALLERS}
        assert [*before["cleo"].missing] == [sha256_of(ROWS)]
        await push(channel, "ana", dataset(ROWS))
        for caller in CALLERS:
            found = await run_on(channel, caller)
            if caller in OWNERS[sharing]:
                assert isinstance(found, BenchmarkSpec), (caller, found)
            else:
                assert found == absent[caller], caller
                # To name its files is no proof of having them.
                assert await push(channel, caller, missing) == before[caller]
                assert await run_on(channel, caller) == absent[caller]
        await push(channel, "cleo", dataset(ROWS))
        assert isinstance(await run_on(channel, "cleo"), BenchmarkSpec)


async def test_what_was_pushed_without_tokens_is_everybodys(tmp_path: Path) -> None:
    store, source = MemoryStore(), EXAMPLES / "captionqa/questions.json"
    parcel = parcel_at("captionqa", source, EXAMPLES / "media")
    await push_dataset(store, parcel)
    path = next(iter(parcel.media))
    async with gateway(store, tmp_path, Sharing.TEAM) as channel:
        part = await run_on(channel, "cleo")
        (key,) = await media_of(store, part, path)
        assert key == f"media/{sha256_of(parcel.media[path].read_bytes())}"
        assert not part.media
        known = {path: parcel.media[path].read_bytes()}
        assert not (await push(channel, "cleo", dataset(ROWS, media=known, sent=()))).missing
        assert isinstance(await run_on(channel, "dora"), BenchmarkSpec)


@pytest.mark.parametrize("sharing", Sharing)
async def test_wrong_media_that_came_first_change_nothing(tmp_path: Path, sharing: Sharing) -> None:
    store, right, wrong = MemoryStore(), {"a.jpg": b"right"}, {"a.jpg": b"wrong", "b.jpg": b"more"}
    async with gateway(store, tmp_path, sharing) as channel:
        await push(channel, "cleo", dataset(ROWS, folder=True, media=wrong))
        response = await push(channel, "ana", dataset(ROWS, media=right))
        assert not response.missing
        for caller, media in (("ana", right), ("cleo", wrong)):
            part = await run_on(channel, caller)
            assert await media_of(store, part, "a.jpg", "b.jpg") == keys(media)


def keys(media: Mapping[str, bytes]) -> list[str | None]:
    return [
        f"media/{sha256_of(media[path])}" if path in media else None for path in ("a.jpg", "b.jpg")
    ]


async def test_a_run_keeps_the_media_that_it_began_with(tmp_path: Path) -> None:
    store = MemoryStore()
    async with gateway(store, tmp_path, Sharing.TEAM) as channel:
        await push(channel, "ana", dataset(ROWS, media={"a.jpg": b"a"}))
        first = await run_on(channel, "ana")
        await push(channel, "ana", dataset(ROWS, media={"b.jpg": b"b"}))
        second = await run_on(channel, "ana")
        # A teammate that pushed none has those of the first owner.
        assert (await run_on(channel, "ben")).media == second.media
    assert await media_of(store, first, "a.jpg", "b.jpg") == keys({"a.jpg": b"a"})
    assert await media_of(store, second, "a.jpg", "b.jpg") == keys({"a.jpg": b"a", "b.jpg": b"b"})


async def test_a_medium_is_of_those_that_sent_it(tmp_path: Path) -> None:
    store, media = MemoryStore(), {"a.jpg": b"secret"}
    other = ROWS + b"\n"
    async with gateway(store, tmp_path, Sharing.TEAM) as channel:
        await push(channel, "ana", dataset(ROWS, media=media))
        asked = dataset(other, media=media, sent=[other])
        assert [*(await push(channel, "cleo", asked)).missing] == [sha256_of(b"secret")]
        # Her team's other datasets need no second copy.
        assert not (await push(channel, "ben", asked)).missing


async def test_a_dataset_is_proven_in_parts(tmp_path: Path) -> None:
    """Large ones take several calls, and each has to have sent some of it."""
    async with gateway(MemoryStore(), tmp_path, Sharing.TEAM) as channel:
        names, contents = ("natural.json", "document.json"), (ROWS, ROWS + b"\n")
        files = [
            pb.DatasetFile(name=name, sha256=sha256_of(data))
            for name, data in zip(names, contents, strict=True)
        ]
        header = pb.DatasetHeader(benchmark="captionqa", files=files, folder=True)
        for caller in ("ana", "cleo"):
            lacking = []
            for data in contents:
                content = pb.DatasetContent(sha256=sha256_of(data), data=data)
                parts = [
                    pb.UploadDatasetRequest(header=header),
                    pb.UploadDatasetRequest(content=content),
                ]
                lacking.append([*(await push(channel, caller, parts)).missing])
            assert lacking == [[sha256_of(contents[1])], []]


async def test_one_does_not_change_its_own_media(tmp_path: Path) -> None:
    async with gateway(MemoryStore(), tmp_path, Sharing.TEAM) as channel:
        await push(channel, "ana", dataset(ROWS, media={"a.jpg": b"a"}))
        upload = stub_of("EvaluateService", channel).UploadDataset
        again = dataset(ROWS, media={"a.jpg": b"b"})
        refused = await failure(upload(iter(again), metadata=bearer("ana")))
        assert refused.code() is grpc.StatusCode.ALREADY_EXISTS
