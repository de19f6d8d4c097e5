"""Processes that die with messages in hand: who gets those, and which is charged."""

import asyncio
import os
import signal
import sys
from dataclasses import replace
from functools import partial

import pytest
from kafka import TopicPartition
from tests.fakes.fault_schedules import patient
from tests.fakes.kafka_streams import PATIENCE, hasty, new_topic, publish, received, streaming

from caliper.adapters.streams.kafka_access import KafkaAccess

# Receives so many messages, says where from, and settles none.
CONSUMER = """
import asyncio, sys
from caliper.adapters.streams.kafka import KafkaStream
from caliper.adapters.streams.kafka_access import KafkaAccess

async def main(servers, prefix, topic, count, session):
    access = KafkaAccess(servers, session=float(session), longest_pause=20.0, prefix=prefix)
    member = KafkaStream(access).consumer(topic, "judge")
    for _ in range(int(count)):
        delivery = await member.receive()
        print(delivery.message.value.decode(), delivery.crashes, flush=True)
    await asyncio.Event().wait()

asyncio.run(main(*sys.argv[1:]))
"""


async def started(
    access: KafkaAccess, topic: str, count: int, session: float = 3.0
) -> tuple[asyncio.subprocess.Process, list[str]]:
    """A process that has received so many messages, and what it said about them."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-W", "ignore", "-c", CONSUMER,
        access.servers, access.prefix, topic, str(count), str(session),
        stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None
    async with asyncio.timeout(PATIENCE):
        said = [(await process.stdout.readline()).decode().strip() for _ in range(count)]
    return process, said


async def kill(process: asyncio.subprocess.Process) -> None:
    os.kill(process.pid, signal.SIGKILL)
    await process.communicate()


async def test_what_a_killed_process_had_goes_to_another_member_one_at_a_time(
    kafka: KafkaAccess,
) -> None:
    topic = new_topic(kafka)
    async with streaming(hasty(kafka)) as stream:
        await publish(stream, topic, 3)
        process, said = await started(kafka, topic, 3)
        assert said == ["0 0", "1 0", "2 0"]
        await kill(process)
        member = stream.consumer(topic, "judge")
        for number in range(3):
            delivery = await received(member)
            assert (delivery.message.value, delivery.crashes) == (str(number).encode(), 0)
            beside = asyncio.create_task(member.receive())
            # Nothing may happen; nothing tells that it does not.
            await asyncio.sleep(0.3)
            assert beside.done() is False
            beside.cancel()
            await member.acknowledge(delivery)
        await member.leave()


async def test_workers_that_are_killed_again_and_again_do_not_always_die_with_the_same_job(
    kafka: KafkaAccess,
) -> None:
    topic = new_topic(kafka)
    async with streaming(hasty(kafka)) as stream:
        await publish(stream, topic, 4)
        for count, expected in ((3, ["0 0", "1 0", "2 0"]), (1, ["0 0"]), (1, ["1 0"])):
            process, said = await started(kafka, topic, count)
            assert said == expected
            await kill(process)
        member = stream.consumer(topic, "judge")
        crashes = {}
        for _ in range(4):
            delivery = await received(member)
            crashes[delivery.message.value] = delivery.crashes
            await member.acknowledge(delivery)
        # What no worker died with goes first.
        assert crashes == {b"2": 0, b"3": 0, b"0": 1, b"1": 1}
        assert list(crashes) == [b"2", b"3", b"0", b"1"]
        await member.leave()


async def test_a_job_that_was_alone_with_dying_processes_is_charged(kafka: KafkaAccess) -> None:
    topic = new_topic(kafka)
    async with streaming(hasty(kafka)) as stream:
        await publish(stream, topic, 1)
        for expected in ("0 0", "0 0", "0 1"):
            process, said = await started(kafka, topic, 1)
            assert said == [expected]
            await kill(process)
        member = stream.consumer(topic, "judge")
        killer = await received(member)
        assert (killer.message.value, killer.crashes) == (b"0", 2)
        await member.dead_letter(killer, "CaliperError: it killed its workers")
        await member.leave()


async def test_suspects_that_the_broker_dropped_do_not_hold_up_the_rest(kafka: KafkaAccess) -> None:
    topic = new_topic(kafka)
    async with streaming(hasty(kafka)) as stream:
        await publish(stream, topic, 2)
        process, _ = await started(kafka, topic, 2)
        await kill(process)
        admin = await asyncio.to_thread(kafka.admin)
        await asyncio.to_thread(
            admin.delete_records, {TopicPartition(kafka.full_name(topic), 0): 2}
        )
        await asyncio.to_thread(admin.close)
        member = stream.consumer(topic, "judge")
        waiting = asyncio.create_task(received(member))
        await publish(stream, topic, 1)
        delivery = await waiting
        assert (delivery.offset, delivery.crashes) == (2, 0)
        await member.acknowledge(delivery)
        await member.leave()


@pytest.mark.parametrize(("session", "theirs", "times"), [(6.0, 7.0, 0), (2.0, 12.0, 1)])
async def test_who_waits_for_a_dead_member_is_in_trouble_once_if_at_all(
    kafka: KafkaAccess,
    caplog: pytest.LogCaptureFixture,
    session: float,
    theirs: float,
    times: int,
) -> None:
    topic = new_topic(kafka)
    async with streaming(replace(hasty(kafka, patience=10.0), session=session)) as stream:
        await publish(stream, topic, 1)
        process, _ = await started(kafka, topic, 1, theirs)
        await kill(process)
        member = stream.consumer(topic, "judge")
        await patient(partial(received, member))
        assert member.trouble is None
        await member.leave()
    # Said whenever a trouble begins.
    assert caplog.text.count("does not answer") == times
