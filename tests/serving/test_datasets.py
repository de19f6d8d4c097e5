"""Datasets that are pushed through a gateway by stubs of its contract alone."""

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import grpc
import grpc_tools
import pytest
from grpc_tools import protoc
from tests.fakes.installation import listening
from tests.fakes.loopback_server import failure, refusal, stub_of
from tests.fakes.sources import EXAMPLES
from tests.fakes.stores import MemoryStore
from tests.fakes.teams import sha256_of

from caliper.adapters.remote import dataset_push
from caliper.adapters.remote.channel import Target
from caliper.adapters.remote.gateway import RemoteGateway
from caliper.api.evaluate.v1 import evaluate_pb2 as pb
from caliper.core.errors import InvalidInput
from caliper.local.submission import parcel_at
from caliper.pipeline.store import dataset_uploads
from caliper.serving.dataset_uploads import receive_dataset
from caliper.serving.uploads import Uploads
from caliper.wiring.grounds import memory_ground
from caliper.wiring.service_settings import JudgeSettings, QaReaderSettings
from caliper.wiring.startup import all_services

PROTOS = Path(__file__).parents[2] / "proto"
QUESTIONS = (EXAMPLES / "captionqa" / "questions.json").read_bytes()
EXISTS = grpc.StatusCode.ALREADY_EXISTS
_FIRST_EVALUATION = """
import hashlib, pathlib, sys
import grpc
from caliper.api.evaluate.v1 import evaluate_pb2 as pb, evaluate_pb2_grpc
from caliper.api.types.v1 import run_pb2

address, rows = sys.argv[1], pathlib.Path(sys.argv[2]).read_bytes()
gateway = evaluate_pb2_grpc.EvaluateServiceStub(grpc.insecure_channel(address))
sha256 = hashlib.sha256(rows).hexdigest()
file = pb.DatasetFile(name="questions.json", sha256=sha256)
header = pb.DatasetHeader(benchmark="captionqa", name="captionqa@v1", files=[file])
pushed = gateway.UploadDataset(iter([
    pb.UploadDatasetRequest(header=header),
    pb.UploadDatasetRequest(content=pb.DatasetContent(sha256=sha256, data=rows)),
]))
assert not pushed.missing
captions = gateway.UploadCaptions(iter([
    pb.UploadCaptionsRequest(header=pb.UploadHeader(benchmark="captionqa")),
    pb.UploadCaptionsRequest(caption=pb.UploadedCaption(sample="nat_000", text="A dog.")),
])).captions
part = pb.BenchmarkRequest(name="captionqa", data="captionqa@v1", captions=captions)
started = gateway.StartEvaluation(pb.StartEvaluationRequest(name="ours", benchmarks=[part]))
(found,) = started.evaluation.spec.benchmarks
assert found.data == pushed.dataset
for update in gateway.WatchEvaluation(pb.WatchEvaluationRequest(run=started.evaluation.run)):
    state = update.evaluation.state
print(run_pb2.RunState.Name(state))
"""


@pytest.fixture
async def address(store: MemoryStore) -> AsyncIterator[str]:
    parts = await all_services(memory_ground(store), JudgeSettings(), QaReaderSettings(), None)
    async with listening(parts) as found:
        yield found


@pytest.fixture
async def stub(address: str) -> AsyncIterator[Any]:
    async with grpc.aio.insecure_channel(address) as channel:
        yield stub_of("EvaluateService", channel)


def header(rows: bytes = QUESTIONS, name: str = "", **more: Any) -> pb.UploadDatasetRequest:
    file = pb.DatasetFile(name="questions.json", sha256=sha256_of(rows))
    values = {"benchmark": "captionqa", "name": name, "files": [file], **more}
    return pb.UploadDatasetRequest(header=pb.DatasetHeader(**values))


def content(data: bytes, sha256: str | None = None) -> pb.UploadDatasetRequest:
    found = sha256_of(data) if sha256 is None else sha256
    return pb.UploadDatasetRequest(content=pb.DatasetContent(sha256=found, data=data))


def medium(path: str, data: bytes) -> pb.UploadDatasetRequest:
    return pb.UploadDatasetRequest(medium=pb.DatasetFile(name=path, sha256=sha256_of(data)))


async def parts(*requests: pb.UploadDatasetRequest) -> AsyncIterator[pb.UploadDatasetRequest]:
    for request in requests:
        yield request


async def test_a_first_evaluation_needs_the_contract_alone(address: str, tmp_path: Path) -> None:
    includes = [f"--proto_path={PROTOS}", f"--proto_path={Path(grpc_tools.__file__).parent}/_proto"]
    outputs = [f"--python_out={tmp_path}", f"--grpc_python_out={tmp_path}"]
    files = [str(path.relative_to(PROTOS)) for path in PROTOS.rglob("*.proto")]
    assert protoc.main(["protoc", *includes, *outputs, *files]) == 0
    # Else the package of that name that is installed would be found.
    (tmp_path / "caliper" / "__init__.py").touch()
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        _FIRST_EVALUATION,
        address,
        str(EXAMPLES / "captionqa" / "questions.json"),
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(tmp_path)},
        cwd=tmp_path,
        stdout=subprocess.PIPE,
    )
    out, _ = await process.communicate()
    assert out.split() == [b"RUN_STATE_FINISHED"]


def written_keys(store: MemoryStore) -> list[str]:
    """Of the calls so far, but for the leases that the aggregator renews all the time."""
    written = (key for call, key in store.calls if call in ("put", "replace"))
    return [key for key in written if not key.startswith("aggregator/")]


async def test_what_is_there_is_not_asked_for(stub: Any, store: MemoryStore) -> None:
    pictures = {f"images/{number}.jpg": b"picture %d" % number for number in range(30)}
    media = [medium(path, data) for path, data in pictures.items()]
    first = await stub.UploadDataset(parts(header(), *media))
    assert list(first.missing) == [*map(sha256_of, pictures.values()), sha256_of(QUESTIONS)]
    half = [content(data) for data in [*pictures.values()][:15]]
    cut = await stub.UploadDataset(parts(header(), *media, *half))
    assert list(cut.missing) == list(first.missing)[15:]
    again = await stub.UploadDataset(parts(header(), *media))
    assert again == cut
    # Content may come in pieces.
    pieces = [content(QUESTIONS[:9], sha256_of(QUESTIONS)), content(QUESTIONS[9:], "")]
    rest = [content(data) for data in [*pictures.values()][15:]]
    assert not (await stub.UploadDataset(parts(header(), *media, *rest, *pieces))).missing
    store.calls.clear()
    whole = await stub.UploadDataset(parts(header(), *media))
    assert (list(whole.missing), written_keys(store)) == ([], [])
    # Another dataset has them, too.
    other = await stub.UploadDataset(parts(header(QUESTIONS + b"\n"), *media))
    assert list(other.missing) == [sha256_of(QUESTIONS + b"\n")]


async def test_a_push_may_take_several_calls(
    address: str, store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dataset_push, "_BATCH", 1)
    parcel = parcel_at("capability", EXAMPLES / "capability", EXAMPLES / "media")
    async with RemoteGateway(Target(address)) as gateway:
        sizes: list[int] = []
        await gateway.push(parcel, progress=sizes.append)
        assert len(sizes) > 2
        assert sum(sizes) == parcel.size
        store.calls.clear()
        await gateway.push(parcel)
        assert written_keys(store) == []
        with pytest.raises(InvalidInput, match="changed while it was pushed"):
            await gateway.push(replace(parcel, digest="0" * 64))


async def test_a_name_stands_for_one_content(stub: Any, store: MemoryStore) -> None:
    for version in ("v1", "v1", "v2"):
        name = f"captionqa@{version}"
        found = await stub.UploadDataset(parts(header(name=name), content(QUESTIONS)))
    other = QUESTIONS + b"\n"
    before = dict(store.objects)
    refused = await failure(
        stub.UploadDataset(parts(header(other, "captionqa@v1"), content(other)))
    )
    assert refused.code() is EXISTS
    assert "captionqa@v1 stands for other content" in str(refused.details())
    assert store.objects == before
    first = await stub.ListDatasets(pb.ListDatasetsRequest(page_size=1))
    token = first.next_page_token
    second = await stub.ListDatasets(pb.ListDatasetsRequest(page_token=token))
    shown = [*first.datasets, *second.datasets]
    assert [each.name for each in shown] == ["captionqa@v1", "captionqa@v2"]
    assert {(each.dataset, each.benchmark) for each in shown} == {(found.dataset, "captionqa")}
    assert not second.next_page_token
    unknown = pb.BenchmarkRequest(name="captionqa", data="captionqa@v3", captioner="one")
    start = pb.StartEvaluationRequest(name="ours", benchmarks=[unknown])
    fields, message = await refusal(stub.StartEvaluation(start))
    assert (fields, "captionqa@v3" in message) == (["benchmarks[0].data"], True)


async def test_a_name_is_of_a_complete_dataset_only(stub: Any) -> None:
    await stub.UploadDataset(parts(header(name="captionqa@v1")))
    assert not (await stub.ListDatasets(pb.ListDatasetsRequest())).datasets


async def test_a_medium_is_not_replaced(stub: Any) -> None:
    picture = medium("a.jpg", b"picture")
    await stub.UploadDataset(parts(header(), picture, content(b"picture"), content(QUESTIONS)))
    refused = await failure(
        stub.UploadDataset(parts(header(), medium("a.jpg", b"other"), content(b"other")))
    )
    assert refused.code() is EXISTS
    assert "'a.jpg'" in str(refused.details())


FILE = {"name": "questions.json", "sha256": sha256_of(QUESTIONS)}


def of_file(**changes: str) -> pb.UploadDatasetRequest:
    return header(files=[pb.DatasetFile(**(FILE | changes))])


@pytest.mark.parametrize(
    ("field", "requests"),
    [
        ("header", []),
        ("header", [content(QUESTIONS)]),
        ("header", [header(), header()]),
        ("header", [header(benchmark="coco")]),
        ("header.name", [header(name="captionqa")]),
        ("header.name", [header(name="../a@v1")]),
        ("header.name", [header(name="a@b@c")]),
        ("header.files", [header(files=[])]),
        ("header.folder", [header(files=[pb.DatasetFile(**FILE), pb.DatasetFile(name="a")])]),
        ("header.files.name", [header(files=[pb.DatasetFile(**FILE)] * 2)]),
        ("header.files.name", [of_file(name="../questions.json")]),
        ("header.files.name", [of_file(name="..")]),
        ("header.files.name", [of_file(name="a\0b")]),
        ("header.files.name", [of_file(name="x" * 201)]),
        ("header.files.sha256", [of_file(sha256="../../runs")]),
        ("medium.name", [header(), medium("", b"")]),
        ("medium.name", [header(), medium("x" * 1001, b"")]),
        ("medium.name", [header(), medium("a.jpg", b"a"), medium("a.jpg", b"b")]),
        ("medium.sha256", [header(), pb.UploadDatasetRequest(medium=pb.DatasetFile(name="a"))]),
        ("medium", [header(), content(QUESTIONS), medium("a.jpg", b"a")]),
        ("content", [header(), content(QUESTIONS, "")]),
        ("content.sha256", [header(), content(b"other")]),
        ("content.data", [header(), content(b"other", sha256_of(QUESTIONS))]),
        ("content.data", [header(), content(QUESTIONS[:-1], sha256_of(QUESTIONS))]),
    ],
)
async def test_a_bad_dataset_names_its_field(
    store: MemoryStore, field: str, requests: list[pb.UploadDatasetRequest]
) -> None:
    with pytest.raises(InvalidInput) as refused:
        await receive_dataset(store, Uploads(), parts(*requests))
    assert refused.value.field == field
    assert not store.objects


async def test_paths_of_media_do_not_fill_the_memory(
    store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dataset_uploads, "_ALL_PATHS", 10)
    media = [medium(path, b"") for path in ("1.jpg", "1.jpg", "2.jpg", "3.jpg")]
    await receive_dataset(store, Uploads(), parts(header(), *media[:3], content(b"")))
    for requests in (media, [*media[3:], content(b"")]):
        with pytest.raises(InvalidInput, match="more than 10 characters"):
            await receive_dataset(store, Uploads(), parts(header(), *requests))
