"""Jobs that nobody could do: counted, explained, and healed by putting them back.

On real Kafka and MinIO, with every service a process of its own.
"""

import asyncio
import json
from dataclasses import replace
from typing import Any

from tests.fakes.chat_server import ChatServer, status
from tests.fakes.command import Command
from tests.fakes.groups import members
from tests.fakes.kafka_streams import records
from tests.fakes.opinions import steadfast
from tests.fakes.separate import ENDS_WITHIN, IN_FLIGHT, SERVICES, STAGES, Ground, Installation
from tests.fakes.separate import installation as installed
from tests.fakes.small_runs import example

from caliper.adapters.streams.kafka import KafkaStream
from caliper.adapters.wire.protobuf_codec import ProtobufCodec
from caliper.core.dead_letters import DEAD_LETTERS, Letter
from caliper.core.run import RunState
from caliper.pipeline.gateway.dead_letters import read_job
from caliper.pipeline.planning.publisher import CAPTION_JOBS, JUDGE_JOBS, QA_JOBS, RUNS, VERDICTS
from caliper.pipeline.reports.verdict_query import VerdictQuery

MIDDLE = 12
# How often the model of a stage answers before it fails: for most of a run.
ANSWERS = {"judge": 100, "captioner": 20, "qa_reader": 100}


async def test_two_judges_that_join_and_leave(there: Installation) -> None:
    config = example()
    run = await there.begin(config)
    await there.asked("judge", MIDDLE)
    await there.another("judge", "judge-2")
    await there.asked("judge", 2 * MIDDLE)
    await there.stop("judge")
    await there.asked("judge", 3 * MIDDLE)
    await there.again("judge")
    await there.asked("judge", 4 * MIDDLE)
    await there.kill("judge-2")
    calls = await there.same_as_alone(run, config)
    # In flight where partitions moved: at two arrivals and one death.
    assert calls["judge"].needed <= calls["judge"].asked <= calls["judge"].needed + 3 * IN_FLIGHT
    for stage in ("captioner", "qa_reader"):
        assert calls[stage].asked == calls[stage].needed


async def test_a_fault_that_outlasts_the_retries_is_counted_and_heals(ground: Ground) -> None:
    config = example()
    chats = {
        stage: ChatServer([steadfast] * count, otherwise=status(503))
        for stage, count in ANSWERS.items()
    }
    async with installed(ground, chats, retry_budget="1") as there:
        run = await there.begin(config)
        ended = await there.over(run)
        assert (ended.state, await _state(there, run)) == (RunState.FINISHED, "finished")
        for part in ended.benchmarks:
            found = part.coverage
            assert found.scored + sum(found.unscored.values()) == found.planned
        letters = await there.letters(run)
        assert {letter.job.topic for letter in letters} == {CAPTION_JOBS, JUDGE_JOBS, QA_JOBS}
        assert {letter.error_class for letter in letters} == {"BackendUnavailable"}
        assert await _lost(there, run) == {_about(letter) for letter in letters}
        await _twice(there, run)
        for chat in chats.values():
            chat.from_now_on(steadfast)
        replayed, before = await _replay(there, run)
        assert (len(replayed), before) == (2 * len(letters), [])
        # A letter is put back once, however often that is asked for.
        assert await _replay(there, run) == ([], replayed)
        await there.same_as_alone(run, config, await there.letters(run))
        assert await _state(there, run) == "complete"


async def test_an_older_judge_puts_the_jobs_of_a_newer_one_aside(ground: Ground) -> None:
    config = example()
    tomorrow = {kind: ("tests.fakes.tomorrow", kind) for kind in SERVICES}
    ground = replace(ground, modules=tomorrow)
    chats = {stage: ChatServer(delay=0.1, otherwise=steadfast) for stage in STAGES}
    async with ChatServer() as asked_by_older, installed(ground, chats) as there:
        await there.another("judge", "older", model=f"tgi:{asked_by_older.url}")
        # Both have their share of the jobs.
        await members(ground.kafka, JUDGE_JOBS, 2)
        run = await there.begin(config)
        await there.asked("judge", 1)
        async with asyncio.timeout(ENDS_WITHIN):
            while not await there.letters(run):  # noqa: ASYNC110 - in another process
                await asyncio.sleep(0.1)
        await there.stop("older")
        letters = await there.letters(run)
        assert {letter.job.topic for letter in letters} == {JUDGE_JOBS}
        for letter in letters:
            assert letter.error_class == "NewerSchema"
            assert "schema 2 by a newer Caliper; this one reads up to 1" in letter.error
        assert (await there.gateway.get(run)).state is RunState.RUNNING
        replayed, _ = await _replay(there, run)
        assert len(replayed) == len(letters)
        calls = await there.same_as_alone(run, config, letters)
    assert asked_by_older.requests == []
    assert all(asked == needed for asked, needed in calls.values()), calls


async def _replay(there: Installation, run: str) -> tuple[list[str], list[str]]:
    """`caliper dead-letters replay`: the letters put back now, and those put back before."""
    wanted = ("--run", run, "--kafka", there.ground.kafka.servers, "--json")
    command = Command(there.ground.folder, {"CALIPER_KAFKA_PREFIX": there.ground.kafka.prefix})
    told: dict[str, Any] = (
        await asyncio.to_thread(command, "dead-letters", "replay", *wanted, code=0)
    ).told
    return told["replayed"], told["before"]


async def _state(there: Installation, run: str) -> str:
    state: str = json.loads(await there.report(run))["state"]
    return state


async def _twice(there: Installation, run: str) -> None:
    """Publish everything about the run once more, its dead letters too."""
    stream = KafkaStream(there.ground.kafka)
    for topic in (DEAD_LETTERS, RUNS, VERDICTS):
        for record in await records(there.ground.kafka, topic):
            if run in record.message.key:
                await stream.publish(record.message)
    await stream.close()


async def _lost(there: Installation, run: str) -> set[tuple[str, str]]:
    """(benchmark, sample) of all that is unscored because of a backend."""
    lost, token = set(), ""
    while True:
        rows, token = await there.gateway.verdicts(run, VerdictQuery(size=1000, token=token))
        lost |= {(row.benchmark, row.sample) for row in rows if row.reason == "backend"}
        if not token:
            return lost


def _about(letter: Letter) -> tuple[str, str]:
    job = read_job(letter, ProtobufCodec())
    return job.benchmark, job.sample
