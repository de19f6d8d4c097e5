from fractions import Fraction

import pytest
from tests.fakes import runs
from tests.fakes.runs import Planned
from tests.fakes.stores import MemoryLog, MemoryStore

from caliper.adapters.streams.memory import MemoryStream
from caliper.adapters.wire.identity_codec import IdentityCodec
from caliper.core.outcome import Reason, Scored, Unscored, Verdict
from caliper.core.question import Failure, Item, Question, Source
from caliper.core.rows import Row
from caliper.core.run import Identity
from caliper.pipeline.ledger.ledger import Ledger
from caliper.pipeline.planning.publisher import (
    CAPTION_JOBS,
    JUDGE_JOBS,
    QA_JOBS,
    VERDICTS,
    Checkpoint,
    RunJobs,
    jobs,
    publish_jobs,
)

CODEC = IdentityCodec()
CAPTIONS = {"captionqa": {"nat_000": "it is green"}, "capability": {"scene/0000": "a park"}}
SPEC = runs.spec(
    runs.part(
        "capability", models={"judge": runs.JUDGE, "media": Identity("replay", "replay", "1")}
    ),
    runs.part("captionqa", models={"reader": runs.JUDGE, "media": runs.JUDGE}),
)
FOUND = {
    "capability": runs.sources(runs.scene_rows(2), CAPTIONS["capability"], runs.scene_questions(2)),
    "captionqa": runs.sources(runs.choice_rows(2, 3), CAPTIONS["captionqa"]),
}


@pytest.fixture
async def planned() -> Planned:
    return await runs.planned(SPEC, FOUND, MemoryStore())


async def published(
    planned: Planned, ledger: Ledger, asked: Checkpoint | None = None
) -> dict[str, list[tuple[str, str]]]:
    """(key, caption or "-") of every job by topic."""
    stream = MemoryStream()
    found_jobs = RunJobs(SPEC.run_id, CODEC, CAPTIONS).of(planned.reader, asked or {}, ledger)
    count = await publish_jobs(stream, found_jobs)
    found: dict[str, list[tuple[str, str]]] = {}
    for topic in (CAPTION_JOBS, JUDGE_JOBS, QA_JOBS):
        await stream.close_topic(topic)
        consumer = stream.consumer(topic, "test")
        told = []
        while (delivery := await consumer.receive()) is not None:
            value = delivery.message.value
            caption = "-"
            if topic != CAPTION_JOBS:
                job = CODEC.read_examine_job(value)
                caption = job.caption.text if job.caption else "-"
            told.append((delivery.message.key.removeprefix(f"{SPEC.run_id}/"), caption))
            await consumer.acknowledge(delivery)
        found[topic] = told
    assert count == sum(map(len, found.values()))
    return found


def a_ledger(planned: Planned, *unknown: int, **reasons: Reason) -> Ledger:
    """Everything scored but the indices in `unknown`, and `at_<index>=reason`."""
    ledger = Ledger(planned.summary.questions, MemoryLog())
    for index in range(planned.summary.questions):
        if index not in unknown:
            reason = reasons.get(f"at_{index}")
            outcome = Unscored(reason) if reason else Scored(Fraction(1))
            ledger.merge([Verdict(index, outcome)])
    return ledger


async def test_a_new_run_publishes_every_job(planned: Planned) -> None:
    ledger = Ledger(planned.summary.questions, MemoryLog())
    assert await published(planned, ledger) == {
        CAPTION_JOBS: [],
        JUDGE_JOBS: [
            ("capability/scene/0000", "a park"),
            ("capability/scene/0000", "-"),
            ("capability/scene/0001", "-"),
            ("capability/scene/0001", "-"),
        ],
        QA_JOBS: [
            ("captionqa/nat_000", "it is green"),
            ("captionqa/nat_000", "-"),
            ("captionqa/nat_001", "-"),
            ("captionqa/nat_001", "-"),
        ],
    }


async def test_samples_without_a_caption_are_captioned_where_a_model_writes(
    planned: Planned,
) -> None:
    ledger = Ledger(planned.summary.questions, MemoryLog())
    found = await published(planned, ledger, {"captionqa": frozenset({Source.CAPTION})})
    assert found[CAPTION_JOBS] == [("captionqa/nat_001", "-")]
    assert ("captionqa/nat_000", "it is green") in found[QA_JOBS]
    assert found[QA_JOBS].count(("captionqa/nat_001", "-")) == 1
    assert ("capability/scene/0001", "-") in found[JUDGE_JOBS]


async def test_a_sample_known_to_lack_its_caption_is_unscored_for_that_reason(
    planned: Planned,
) -> None:
    lacking = {"captionqa": {"nat_001": Failure(Reason.TIMEOUT, "away")}}
    found = [
        job
        async for job in RunJobs(SPEC.run_id, CODEC, CAPTIONS, lacking=lacking).of(
            planned.reader, {}
        )
        if job.message.topic == VERDICTS
    ]
    (message,) = (job.message for job in found)
    told = CODEC.read_verdicts(message.value)
    # Those about its picture are asked nevertheless.
    (item,) = (
        item for item in planned.items if item.sample == "nat_001" and item.source is Source.CAPTION
    )
    assert [verdict.index for verdict in told.verdicts] == [index for index, *_ in item.positions()]
    assert {verdict.outcome for verdict in told.verdicts} == {Unscored(Reason.TIMEOUT)}
    assert {verdict.evidence.explanation for verdict in told.verdicts} == {"away"}


async def test_the_checkpoint_is_asked_what_its_media_show(planned: Planned) -> None:
    ledger = Ledger(planned.summary.questions, MemoryLog())
    found = await published(planned, ledger, {"captionqa": frozenset({Source.MEDIA})})
    assert found[CAPTION_JOBS] == [("captionqa/nat_000", "-"), ("captionqa/nat_001", "-")]
    assert found[QA_JOBS] == [("captionqa/nat_000", "it is green"), ("captionqa/nat_001", "-")]
    assert found[JUDGE_JOBS].count(("capability/scene/0000", "-")) == 1


async def test_a_finished_run_publishes_nothing(planned: Planned) -> None:
    assert await published(planned, a_ledger(planned)) == {
        CAPTION_JOBS: [], JUDGE_JOBS: [], QA_JOBS: []
    }  # fmt: skip


async def test_resuming_publishes_the_job_of_each_missing_index(planned: Planned) -> None:
    for item in planned.items:
        for index, _, _ in item.positions():
            found = await published(planned, a_ledger(planned, index))
            told = [key for topic in found.values() for key, _ in topic]
            assert told == [f"{item.benchmark}/{item.sample}"]


@pytest.mark.parametrize("reason", Reason)
async def test_passing_trouble_is_asked_again(planned: Planned, reason: Reason) -> None:
    found = await published(planned, a_ledger(planned, at_0=reason))
    passing = reason in (
        Reason.BACKEND,
        Reason.TIMEOUT,
        Reason.INTERNAL,
        Reason.BUDGET,
        Reason.MEDIA_MISSING,
    )
    assert found[JUDGE_JOBS] == ([("capability/scene/0000", "a park")] if passing else [])


async def test_one_missing_item_of_a_job_publishes_the_whole_job() -> None:
    event, action = (
        Row(
            f"{task}.jsonl",
            1,
            {"task": task, "file_id": "1", "file_path": "1.mp4", "annotation": "runs"},
        )
        for task in ("event", "action")
    )
    run = runs.spec(runs.part("capability"))
    found = {"capability": runs.sources([event, action], {"event/1": "runs"})}
    planned = await runs.planned(run, found, MemoryStore())
    (members,) = jobs(planned.items)
    assert len(members) == 2
    for unknown in (0, 1):
        told = await published(planned, a_ledger(planned, unknown))
        assert told[JUDGE_JOBS] == [("capability/event/1", "-")]


def an_item(benchmark: str, sample: str, key: str, source: Source = Source.CAPTION) -> Item:
    return Item(benchmark, key, sample, sample, (), (Question(0, None),), source)


def test_items_of_one_sample_and_source_are_one_job() -> None:
    event = an_item("capability", "event/1", "event/1")
    action = an_item("capability", "event/1", "action/1")
    asked = an_item("capability", "event/1", "qa/event/1", Source.MEDIA)
    namesake = an_item("captionqa", "event/1", "event/1")
    assert list(jobs([event, asked, action, namesake])) == [(event, action), (asked,), (namesake,)]
