import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from tests.fakes.loopback_server import calling, refusal, stub_of

from caliper.adapters.wire.outcomes import decode_verdict
from caliper.adapters.wire.specs import decode_identity
from caliper.api.qa_reader.v1 import qa_reader_pb2
from caliper.benchmarks.settings import resolve_settings
from caliper.core.caption import Caption
from caliper.core.messages import ExamineJob
from caliper.core.run import BenchmarkSpec, RunSpec
from caliper.pipeline.asking.examiner import Examiner
from caliper.pipeline.store.plan import plan_items
from caliper.ports.storage import Sources
from caliper.serving.adhoc import QaReaderServicer
from caliper.serving.grpc_server import Service

QUESTION = {"question": "Which colour?", "choices": ["red", "green"], "answer": "red"}
ROW = json.dumps({"id": "nat_1", "questions": [QUESTION]})


@pytest.fixture
async def reader(models: Any) -> AsyncIterator[Any]:
    identity = models(0).answerers["captionqa/reader"].identity
    async with calling(
        Service(QaReaderServicer.contract, QaReaderServicer(models, identity, "p" * 64))
    ) as channel:
        yield stub_of("QaReaderService", channel)


@pytest.mark.parametrize("seed", [0, 7])
async def test_the_same_verdicts_as_in_a_run(
    reader: Any, example: Any, models: Any, seed: int
) -> None:
    data = example("captionqa")
    part = BenchmarkSpec("captionqa", "", "", resolve_settings("captionqa", {}), {})
    spec = RunSpec("run", "1", "", (part,), seed=seed)
    items = plan_items(spec, part, Sources(data.dataset, data.captions))
    assert len(items) == len(data.rows) > 5
    for item, row in zip(items, data.texts(), strict=True):
        caption = data.captions[item.sample]
        job = ExamineJob("run", "captionqa", item.sample, Caption(item.sample, caption), (item,))
        expected = (await Examiner(spec, models(seed)).examine(job)).verdicts
        asked = qa_reader_pb2.AnswerRequest(row=row, caption=caption, seed=seed)
        answer = await reader.Answer(asked)
        assert tuple(map(decode_verdict, answer.verdicts)) == expected


async def test_repeats(reader: Any) -> None:
    asked = qa_reader_pb2.AnswerRequest(row=ROW, caption="It is red.", repeats=3)
    answer = await reader.Answer(asked)
    assert [verdict.index for verdict in answer.verdicts] == [0, 1, 2]


async def test_the_benchmark_may_be_named(reader: Any) -> None:
    asked = qa_reader_pb2.AnswerRequest(row=ROW, caption="It is red.", benchmark="captionqa")
    bare = qa_reader_pb2.AnswerRequest(row=ROW, caption="It is red.")
    assert await reader.Answer(asked) == await reader.Answer(bare)


async def test_who_reads(reader: Any, models: Any) -> None:
    found = await reader.Describe(qa_reader_pb2.DescribeRequest())
    assert decode_identity(found.identity) == models(0).answerers["captionqa/reader"].identity
    assert found.pack == "p" * 64


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"row": ""}, "row"),
        ({"row": "3"}, "row"),
        ({"row": "{}"}, "row.id"),
        ({"row": ROW.replace("nat_1", "1")}, "row.domain"),
        ({"settings": {"shuffle": "released"}}, "row"),
        ({"settings": {"max_tokens": "0"}}, "settings"),
        ({"caption": "x" * 200_001}, "caption"),
        ({"repeats": 0}, "repeats"),
        ({"benchmark": "capability"}, "benchmark"),
    ],
)
async def test_what_is_refused_is_named(reader: Any, given: dict[str, Any], field: str) -> None:
    asked = qa_reader_pb2.AnswerRequest(**{"row": ROW, "caption": "Red.", **given})
    fields, _ = await refusal(reader.Answer(asked))
    assert fields == [field]
