from dataclasses import replace

import pytest

from caliper.adapters.streams.memory import MemoryStream
from caliper.adapters.wire.identity_codec import IdentityCodec
from caliper.core.dead_letters import DEAD_LETTERS
from caliper.core.envelopes import Message
from caliper.core.errors import InvalidInput
from caliper.core.messages import PlanJob
from caliper.pipeline.gateway.dead_letters import LetterFilter, find_letters, read_job, replay
from caliper.pipeline.planning.publisher import JUDGE_JOBS, PLAN_JOBS
from caliper.ports.stream import Consumer

RUN, OTHER = "a" * 16, "b" * 16


@pytest.fixture
def stream() -> MemoryStream:
    return MemoryStream(logs=(DEAD_LETTERS,))


async def bury(stream: MemoryStream, message: Message, error: str) -> Consumer:
    """Put a message aside; returns the consumer, to see what comes back."""
    consumer = stream.consumer(message.topic, "workers")
    await stream.publish(message)
    delivery = await consumer.receive()
    assert delivery is not None
    await consumer.dead_letter(delivery, error)
    return consumer


def job(topic: str = JUDGE_JOBS, run: str = RUN, value: bytes = b"job") -> Message:
    return Message(topic, f"{run}/capability/one", value, {"schema": "1"})


async def test_without_dead_letters_there_are_none(stream: MemoryStream) -> None:
    assert await find_letters(stream) == []
    with pytest.raises(InvalidInput, match="0-7"):
        await find_letters(stream, LetterFilter(names=("0-7",)))


async def test_a_job_comes_back_once_as_it_was(stream: MemoryStream) -> None:
    workers = await bury(stream, job(), "BackendTimeout: 30 s")
    found = await find_letters(stream)
    (letter,) = (kept.letter for kept in found)
    assert (letter.name, letter.run, letter.error_class) == ("0-0", RUN, "BackendTimeout")
    assert letter.headers["attempts"] == "1"
    assert (letter.headers["origin-partition"], letter.headers["origin-offset"]) == ("0", "0")
    done = await replay(stream, found)
    assert done == [replace(found[0], replayed=True)]
    again = await workers.receive()
    assert again is not None
    assert again.message == job()
    assert await find_letters(stream) == done
    assert await replay(stream, await find_letters(stream)) == []


async def test_a_job_that_fails_again_is_a_new_letter(stream: MemoryStream) -> None:
    workers = await bury(stream, job(), "BackendTimeout: 30 s")
    await replay(stream, await find_letters(stream))
    again = await workers.receive()
    assert again is not None
    await workers.dead_letter(again, "InvalidInput: no")
    letters = await find_letters(stream)
    assert [(kept.letter.error_class, kept.replayed) for kept in letters] == [
        ("BackendTimeout", True),
        ("InvalidInput", False),
    ]


async def test_letters_are_chosen_by_run_error_and_name(stream: MemoryStream) -> None:
    await bury(stream, job(), "BackendTimeout: 30 s")
    await bury(stream, job(run=OTHER), "BackendTimeout: 30 s")
    await bury(stream, job(), "InvalidInput: no")

    async def chosen(which: LetterFilter) -> list[str]:
        return [kept.letter.name for kept in await find_letters(stream, which)]

    assert await chosen(LetterFilter()) == ["0-0", "0-1", "0-2"]
    assert await chosen(LetterFilter(run=RUN)) == ["0-0", "0-2"]
    assert await chosen(LetterFilter(error="BackendTimeout")) == ["0-0", "0-1"]
    assert await chosen(LetterFilter(names=("0-1", "0-2"), run=RUN)) == ["0-2"]


async def test_what_came_from_no_topic_of_jobs_stays(stream: MemoryStream) -> None:
    await bury(stream, job(), "BackendTimeout: 30 s")
    await bury(stream, job(topic="verdicts"), "InvalidInput: no")
    with pytest.raises(InvalidInput, match="verdicts"):
        await replay(stream, await find_letters(stream))
    assert not any(kept.replayed for kept in await find_letters(stream))


async def test_a_job_is_read_by_its_topic(stream: MemoryStream) -> None:
    codec = IdentityCodec()
    planning = Message(PLAN_JOBS, f"{RUN}/plan", codec.write(PlanJob(RUN)))
    await bury(stream, planning, "NotFound: no run")
    await bury(stream, job(), "InvalidInput: no job")
    plan, broken = (kept.letter for kept in await find_letters(stream))
    assert read_job(plan, codec) == PlanJob(RUN)
    with pytest.raises(InvalidInput):
        read_job(broken, codec)
