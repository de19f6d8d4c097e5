"""Three teams at one gateway at once: what each of their callers sees."""

import asyncio
from pathlib import Path
from typing import Any

import grpc
from google.protobuf.message_factory import GetMessageClass
from tests.fakes.datasets import push_dataset
from tests.fakes.loopback_server import bearer, refusal, stub_of
from tests.fakes.methods import methods, path_of
from tests.fakes.sources import EXAMPLES
from tests.fakes.teams import CALLERS, gateway, pushed

from caliper.adapters.stores.directory import DirectoryStore
from caliper.api.evaluate.v1 import evaluate_pb2 as pb
from caliper.core.owners import Sharing
from caliper.local.submission import parcel_at
from caliper.pipeline.store.dataset_names import NamedDataset, name_dataset
from caliper.pipeline.store.owners import Ownership

RUNS = {"ana": "first", "cleo": "second", "dora": "third"}
ALL = {"first", "second", "third"}
SEEN = {
    Sharing.PRIVATE: [{"first"}, set(), {"second"}, {"third"}, ALL],
    Sharing.TEAM: [{"first"}, {"first"}, {"second"}, {"third"}, ALL],
    Sharing.ALL: [ALL] * 5,
}
"""The runs that each of the callers sees."""
NOBODYS = "0" * 16
ABOUT_RUNS = [
    method for method in methods() if {"run", "runs"} & {*method.input_type.fields_by_name}
]
QUESTIONS = parcel_at("captionqa", EXAMPLES / "captionqa/questions.json", None)


async def evaluated(channel: grpc.aio.Channel, caller: str) -> str:
    """The id of a complete run that a caller started, with captions that it uploaded."""
    stub, metadata = stub_of("EvaluateService", channel), bearer(caller)
    header = pb.UploadHeader(benchmark="captionqa")
    caption = pb.UploadedCaption(sample="nat_000", text=f"A dog that {caller} saw.")
    sent = [pb.UploadCaptionsRequest(header=header), pb.UploadCaptionsRequest(caption=caption)]
    captions = (await stub.UploadCaptions(iter(sent), metadata=metadata)).captions
    part = pb.BenchmarkRequest(name="captionqa", data=QUESTIONS.digest, captions=captions)
    request = pb.StartEvaluationRequest(name=RUNS[caller], benchmarks=[part])
    run = (await stub.StartEvaluation(request, metadata=metadata)).evaluation.run
    async for _ in stub.WatchEvaluation(pb.WatchEvaluationRequest(run=run), metadata=metadata):
        pass
    return str(run)


async def named(channel: grpc.aio.Channel, caller: str) -> list[str]:
    stub, found, token = stub_of("EvaluateService", channel), [], None
    while token != "":
        request = pb.ListDatasetsRequest(page_size=1, page_token=token or "")
        page = await stub.ListDatasets(request, metadata=bearer(caller))
        assert page.datasets or token is None
        found += [each.name for each in page.datasets]
        token = page.next_page_token
        assert not token or found[-1].replace("@", "/") in token
    return found


async def listed(channel: grpc.aio.Channel, caller: str) -> set[str]:
    page = await stub_of("EvaluateService", channel).ListEvaluations(
        pb.ListEvaluationsRequest(), metadata=bearer(caller)
    )
    return {each.spec.name for each in page.evaluations}


async def absence(channel: grpc.aio.Channel, method: Any, caller: str, run: str) -> str:
    """What a method says if there is no such run, with `RUN` for its id; empty if there is one."""
    request = GetMessageClass(method.input_type)()
    for field in {"run", "base"} & {*method.input_type.fields_by_name}:
        setattr(request, field, run)
    if "runs" in method.input_type.fields_by_name:
        request.runs.extend([run, run])  # type: ignore[attr-defined]
    data = request.SerializeToString()
    try:
        await channel.unary_stream(path_of(method))(data, metadata=bearer(caller)).read()
    except grpc.aio.AioRpcError as error:
        if error.code() is grpc.StatusCode.NOT_FOUND:
            return str(error.details()).replace(run, "RUN")
    return ""


async def test_three_teams_at_once(tmp_path: Path) -> None:
    store = DirectoryStore(tmp_path / "store")
    await push_dataset(store, QUESTIONS)
    async with gateway(store, tmp_path, Sharing.TEAM) as channel:
        ids = await asyncio.gather(*(evaluated(channel, caller) for caller in RUNS))
    runs = dict(zip(RUNS.values(), ids, strict=True))
    assert len({path_of(method) for method in ABOUT_RUNS}) >= 9
    for sharing, sights in SEEN.items():
        async with gateway(store, tmp_path, sharing) as channel:
            for caller, seen in zip(CALLERS, sights, strict=True):
                assert await listed(channel, caller) == seen, (sharing, caller)
                for method in ABOUT_RUNS:
                    absent = await absence(channel, method, caller, NOBODYS)
                    told = {
                        name: await absence(channel, method, caller, runs[name]) for name in ALL
                    }
                    expected = {name: "" if name in seen else absent for name in ALL}
                    assert absent, method.name
                    assert told == expected, (sharing, caller, method.name)


async def test_captions_belong_to_a_team_and_no_report_names_it(tmp_path: Path) -> None:
    store = DirectoryStore(tmp_path / "store")
    await push_dataset(store, QUESTIONS)
    async with gateway(store, tmp_path, Sharing.TEAM) as channel:
        run, stub = await evaluated(channel, "ana"), stub_of("EvaluateService", channel)
        get = pb.GetEvaluationRequest(run=run)
        spec = (await stub.GetEvaluation(get, metadata=bearer("ben"))).evaluation.spec
        part = pb.BenchmarkRequest(
            name="captionqa", data=QUESTIONS.digest, captions=spec.benchmarks[0].captions
        )
        request = pb.StartEvaluationRequest(name="first", benchmarks=[part])
        refused = await refusal(stub.StartEvaluation(request, metadata=bearer("cleo")))
        again = await stub.StartEvaluation(request, metadata=bearer("ben"))
    assert refused[0] == ["benchmarks[0].captions"]
    assert (again.evaluation.run, again.created) == (run, False)
    for file in ("spec.json", "report.json"):
        kept = await store.get(f"runs/{run}/{file}") or await store.get(f"runs/{run}/report/{file}")
        assert kept
        assert not any(word in kept for word in (b'"ana"', b'"red"', b"owners"))


async def test_names_of_datasets_belong_to_a_team(tmp_path: Path) -> None:
    store, rows = DirectoryStore(tmp_path / "store"), QUESTIONS.files[0].read_bytes()
    # Without tokens.
    early = NamedDataset("early@v1", QUESTIONS.digest, "captionqa")
    await name_dataset(store, early, Ownership())
    await store.put("datasets/names/damaged/v1.json", b"{")
    async with gateway(store, tmp_path, Sharing.TEAM) as channel:
        stub = stub_of("EvaluateService", channel)
        for caller, name in (("ana", "secret@v1"), ("cleo", "blues@v1"), ("cleo", "zebra@v1")):
            assert await pushed(channel, caller, name, rows) == QUESTIONS.digest
        for caller in ("ana", "ben", "cleo", "dora", "root"):
            expected = ["blues@v1"] if caller in ("cleo", "root") else []
            expected.append("early@v1")
            expected += ["secret@v1"] if caller in ("ana", "ben", "root") else []
            expected += ["zebra@v1"] if caller in ("cleo", "root") else []
            assert await named(channel, caller) == expected
        told = []
        for name in ("secret@v1", "absent@v1"):
            part = pb.BenchmarkRequest(name="captionqa", data=name, captioner="one")
            start = pb.StartEvaluationRequest(name="ours", benchmarks=[part])
            _, message = await refusal(stub.StartEvaluation(start, metadata=bearer("cleo")))
            told.append(message.replace(name, "NAME"))
        assert told == ["benchmarks[0].data: no dataset is named NAME"] * 2
        refused = [
            await pushed(channel, caller, "secret@v1", rows + b"\n") for caller in ("ben", "cleo")
        ]
        assert [QUESTIONS.digest in each for each in refused] == [True, False]
        # The same content by the same name belongs to both.
        await pushed(channel, "cleo", "secret@v1", rows)
        assert await pushed(channel, "cleo", "early@v1", rows) == QUESTIONS.digest
        assert await named(channel, "cleo") == ["blues@v1", "early@v1", "secret@v1", "zebra@v1"]
        assert await named(channel, "dora") == ["early@v1"]
