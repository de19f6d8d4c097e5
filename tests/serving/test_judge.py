from collections.abc import AsyncIterator
from typing import Any

import grpc
import pytest
from tests.fakes.loopback_server import calling, failure, refusal, stub_of

from caliper.adapters.wire.outcomes import decode_verdict
from caliper.adapters.wire.specs import decode_identity
from caliper.api.judge.v1 import judge_pb2
from caliper.benchmarks.settings import resolve_settings
from caliper.core.caption import Caption
from caliper.core.errors import BackendOverloaded
from caliper.core.messages import ExamineJob
from caliper.core.outcome import Reason, Unscored, Verdict
from caliper.core.question import Answer, Ask, Reply
from caliper.core.run import BenchmarkSpec, Identity, RunSpec
from caliper.pipeline.asking.examiner import Examiner, Models
from caliper.pipeline.store.plan import plan_items
from caliper.ports.storage import Sources
from caliper.serving.adhoc import JudgeServicer
from caliper.serving.grpc_server import Service

SCENE = '{"task": "scene", "file_id": "1", "file_path": "1.jpg", "annotation": "a park"}'
PACK = "p" * 64


@pytest.fixture
async def judge(models: Any) -> AsyncIterator[Any]:
    identity = models(0).answerers["capability/judge"].identity
    async with calling(
        Service(JudgeServicer.contract, JudgeServicer(models, identity, PACK))
    ) as channel:
        yield stub_of("JudgeService", channel)


def request(*rows: str, caption: str = "A park.", **given: Any) -> judge_pb2.JudgeRequest:
    return judge_pb2.JudgeRequest(
        **{"benchmark": "capability", "rows": rows, "caption": caption, **given}
    )


async def in_process(example: Any, models: Models) -> dict[str, tuple[Verdict, ...]]:
    name = example.name
    part = BenchmarkSpec(name, "", "", resolve_settings(name, {}), {})
    spec = RunSpec("run", "1", "", (part,))
    found = {}
    for item in plan_items(spec, part, Sources(example.dataset, example.captions)):
        caption = Caption(item.sample, example.captions[item.sample])
        job = ExamineJob("run", name, item.sample, caption, (item,))
        found[item.key] = (await Examiner(spec, models).examine(job)).verdicts
    return found


@pytest.mark.parametrize("name", ["capability", "comprecap"])
async def test_the_same_verdicts_as_in_a_run(
    judge: Any, example: Any, models: Any, name: str
) -> None:
    data = example(name)
    expected = await in_process(data, models(0))
    assert len(expected) == len(data.rows) > 5
    for row, text in zip(data.rows, data.texts(), strict=True):
        key = str(row.fields.get("image") or f"{row.fields['task']}/{row.fields['file_id']}")
        sample = key if key in data.captions else key.replace("action/", "event/")
        asked = request(text, benchmark=name, caption=data.captions[sample])
        answer = await judge.Judge(asked)
        assert tuple(map(decode_verdict, answer.verdicts)) == expected[key]


async def test_rows_of_one_sample_are_numbered_together(judge: Any) -> None:
    rows = [SCENE.replace("scene", task) for task in ("action", "event")]
    answer = await judge.Judge(request(*rows, repeats=2))
    assert [verdict.index for verdict in answer.verdicts] == [0, 1, 2, 3]


async def test_a_row_that_cannot_be_used_is_unscored(judge: Any) -> None:
    answer = await judge.Judge(request(SCENE.replace('"a park"', "7")))
    (verdict,) = map(decode_verdict, answer.verdicts)
    assert verdict.outcome == Unscored(Reason.BAD_INPUT)
    assert "annotation" in verdict.evidence.explanation


async def test_who_judges(judge: Any, models: Any) -> None:
    found = await judge.Describe(judge_pb2.DescribeRequest())
    lexical = models(0)
    assert decode_identity(found.identity) == lexical.answerers["capability/judge"].identity
    assert decode_identity(found.tagger) == lexical.tagger.identity
    assert decode_identity(found.embedder) == lexical.embedder.identity
    assert found.pack == PACK


@pytest.mark.parametrize(
    ("asked", "field"),
    [
        (request(SCENE, benchmark="captionqa"), "benchmark"),
        (request(SCENE, benchmark="other"), "benchmark"),
        (request(SCENE, benchmark=""), "benchmark"),
        (request(), "rows"),
        (request(*[SCENE] * 101), "rows"),
        (request("{"), "rows[0]"),
        (request("[]"), "rows[0]"),
        (request("[" * 100_000), "rows[0]"),
        (request(SCENE, '{"task": "scene", "task": "scene"}'), "rows[1].'task'"),
        (request(SCENE, SCENE), "rows[1].file_id"),
        (request(SCENE.replace("scene", "sceen")), "rows[0].task"),
        (request(SCENE.replace('"file_path": "1.jpg", ', "")), "rows[0].file_path"),
        (request(SCENE, SCENE.replace('"1"', '"2"')), "rows"),
        (request(SCENE, caption="x" * 200_001), "caption"),
        (request(SCENE, repeats=0), "repeats"),
        (request(SCENE, repeats=101), "repeats"),
        (request(SCENE, settings={"reply_reading": "loose"}), "settings"),
        (request(SCENE, settings={"reading": "lenient"}), "settings"),
    ],
)
async def test_what_is_refused_is_named(judge: Any, asked: Any, field: str) -> None:
    fields, _ = await refusal(judge.Judge(asked))
    assert fields == [field]


class Answering:
    """ports.models.Answerer that answers as a test says, and keeps what it was asked."""

    identity = Identity("fake", "fake", "1")

    def __init__(self, answer: Answer | Exception) -> None:
        self.result = answer
        self.asked: list[Ask] = []

    async def answer(self, ask: Ask) -> Answer:
        self.asked.append(ask)
        if isinstance(self.result, Exception):
            raise self.result
        return self.result

    async def close(self) -> None:
        pass


async def test_the_models_are_those_of_the_seed() -> None:
    seeds = []

    def models(seed: int) -> Models:
        seeds.append(seed)
        return Models({"capability/judge": Answering(Reply('{"score": 1, "scene": "a park"}'))})

    servicer = JudgeServicer(models, Answering.identity, PACK)
    async with calling(Service(JudgeServicer.contract, servicer)) as channel:
        await stub_of("JudgeService", channel).Judge(request(SCENE, seed=2**64 - 1))
    assert seeds == [2**64 - 1]


async def test_a_model_in_trouble_is_no_verdict() -> None:
    overloaded = Answering(BackendOverloaded("too many", 2.0))
    servicer = JudgeServicer(
        lambda _: Models({"capability/judge": overloaded}), overloaded.identity, PACK
    )
    async with calling(Service(JudgeServicer.contract, servicer)) as channel:
        error = await failure(stub_of("JudgeService", channel).Judge(request(SCENE)))
    assert error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
