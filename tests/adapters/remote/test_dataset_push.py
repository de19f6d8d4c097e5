"""What a client sends of a dataset, and in which order."""

from pathlib import Path

import pytest
from tests.fakes.installation import listening
from tests.fakes.stores import MemoryStore
from tests.fakes.teams import sha256_of

from caliper.adapters.remote.channel import Target
from caliper.adapters.remote.dataset_push import Parts, send_dataset
from caliper.adapters.remote.gateway import RemoteGateway
from caliper.api.evaluate.v1 import evaluate_pb2 as pb
from caliper.core.errors import InvalidInput
from caliper.core.keys import files_digest
from caliper.pipeline.store.supplies import Parcel
from caliper.wiring.grounds import memory_ground
from caliper.wiring.service_settings import JudgeSettings, QaReaderSettings
from caliper.wiring.startup import all_services


@pytest.fixture
def parcel(tmp_path: Path) -> Parcel:
    """A file and eight media."""
    file = tmp_path / "questions.json"
    file.write_bytes(b"[1]")
    media = {f"{number}.png": tmp_path / f"{number}.png" for number in range(8)}
    for path, place in media.items():
        place.write_bytes(path.encode())
    digest = files_digest({file.name: bytes.fromhex(sha256_of(b"[1]"))})
    return Parcel("captionqa", digest, (file,), False, media)


async def test_files_follow_the_media_that_they_need(parcel: Parcel) -> None:
    digests = [sha256_of(each.read_bytes()) for each in (*parcel.media.values(), *parcel.files)]
    sent: list[str] = []

    async def ask(_: Parts) -> pb.UploadDatasetResponse:
        return pb.UploadDatasetResponse(dataset=parcel.digest, missing=digests)

    async def send(parts: Parts) -> pb.UploadDatasetResponse:
        sent.extend(part.content.sha256 for part in parts() if part.HasField("content"))
        return pb.UploadDatasetResponse(dataset=parcel.digest)

    await send_dataset(parcel, "", ask, send, lambda _: None)
    # A push that breaks off must not leave a complete dataset without its media.
    assert sent == digests


async def test_a_file_that_is_gone_when_it_is_sent_is_named(parcel: Parcel) -> None:
    (file,) = parcel.files
    judging, reading = JudgeSettings(), QaReaderSettings()
    services = await all_services(memory_ground(MemoryStore()), judging, reading, None)
    async with listening(services) as address, RemoteGateway(Target(address)) as gateway:
        with pytest.raises(InvalidInput, match="cannot read it: No such file") as refused:
            # It was read before, for its digest.
            await gateway.push(parcel, progress=lambda _: file.unlink(missing_ok=True))
    assert refused.value.file == str(file)
