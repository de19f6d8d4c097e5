"""Uploads that break off inside of a file go on where they broke off."""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.cut_links import cut_link
from tests.fakes.installation import listening
from tests.fakes.stores import MemoryStore
from tests.fakes.teams import sha256_of

from caliper.adapters.remote.channel import Target
from caliper.adapters.remote.dataset_push import Parts, send_dataset
from caliper.adapters.remote.gateway import RemoteGateway
from caliper.api.evaluate.v1 import evaluate_pb2 as pb
from caliper.core.errors import BackendUnavailable, InvalidInput
from caliper.core.keys import files_digest
from caliper.pipeline.store.supplies import Parcel
from caliper.serving.dataset_uploads import receive_dataset
from caliper.serving.partial_contents import MOST_CONTENTS, PartialContent, PartialContents
from caliper.serving.uploads import UploadRoom, Uploads
from caliper.wiring.grounds import memory_ground
from caliper.wiring.service_settings import JudgeSettings, QaReaderSettings
from caliper.wiring.startup import all_services

MIB = 1 << 20
SIZE = 24 * MIB
WHOLE = bytes(range(256)) * 8
SHA256 = sha256_of(WHOLE)


def parcel(folder: Path) -> Parcel:
    """One file of `SIZE` bytes, of which no two parts are the same."""
    file = folder / "questions.json"
    rows = "\n".join(f'{{"id": {number}}}' for number in range(SIZE // 12)).encode()
    file.write_bytes(rows[:SIZE])
    digest = files_digest({file.name: bytes.fromhex(sha256_of(file.read_bytes()))})
    return Parcel("captionqa", digest, (file,), False, {})


async def test_a_link_that_is_cut_is_gone_on_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, sent = MemoryStore(), parcel(tmp_path)
    services = await all_services(memory_ground(store), JudgeSettings(), QaReaderSettings(), None)
    async with (
        listening(services) as address,
        cut_link(address, 12 * MIB, 8 * MIB) as link,
        RemoteGateway(Target(link.address)) as gateway,
    ):
        after(monkeypatch, UploadRoom, "add", link.read.set)
        after(monkeypatch, PartialContents, "keep", link.noticed.set)
        await gateway.push(sent)
    stored = await store.get(f"datasets/{sent.digest}/files/questions.json")
    assert stored == sent.files[0].read_bytes()
    assert len(link.sent) == 3
    # How much of the file was kept of the first two depends on how fast the gateway reads.
    assert link.sent[2] < SIZE


def after(patch: pytest.MonkeyPatch, owner: type, name: str, then: Callable[[], None]) -> None:
    method = getattr(owner, name)

    def followed(*arguments: Any) -> None:
        method(*arguments)
        then()

    patch.setattr(owner, name, followed)


async def test_a_broken_link_may_be_told_to_the_next_call_too(tmp_path: Path) -> None:
    sent = parcel(tmp_path)
    missing = pb.UploadDatasetResponse(
        dataset=sent.digest, missing=[sha256_of(sent.files[0].read_bytes())]
    )
    gone = BackendUnavailable("the link broke")
    answers: list[pb.UploadDatasetResponse | BackendUnavailable] = [missing, gone, gone, missing]
    answers.append(pb.UploadDatasetResponse(dataset=sent.digest))

    async def answer(_: Parts) -> pb.UploadDatasetResponse:
        match answers.pop(0):
            case BackendUnavailable() as error:
                raise error
            case response:
                return response

    await send_dataset(sent, "", answer, answer, lambda _: None)
    assert not answers


def header() -> pb.UploadDatasetRequest:
    file = pb.DatasetFile(name="questions.json", sha256=SHA256)
    return pb.UploadDatasetRequest(header=pb.DatasetHeader(benchmark="captionqa", files=[file]))


def content(data: bytes, offset: int = 0, sha256: str = SHA256) -> pb.UploadDatasetRequest:
    part = pb.DatasetContent(sha256=sha256, data=data, offset=offset)
    return pb.UploadDatasetRequest(content=part)


async def stream(
    *requests: pb.UploadDatasetRequest, cut: bool = False
) -> AsyncIterator[pb.UploadDatasetRequest]:
    for request in requests:
        yield request
    if cut:
        raise ConnectionError


async def cut_off(uploads: Uploads, *requests: pb.UploadDatasetRequest) -> int:
    """The offset to go on from, after a stream that broke off behind these requests."""
    with pytest.raises(ConnectionError):
        await receive_dataset(MemoryStore(), uploads, stream(header(), *requests, cut=True))
    assert uploads.usage.total() == 0
    asked = await receive_dataset(MemoryStore(), uploads, stream(header()))
    assert [*asked.missing] == [SHA256]
    return sum(each.offset for each in asked.partial)


async def test_only_the_right_bytes_go_on(tmp_path: Path) -> None:
    store, uploads = MemoryStore(), Uploads()
    assert await cut_off(uploads, content(WHOLE[:500])) == 500
    with pytest.raises(InvalidInput, match="expected 500") as refused:
        await receive_dataset(store, uploads, stream(header(), content(WHOLE[400:], 400)))
    assert refused.value.field == "content.offset"
    assert await cut_off(uploads, content(WHOLE[500:900], 500)) == 900
    with pytest.raises(InvalidInput, match="expected bytes whose SHA-256"):
        await receive_dataset(store, uploads, stream(header(), content(b"other", 900)))
    assert not store.objects
    # Wrong bytes are not gone on with.
    assert await cut_off(uploads, content(WHOLE[:300])) == 300
    done = await receive_dataset(store, uploads, stream(header(), content(WHOLE[300:], 300)))
    assert not done.missing
    assert await store.get(f"datasets/{done.dataset}/files/questions.json") == WHOLE


async def test_a_link_may_break_while_the_gateway_waits_for_more() -> None:
    uploads, ended = Uploads(), asyncio.Event()

    async def ending() -> AsyncIterator[pb.UploadDatasetRequest]:
        async for each in stream(header(), content(WHOLE[:500])):
            yield each
        # Then gRPC ends the requests before it cancels the call.
        ended.set()

    call = asyncio.ensure_future(receive_dataset(MemoryStore(), uploads, ending()))
    await ended.wait()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert await cut_off(uploads) == 500


async def test_what_broke_off_makes_room() -> None:
    uploads = Uploads(each=2_000, together=2_100)
    assert await cut_off(uploads, content(WHOLE[:1_500])) == 1_500
    other = bytes(1_000)
    file = pb.DatasetFile(name="questions.json", sha256=sha256_of(other))
    begin = pb.DatasetHeader(benchmark="captionqa", files=[file])
    sent = [pb.UploadDatasetRequest(header=begin), content(other, sha256=sha256_of(other))]
    await receive_dataset(MemoryStore(), uploads, stream(*sent))
    assert uploads.partial.size == 0


def test_small_contents_that_broke_off_are_not_kept_without_end(tmp_path: Path) -> None:
    held = PartialContents(MIB)
    for number in range(MOST_CONTENTS + 5):
        file = tmp_path / "content"
        file.write_bytes(b"a")
        held.keep((None, str(number)), PartialContent(file, 1))
    assert held.size == MOST_CONTENTS
    # Those that broke off first made room.
    assert [held.offset((None, str(number))) for number in (0, 4, 5)] == [0, 0, 1]
