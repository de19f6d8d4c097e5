from collections.abc import AsyncIterator, Callable, Iterable
from typing import Any

import grpc
import pytest
import pytest_asyncio
from google.protobuf.message import Message
from tests.fakes.datasets import push_dataset
from tests.fakes.installation import listening
from tests.fakes.loopback_server import failure, refusal, stub_of
from tests.fakes.sources import EXAMPLES

from caliper.adapters.stores.directory import DirectoryStore
from caliper.api.evaluate.v1 import evaluate_pb2 as pb
from caliper.api.types.v1.run_pb2 import Preparation, TaxonomyOfDomain
from caliper.local.submission import parcel_at
from caliper.pipeline.store.supplies import put_captions
from caliper.wiring.grounds import memory_ground
from caliper.wiring.service_settings import JudgeSettings, QaReaderSettings
from caliper.wiring.startup import all_services

NOBODY = "0" * 16
ABSENT = "a" * 64
Stub = Any

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def store(tmp_path_factory: pytest.TempPathFactory) -> DirectoryStore:
    found = DirectoryStore(tmp_path_factory.mktemp("gateway"))
    for name, data in (("captionqa", "captionqa/questions.json"), ("capability", "capability")):
        await push_dataset(found, parcel_at(name, EXAMPLES / data, None))
    return found


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stub(store: DirectoryStore) -> AsyncIterator[Stub]:
    parts = await all_services(memory_ground(store), JudgeSettings(), QaReaderSettings(), None)
    async with listening(parts) as address, grpc.aio.insecure_channel(address) as channel:
        yield stub_of("EvaluateService", channel)


async def keys(store: DirectoryStore, prefix: str) -> list[str]:
    return [key async for key in store.list(prefix)]


async def whole(store: DirectoryStore, name: str = "captionqa") -> pb.StartEvaluationRequest:
    data = {"captionqa": "captionqa/questions.json", "capability": "capability"}[name]
    digest = parcel_at(name, EXAMPLES / data, None).digest
    captions = await put_captions(store, {"nat_000": "A dog."})
    part = pb.BenchmarkRequest(name=name, data=digest, captions=captions)
    return pb.StartEvaluationRequest(name="ours", benchmarks=[part])


def of_run(**changes: Any) -> Callable[[pb.StartEvaluationRequest], None]:
    return lambda request: request.MergeFrom(pb.StartEvaluationRequest(**changes))


def of_part(**changes: Any) -> Callable[[pb.StartEvaluationRequest], None]:
    return lambda request: request.benchmarks[0].MergeFrom(pb.BenchmarkRequest(**changes))


def twice(request: pb.StartEvaluationRequest) -> None:
    request.benchmarks.add().CopyFrom(request.benchmarks[0])


def second(**changes: Any) -> Callable[[pb.StartEvaluationRequest], None]:
    part = pb.BenchmarkRequest(name="capability", data=ABSENT, **changes)
    return lambda request: request.benchmarks.append(part)


def without(field: str) -> Callable[[pb.StartEvaluationRequest], None]:
    return lambda request: request.ClearField(field)  # type: ignore[arg-type]


BAD_STARTS: list[tuple[str, Callable[[pb.StartEvaluationRequest], None]]] = [
    ("name", without("name")),
    ("name", of_run(name="x" * 201)),
    ("name", of_run(name="a\nb")),
    ("benchmarks", without("benchmarks")),
    ("benchmarks", twice),
    ("benchmarks", of_part(name="coco")),
    ("limit", of_run(limit=0)),
    ("max_calls", of_run(max_calls=0)),
    ("max_tokens", of_run(max_tokens=0)),
    ("coverage_floor", of_run(coverage_floor=1.5)),
    ("coverage_floor", of_run(coverage_floor=float("nan"))),
    ("client_key", of_run(client_key="x" * 129)),
    ("benchmarks[0].data", of_part(data="../../etc/passwd")),
    ("benchmarks[0].data", of_part(data=ABSENT)),
    ("benchmarks[0].captions", of_part(captions="A" * 64)),
    ("benchmarks[0].captions", of_part(captions=ABSENT)),
    ("benchmarks[0].captions", lambda request: request.benchmarks[0].ClearField("captions")),
    ("benchmarks[0].captioner", of_part(captioner="somebody")),
    ("benchmarks[0].settings", of_part(settings={"shuffle": "never"})),
    ("benchmarks[0].settings", of_part(settings={"colour": "red"})),
    ("benchmarks[0].repeats", of_part(repeats=0)),
    ("benchmarks[0].repeats", of_part(repeats=101)),
    ("benchmarks[0].judge", of_part(judge="lexical")),
    ("benchmarks[0].reader", of_part(reader="http://elsewhere")),
    ("benchmarks[0].media", of_part(media="somebody")),
    ("benchmarks[0].media", of_part(captioner="somebody", media="somebody", qa_replies=ABSENT)),
    ("benchmarks[0].qa_data", of_part(qa_data=ABSENT)),
    ("benchmarks[0].qa_data", of_part(captioner="somebody", media="somebody", qa_data=ABSENT)),
    ("benchmarks[0].qa_replies", of_part(qa_replies="short")),
    ("benchmarks[0].qa_replies", of_part(qa_replies=ABSENT)),
    ("benchmarks[0].preparation.fps", of_part(preparation=Preparation(fps="-1", frames=8))),
    ("benchmarks[0].preparation.frames", of_part(preparation=Preparation(fps="2"))),
    ("benchmarks[1].preparation.fps", second(preparation=Preparation(fps="often", frames=8))),
    ("benchmarks[1].taxonomy", second(taxonomy=[TaxonomyOfDomain(domain="natural")] * 2)),
    ("benchmarks[1]", second(prompt="\ufdd0")),
]


@pytest.mark.parametrize(("field", "spoil"), BAD_STARTS)
async def test_a_bad_start_names_its_field(
    stub: Stub,
    store: DirectoryStore,
    field: str,
    spoil: Callable[[pb.StartEvaluationRequest], None],
) -> None:
    request = await whole(store)
    spoil(request)
    before = await keys(store, "runs/")
    assert (await refusal(stub.StartEvaluation(request)))[0] == [field]
    assert await keys(store, "runs/") == before


async def test_questions_from_the_media_need_their_data(stub: Stub, store: DirectoryStore) -> None:
    replies = ABSENT
    await store.put(f"datasets/{replies}/manifest.json", b'{"schema": 1}')
    for name, given in (("capability", {}), ("captionqa", {"qa_data": ABSENT})):
        request = await whole(store, name)
        of_part(qa_replies=replies, **given)(request)
        assert (await refusal(stub.StartEvaluation(request)))[0] == ["benchmarks[0].qa_data"]
    request = await whole(store, "capability")
    of_part(qa_replies=replies, qa_data="b" * 64)(request)
    assert (await refusal(stub.StartEvaluation(request)))[0] == ["benchmarks[0].qa_data"]


@pytest.mark.parametrize(
    ("field", "method", "request_"),
    [
        ("page_token", "ListEvaluations", pb.ListEvaluationsRequest(page_token="runs/x")),
        ("page_token", "ListVerdicts", pb.ListVerdictsRequest(page_token="next")),
        ("page_token", "ListVerdicts", pb.ListVerdictsRequest(page_token="1")),
        ("page_token", "ListVerdicts", pb.ListVerdictsRequest(page_token="-1.5")),
        ("benchmark", "ListVerdicts", pb.ListVerdictsRequest(benchmark="comprecap")),
        ("file", "GetReport", pb.GetReportRequest(file="../spec.json", partial=True)),
    ],
)
async def test_a_bad_question_names_its_field(
    stub: Stub, store: DirectoryStore, field: str, method: str, request_: Message
) -> None:
    run = (await stub.StartEvaluation(await whole(store))).evaluation.run
    if "run" in request_.DESCRIPTOR.fields_by_name:
        request_ = type(request_).FromString(request_.SerializeToString())
        request_.run = run  # type: ignore[attr-defined]
    call = getattr(stub, method)(request_)
    assert (await refusal(call.read() if method == "GetReport" else call))[0] == [field]


@pytest.mark.parametrize("run", [NOBODY, "", "../../spec", "A" * 16])
async def test_a_run_that_nobody_started_is_not_found(stub: Stub, run: str) -> None:
    calls = [
        stub.GetEvaluation(pb.GetEvaluationRequest(run=run)),
        stub.WatchEvaluation(pb.WatchEvaluationRequest(run=run)).read(),
        stub.CancelEvaluation(pb.CancelEvaluationRequest(run=run)),
        stub.GetReport(pb.GetReportRequest(run=run)).read(),
        stub.ListVerdicts(pb.ListVerdictsRequest(run=run)),
    ]
    for call in calls:
        assert (await failure(call)).code() is grpc.StatusCode.NOT_FOUND


HEADER = pb.UploadCaptionsRequest(header=pb.UploadHeader(benchmark="captionqa"))


def caption(sample: str, text: str = "A dog.") -> pb.UploadCaptionsRequest:
    return pb.UploadCaptionsRequest(caption=pb.UploadedCaption(sample=sample, text=text))


@pytest.mark.parametrize(
    ("field", "parts"),
    [
        ("header", [caption("a")]),
        ("header", [HEADER, caption("a"), HEADER]),
        ("header", [HEADER, pb.UploadCaptionsRequest()]),
        ("header", []),
        (
            "header.benchmark",
            [pb.UploadCaptionsRequest(header=pb.UploadHeader(benchmark="coco")), caption("a")],
        ),
        ("caption", [HEADER]),
        ("caption.sample", [HEADER, caption("")]),
        ("caption.sample", [HEADER, caption("a"), caption("a", "Another.")]),
        ("caption.text", [HEADER, caption("a", "x" * 200_001)]),
    ],
)
async def test_bad_captions_name_their_field(
    stub: Stub, store: DirectoryStore, field: str, parts: Iterable[pb.UploadCaptionsRequest]
) -> None:
    before = await keys(store, "supplied/")
    assert (await refusal(stub.UploadCaptions(iter(list(parts)))))[0] == [field]
    assert await keys(store, "supplied/") == before


async def test_the_same_captions_are_the_same_set(stub: Stub, store: DirectoryStore) -> None:
    parts = [HEADER, caption("a"), caption("b", "lone \ufdd0d83d")]
    first = await stub.UploadCaptions(iter(parts))
    again = await stub.UploadCaptions(iter([parts[0], parts[2], parts[1]]))
    assert (first.captions, first.count) == (again.captions, 2)


async def test_without_tokens_nothing_has_owners(stub: Stub, store: DirectoryStore) -> None:
    await stub.UploadCaptions(iter([HEADER, caption("a")]))
    await stub.StartEvaluation(await whole(store))
    assert await keys(store, "runs/")
    assert not [key for key in await keys(store, "") if key.endswith("owners.json")]
