"""The course of the thirty checkpoints: delivered, evaluated by a loop that is killed, recorded."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.fakes.announcing_bucket import TOPIC, announcing_bucket
from tests.servers.components import KAFKA, TRITON
from tests.servers.triton_server import models_of
from tritonclient.utils import InferenceServerException

from bench.thirty.captioner import Quality
from bench.thirty.evaluation import (
    ENDED,
    SUITE,
    RealServers,
    SuiteEvaluation,
    command,
    evaluation,
    install_model,
    left_behind,
    open_to_all,
    revision_of,
)
from bench.thirty.questions import ColourQuestions, Judge
from bench.thirty.schedule import Schedule
from caliper.adapters.streams.kafka_access import KafkaAccess
from caliper.adapters.streams.kafka_log import KafkaLog

_START_SECONDS = 30
_LOOK_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class Course:
    """What was recorded. `entries` are those of the suite, `seconds` from the first start of each
    to its end, `again` calls that were made twice, `line` the moments of the last checkpoint in
    seconds after its object was put, `left` what was left behind, `failures` ends of the loop by
    itself, `calls` all that the judge had.
    """

    entries: list[dict[str, Any]]
    seconds: dict[str, float]
    again: dict[str, int]
    ended: dict[str, list[str]]
    line: dict[str, float]
    left: list[str]
    failures: list[str]
    kills: int
    total_seconds: float
    calls: int = 0


@contextmanager
def real_servers(folder: Path, benchmark: ColourQuestions) -> Iterator[RealServers]:
    """Kafka, Triton and MinIO, started here."""
    places = {component.name: folder / component.name.lower() for component in (KAFKA, TRITON)}
    for place in places.values():
        place.mkdir()
    kafka, address = KAFKA.start(places[KAFKA.name])
    try:
        triton, target = TRITON.start(places[TRITON.name])
        try:
            install_model(models_of(triton), benchmark, folder)
            with announcing_bucket(KafkaAccess(address), folder / "minio") as bucket:
                open_to_all(bucket)
                yield RealServers(bucket, target, models_of(triton))
        finally:
            triton.stop()
    finally:
        kafka.stop()


async def follow(
    servers: RealServers, folder: Path, schedule: Schedule, kill_seconds: float, flips: float
) -> Course:
    """Deliver everything, and wait for what is told of it. The loop is killed after random times,
    of this mean.
    """
    judge, clock = Judge(flips), asyncio.get_running_loop()
    # What they gain or lose was set against the first.
    suite = {"baseline": f"pinned:{revision_of(schedule.qualities[0])}"}
    async with evaluation(servers, folder, judge, suite) as there:
        await there.apply(start=_START_SECONDS, silence=60, use=3600)
        begun = clock.time()
        there.begin()
        killing = asyncio.create_task(_kill(there, kill_seconds))
        await _deliver(there, schedule)
        for each in schedule.qualities[:-1]:
            await there.until(each.name)
        killing.cancel()
        await asyncio.gather(killing, return_exceptions=True)
        line = await _time_line(there, schedule.last)
        total = clock.time() - begun
        await there.end()
        left = [*left_behind(folder), *(["a model in Triton"] if await there.is_loaded() else [])]
        entries = await command(folder, "checkpoint", "list")
        ended: dict[str, list[str]] = {}
        for name, kind in there.told:
            ended.setdefault(name, []).extend([kind] if kind in ENDED else [])
        kills, failures = there.loop.kills, there.loop.failures
        spans = {name: _seconds(there, name) for name in ended}
        return Course(
            entries, spans, judge.again, ended, line, left, failures, kills, total, judge.calls
        )


async def _deliver(there: SuiteEvaluation, schedule: Schedule) -> None:
    for delivery in schedule.deliveries:
        await asyncio.sleep(delivery.pause)
        await there.deliver(delivery.quality)
        print(f"  delivered {delivery.quality.name}", flush=True)
    await there.until(schedule.vanishes.name, frozenset({"registered"}))
    await there.remove(schedule.vanishes)


async def _kill(there: SuiteEvaluation, mean: float) -> None:
    draw = random.Random(0)
    while True:
        await asyncio.sleep(draw.uniform(0.2 * mean, 1.8 * mean))
        there.loop.kill()
        print(f"  killed while {there.judge.about} was evaluated", flush=True)


def _seconds(there: SuiteEvaluation, name: str) -> float:
    started = there.told.get((name, "started"))
    ended = [there.told[name, kind] for kind in ENDED if (name, kind) in there.told]
    return max(ended) - started if started is not None and ended else 0.0


async def _time_line(there: SuiteEvaluation, quality: Quality) -> dict[str, float]:
    """The moments of a checkpoint that comes when nothing else is to be done."""
    clock, line = asyncio.get_running_loop(), dict[str, float]()
    looking = [
        asyncio.create_task(_announced(there, quality, line)),
        asyncio.create_task(_loaded(there, line)),
    ]
    # The reader of the topic has to be there first.
    await asyncio.sleep(3)
    await there.deliver(quality)
    put = there.delivered[quality.name]
    await there.until(quality.name)
    line["webhook received"] = max(
        at for (name, kind), at in there.told.items() if name == quality.name and kind in ENDED
    )
    while True:
        points = await command(there.folder, "trend", SUITE)
        if any(each["checkpoint"]["name"] == quality.name for each in points):
            break
    line["point in `caliper trend`"] = clock.time()
    for task in looking:
        task.cancel()
    await asyncio.gather(*looking, return_exceptions=True)
    for event in there.events:
        if event.name == quality.name:
            line.setdefault(event.event, event.at)
    line["first question"] = there.judge.first[quality.name]
    line["last question"] = there.judge.last
    return dict(sorted(((name, at - put) for name, at in line.items()), key=lambda each: each[1]))


async def _announced(there: SuiteEvaluation, quality: Quality, line: dict[str, float]) -> None:
    async for record in KafkaLog(there.servers.bucket.kafka).read(TOPIC, {}):
        value = record.message.value
        if isinstance(value, bytes) and quality.name.replace("=", "%3D") in value.decode():
            line["announced in Kafka"] = asyncio.get_running_loop().time()
            return


async def _loaded(there: SuiteEvaluation, line: dict[str, float]) -> None:
    is_there = False
    while not is_there:
        await asyncio.sleep(_LOOK_SECONDS)
        # It may not answer while it loads.
        with suppress(InferenceServerException):
            is_there = await there.is_loaded()
    line["loaded in Triton"] = asyncio.get_running_loop().time()
