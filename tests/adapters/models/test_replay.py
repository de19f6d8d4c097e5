from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, cast

import pytest

from caliper.adapters.models.replay import RecordedReplies, ReplayAnswerer, record
from caliper.benchmarks.base import RecordKey
from caliper.benchmarks.benchmark import Benchmark
from caliper.core.errors import InvalidInput
from caliper.core.outcome import Reason
from caliper.core.question import Ask, Failure, Item, Question, Reply, Source
from caliper.core.rows import Row


class RecordedBenchmark:
    """The part of a benchmark that has to do with recordings: rows {item, repeat, reply}."""

    def read_replies(self, rows: Iterable[Row], source: Source) -> Iterator[tuple[RecordKey, str]]:
        for row in rows:
            key = (str(source), row.text("item"), str(row.fields.get("repeat", 0)))
            yield key, row.fields["reply"]

    def record_key(self, item: Item, question: Question[Any], repeat: int) -> RecordKey:
        return (str(item.source), item.key, str(repeat))


BENCHMARK = cast("Benchmark", RecordedBenchmark())
ROWS = [
    Row("replies/scene.jsonl", 1, {"item": "scene/1", "reply": '{"score": 1}'}),
    Row("replies/scene.jsonl", 2, {"item": "scene/2", "reply": "rubbish"}),
    Row("replies/scene.jsonl", 4, {"item": "scene/1", "repeat": 1, "reply": ""}),
]


def ask(item: str = "scene/1", benchmark: str = "capability", repeat: int = 0) -> Ask:
    question: Question[None] = Question(0, None, repeats=2)
    found = Item(benchmark, item, item, "a.jpg", ("a.jpg",), (question,))
    return Ask(found, question, repeat, "capability/scene", {})


def recording(digest: str = "d1") -> RecordedReplies:
    return record(BENCHMARK, ROWS, Source.CAPTION, digest)


@pytest.fixture
def replay() -> ReplayAnswerer:
    return ReplayAnswerer({"capability": recording()})


async def test_a_reply_is_given_as_it_was_recorded(replay: ReplayAnswerer) -> None:
    assert await replay.answer(ask()) == Reply('{"score": 1}')
    assert await replay.answer(ask(repeat=1)) == Reply("")
    await replay.close()


async def test_a_question_asked_once_more_gets_the_same_reply(replay: ReplayAnswerer) -> None:
    again = replace(ask("scene/2"), attempt=1)
    assert await replay.answer(again) == await replay.answer(ask("scene/2")) == Reply("rubbish")


async def test_what_was_not_recorded_is_no_reply(replay: ReplayAnswerer) -> None:
    missing = await replay.answer(ask("scene/3"))
    assert missing == Failure(
        Reason.NO_REPLY, "no recorded reply for capability / caption / scene/3 / 0"
    )
    assert isinstance(await replay.answer(ask(repeat=2)), Failure)


async def test_a_benchmark_without_a_recording_has_no_replies(replay: ReplayAnswerer) -> None:
    answer = await replay.answer(ask(benchmark="comprecap"))
    assert answer == Failure(Reason.NO_REPLY, "no recorded replies for comprecap")


async def test_one_answerer_serves_several_benchmarks() -> None:
    other = record(
        BENCHMARK, [Row("r.jsonl", 1, {"item": "scene/1", "reply": "5"})], Source.CAPTION, "d2"
    )
    replay = ReplayAnswerer({"capability": recording(), "comprecap": other})
    assert await replay.answer(ask()) == Reply('{"score": 1}')
    assert await replay.answer(ask(benchmark="comprecap")) == Reply("5")


def test_two_replies_to_one_question_are_refused_where_the_second_stands() -> None:
    rows = [*ROWS, Row("replies/more.jsonl", 7, {"item": "scene/2", "reply": "other"})]
    with pytest.raises(InvalidInput) as caught:
        record(BENCHMARK, rows, Source.CAPTION, "d1")
    assert (caught.value.file, caught.value.line) == ("replies/more.jsonl", 7)
    assert caught.value.message == "a second recorded reply for caption / scene/2 / 0"


def test_the_identity_is_that_of_the_recorded_files() -> None:
    def revision(**digests: str) -> str:
        held = {name: recording(digest) for name, digest in digests.items()}
        return ReplayAnswerer(held).identity.revision

    identity = ReplayAnswerer({"capability": recording()}).identity
    assert (identity.kind, identity.name, identity.cached) == ("replay", "replay", False)
    named = ReplayAnswerer({"capability": recording()}, "gpt-4-turbo").identity
    assert (named.kind, named.name, named.revision) == ("replay", "gpt-4-turbo", identity.revision)
    assert identity.revision == revision(capability="d1")
    assert revision(capability="d1") != revision(capability="d2")
    assert revision(capability="d1", captionqa="d2") == revision(captionqa="d2", capability="d1")
    assert revision(capability="d1", captionqa="d2") != revision(capability="d2", captionqa="d1")
