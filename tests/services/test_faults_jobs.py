"""Messages that are foul, twice there or deadly, and a model that hangs: no run notices.

On real Kafka and MinIO, with every service a process of its own.
"""

import asyncio
import uuid
from collections import Counter
from typing import Any

from aiohttp import web
from tests.fakes.chat_server import ChatServer
from tests.fakes.command import Command
from tests.fakes.groups import members
from tests.fakes.kafka_streams import records
from tests.fakes.opinions import steadfast
from tests.fakes.separate import ENDS_WITHIN, IN_FLIGHT, STAGES, Ground, Installation
from tests.fakes.separate import installation as installed
from tests.fakes.small_runs import example

from caliper.adapters.streams.kafka import KafkaStream
from caliper.core.dead_letters import DEAD_LETTERS
from caliper.core.envelopes import Message
from caliper.core.run import RunState
from caliper.pipeline.planning.publisher import JOB_TOPICS, JUDGE_JOBS, RUNS, VERDICTS

MIDDLE = 12


async def test_a_model_that_hangs_costs_nobody_the_membership(ground: Ground) -> None:
    config = example()
    known, hung, gone_on = set[str](), Counter[str](), asyncio.Event()

    async def hanging(
        server: ChatServer, request: web.Request, body: dict[str, Any]
    ) -> web.StreamResponse:
        # The first call with a schema is answered: others wait for its reply, and would time out
        # at the moment at which they are sent.
        schema = str(body.get("response_format"))
        if schema in known and hung.total() < IN_FLIGHT:
            hung[str(body["messages"])] += 1
            await asyncio.Event().wait()
        known.add(schema)
        if hung.total() == IN_FLIGHT:
            gone_on.set()
        return await steadfast(server, request, body)

    chats = {kind: ChatServer(otherwise=steadfast) for kind in STAGES}
    chats["judge"].otherwise = hanging
    # A call lasts three times as long as a session: only polling keeps the membership. Both are
    # long, so that a busy machine loses neither a reply nor a session.
    async with installed(ground, chats, timeout="15", kafka_session="5") as there:
        before = await members(ground.kafka, JUDGE_JOBS, 1)
        run = await there.begin(config)
        async with asyncio.timeout(ENDS_WITHIN):
            await gone_on.wait()
        assert await members(ground.kafka, JUDGE_JOBS, 1) == before
        calls = await there.same_as_alone(run, config)
    prompts = [str(each.body["messages"]) for each in chats["judge"].requests]
    ours = calls["judge"].asked
    asked, needed = Counter(prompts[:ours]), Counter(prompts[ours:])
    # Given up once each, asked once more each, and redelivered to nobody.
    assert {prompt: asked[prompt] - needed[prompt] for prompt in hung} == hung
    assert hung.total() == IN_FLIGHT


async def test_everything_twice(there: Installation) -> None:
    config = example()
    run, same = await asyncio.gather(*(there.begin(config) for _ in range(2)))
    assert run == same
    await there.asked("judge", MIDDLE)
    await there.asked("qa_reader", 1)
    stream = KafkaStream(there.ground.kafka)
    for topic in (*JOB_TOPICS, VERDICTS, RUNS):
        twice = [
            record.message
            for record in await records(there.ground.kafka, topic)
            if run in record.message.key
        ]
        assert twice, topic
        for message in twice:
            await stream.publish(message)
    await stream.close()
    calls = await there.same_as_alone(run, config)
    assert all(asked == needed for asked, needed in calls.values()), calls


async def test_equal_runs_at_once_ask_no_more_than_one_of_them(ground: Ground) -> None:
    # A judge that loses its membership loses what it has not written, and another asks again.
    session = {"kafka_session": "10"}
    chats = {kind: ChatServer(delay=0.1, otherwise=steadfast) for kind in STAGES}
    async with installed(ground, chats, **session) as there:
        await there.another("judge", "judge-2", **session)
        await members(ground.kafka, JUDGE_JOBS, 2)
        configs = [example(), example(name="another")]
        runs = await asyncio.gather(*map(there.begin, configs))
        assert len(set(runs)) == 2
        ended = await asyncio.gather(*map(there.over, runs))
        assert {each.state for each in ended} == {RunState.COMPLETE}
        calls = await there.same_as_alone(runs[0], configs[0])
    assert all(asked == needed for asked, needed in calls.values()), calls


async def test_poison_is_put_aside_and_explained(there: Installation) -> None:
    config = example("comprecap")
    run = await there.begin(config)
    await there.asked("qa_reader", 1)
    stream = KafkaStream(there.ground.kafka)
    unknown, mark = uuid.uuid4().hex[:16], f"poison-{uuid.uuid4()}"
    for topic in (*JOB_TOPICS, VERDICTS, RUNS):
        found = await records(there.ground.kafka, topic)
        real = next(one.message.value for one in found if run in one.message.key)
        # The last value of a field is the one that counts.
        newer = real + b"\x08\xff\x7f"
        stranger = real.replace(run.encode(), unknown.encode())
        malformed = real.replace(run.encode(), run.upper().encode()[:-1] + b"X")
        poisons = {
            "bytes": b"\xff\xff", "newer": newer, "unknown": stranger, "malformed": malformed,
        }  # fmt: skip
        for kind, value in poisons.items():
            await stream.publish(Message(topic, f"{mark}/{kind}", value))
    # Nobody put this aside: it is no letter, and in nobody's way.
    await stream.publish(Message(DEAD_LETTERS, f"{run}/stray", b"\xff\xff"))
    await stream.close()
    calls = await there.same_as_alone(run, config)
    assert all(asked == needed for asked, needed in calls.values()), calls
    letters = [
        one.message
        for one in await records(there.ground.kafka, DEAD_LETTERS)
        if one.message.key.startswith(mark)
    ]
    told = {
        (one.headers["origin"], one.key.rpartition("/")[2], one.headers["error"].split(":")[0])
        for one in letters
    }
    errors = {
        "bytes": "InvalidInput", "newer": "NewerSchema", "unknown": "NotFound",
        "malformed": "NotFound",
    }  # fmt: skip
    assert told == {(topic, kind, error) for topic in JOB_TOPICS for kind, error in errors.items()}
    assert len(letters) == len(told)


async def test_a_job_that_kills_its_worker_is_put_aside(there: Installation) -> None:
    config = example()
    deadly, arrived = [""], asyncio.Event()
    killed = 0

    async def killing(
        server: ChatServer, request: web.Request, body: dict[str, Any]
    ) -> web.StreamResponse:
        said = str(body["messages"])
        deadly[0] = deadly[0] or said
        if said == deadly[0]:
            arrived.set()
            await asyncio.Event().wait()
        return await steadfast(server, request, body)

    async def undertaker() -> None:
        nonlocal killed
        while True:
            await arrived.wait()
            arrived.clear()
            await there.kill("judge")
            killed += 1
            await there.again("judge")

    there.chats["judge"].from_now_on(killing)
    digging = asyncio.create_task(undertaker())
    run = await there.begin(config)
    (lost, whole) = [part.coverage.unscored for part in (await there.over(run)).benchmarks]
    assert lost["internal"] == 1
    assert "internal" not in whole
    digging.cancel()
    there.chats["judge"].from_now_on(steadfast)
    # The innocent jobs beside it were never put aside.
    (dead,) = await there.letters(run)
    assert (dead.error_class, dead.headers["crashes"]) == ("CaliperError", "12")
    # Sent once more to a judge that lives, it heals the run.
    kafka = there.ground.kafka
    replay = ("dead-letters", "replay", dead.name, "--kafka", kafka.servers)
    command = Command(there.ground.folder, {"CALIPER_KAFKA_PREFIX": kafka.prefix})
    await asyncio.to_thread(command, *replay, code=0)
    calls = await there.same_as_alone(run, config, [dead])
    for stage, (asked, needed) in calls.items():
        again = killed * IN_FLIGHT if stage == "judge" else 0
        assert needed <= asked <= needed + again
