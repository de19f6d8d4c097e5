import asyncio
import json
from pathlib import Path

import pytest
from tests.fakes.command import Command
from tests.servers.process import free_ports

from caliper.adapters.streams.kafka import KafkaStream
from caliper.adapters.streams.kafka_access import KafkaAccess
from caliper.adapters.streams.kafka_topics import apply_topics
from caliper.adapters.wire.protobuf_codec import ProtobufCodec
from caliper.core.envelopes import Delivery, Message
from caliper.core.messages import PlanJob
from caliper.pipeline.planning.publisher import JUDGE_JOBS, PLAN_JOBS

RUN = "a" * 16
ERROR = "NotFound: no run [a] of 5"


async def taken(stream: KafkaStream, topic: str) -> Delivery:
    """The next job of the workers, which stays with the group."""
    consumer = stream.consumer(topic, topic)
    delivery = await consumer.receive()
    assert delivery is not None
    await consumer.acknowledge(delivery)
    await consumer.leave()
    return delivery


async def bury(kafka: KafkaAccess, messages: list[Message]) -> None:
    """Publish each message, and put it aside as a worker does."""
    stream = KafkaStream(kafka)
    for message in messages:
        await stream.publish(message)
        consumer = stream.consumer(message.topic, message.topic)
        delivery = await consumer.receive()
        assert delivery is not None
        await consumer.dead_letter(delivery, ERROR)
        await consumer.leave()
    await stream.close()


async def next_job(kafka: KafkaAccess, topic: str) -> Message:
    stream = KafkaStream(kafka)
    delivery = await taken(stream, topic)
    await stream.close()
    return delivery.message


def test_letters_are_listed_shown_and_put_back_once(tmp_path: Path, kafka: KafkaAccess) -> None:
    caliper = Command(tmp_path, {"CALIPER_KAFKA_PREFIX": kafka.prefix})
    apply_topics(kafka, partitions=1)
    there = ("--kafka", kafka.servers)
    assert caliper("dead-letters", "list", *there, code=0).out == "No dead letters.\n"
    planning = Message(PLAN_JOBS, f"{RUN}/plan", ProtobufCodec().write(PlanJob(RUN)))
    # A sample of somebody's broken JSON: UTF-8 cannot write it.
    broken = Message(JUDGE_JOBS, f"{RUN}/capability/one\ud800", b"\xff", {"schema": "9"})
    asyncio.run(bury(kafka, [planning, broken]))

    first, second = caliper("dead-letters", "list", *there, "--json", code=0).told
    assert (first["letter"], first["run"], first["from"]) == ("0-0", RUN, "plan-jobs/0/0")
    assert (first["error"], first["error_class"]) == (ERROR, "NotFound")
    assert (first["attempts"], first["replayed"]) == (1, False)
    assert ERROR in caliper("dead-letters", "list", *there, code=0).out
    shown = caliper("dead-letters", "show", "0-1", *there, "--json", code=0).told
    assert shown == second | {"job": shown["job"]}
    assert shown["job"]["bytes"] == 1
    assert "unreadable" in shown["job"]
    assert shown["key"] == broken.key
    assert "capability/one\\ud800\n" in caliper("dead-letters", "show", "0-1", *there, code=0).out
    assert ERROR in caliper("dead-letters", "show", "0-0", *there, code=0).out

    replay = ("dead-letters", "replay", *there, "--json")
    assert "--all" in caliper(*replay, code=2).err
    assert "0-9" in caliper(*replay, "0-9", code=2).err
    replayed = caliper(*replay, "0-1", code=0)
    assert replayed.told == {"replayed": ["0-1"], "before": []}
    (line,) = map(json.loads, replayed.err.splitlines())
    assert (line["method"], line["object"]) == ("caliper dead-letters replay", "0-1")
    assert asyncio.run(next_job(kafka, JUDGE_JOBS)) == broken
    assert caliper(*replay, "--all", code=0).told == {"replayed": ["0-0"], "before": ["0-1"]}
    assert asyncio.run(next_job(kafka, PLAN_JOBS)) == planning
    everything = {"replayed": [], "before": ["0-0", "0-1"]}
    nothing_left = caliper(*replay, "--run", RUN, code=0)
    assert (nothing_left.told, nothing_left.err) == (everything, "")
    listed = caliper("dead-letters", "list", *there, "--error", "NotFound", "--json", code=0)
    assert [letter["replayed"] for letter in listed.told] == [True, True]


@pytest.mark.parametrize("command", ["list", "replay"])
def test_a_broker_that_is_not_there_is_trouble_outside(caliper: Command, command: str) -> None:
    nobody = f"127.0.0.1:{free_ports(1)[0]}"
    choice = ["--all"] if command == "replay" else []
    caliper("dead-letters", command, "--kafka", nobody, *choice, code=4)


@pytest.mark.parametrize("chosen", [("0-0",), ("--run", "0" * 16), ("--error", "BackendTimeout")])
def test_all_goes_with_no_choice(caliper: Command, chosen: tuple[str, ...]) -> None:
    ended = caliper("dead-letters", "replay", "--all", *chosen, "--kafka", "127.0.0.1:1", code=2)
    assert "--all cannot be combined with letters" in ended.err
