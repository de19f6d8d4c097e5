"""Random faults of a whole installation: a seed gives a list of timed actions."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field
from functools import partial
from random import Random
from typing import Any, NamedTuple, TypeVar

from aiohttp import web
from tests.fakes.chat_server import status
from tests.fakes.damage import DAMAGES
from tests.fakes.fault_evidence import TOPICS
from tests.fakes.full_storage import full_bucket, full_disk
from tests.fakes.kafka_streams import records
from tests.fakes.opinions import steadfast
from tests.fakes.separate import AGAIN, ENDS_WITHIN, SERVICES, STAGES, Installation
from tests.servers.process import ServerProcess

from caliper.adapters.streams.kafka import KafkaStream
from caliper.core.envelopes import Message
from caliper.core.errors import (
    BackendTimeout,
    BackendUnavailable,
    StoreUnavailable,
    StreamUnavailable,
)
from caliper.core.run import FINAL_STATES, RunState
from caliper.local.config import RunConfig
from caliper.pipeline.store.runs import run_store

SERVERS = ("kafka", "minio")
LASTS = 12.0
"""Seconds in which actions begin."""
MOST = 6
"""Actions of a schedule."""
_STARTS = 30
# What the aggregator reads for a report.
_DAMAGED = ("plan/0", "verdicts/", "captions/")
_OUTAGES = (BackendTimeout, BackendUnavailable, StoreUnavailable, StreamUnavailable)
_Answer = TypeVar("_Answer")


class Step(NamedTuple):
    """An action on a target, `at` seconds after the start of the run, `lasting` seconds."""

    at: float
    action: str
    target: str
    lasting: float
    seed: int

    def __str__(self) -> str:
        return f"{self.at:.1f} s {self.action} {self.target} for {self.lasting:.1f} s"


@dataclass
class Scene:
    """An installation, the servers below it, and the runs under test by their ids."""

    there: Installation
    servers: Mapping[str, ServerProcess]
    config: RunConfig
    runs: dict[str, RunConfig] = field(default_factory=dict)
    locks: dict[str, asyncio.Lock] = field(default_factory=lambda: defaultdict(asyncio.Lock))
    extra: int = 0
    refused: int = 0
    damages: int = 0

    def process(self, target: str) -> ServerProcess:
        return self.servers.get(target) or self.there.services[target]

    async def begin(self, config: RunConfig) -> None:
        """Start a run, or start it again."""
        self.runs[await patient(partial(self.there.begin, config))] = config

    async def finish(self, run: str) -> None:
        """Wait until the run is complete. Only damage may fail it: started again, it heals."""
        for left in reversed(range(self.damages + 1)):
            ended = await self.there.over(run)
            if ended.state is RunState.COMPLETE:
                return
            assert ended.state is RunState.FAILED, ended.state
            assert left, ended.error
            await self.begin(self.runs[run])

    async def perform(self, step: Step) -> None:
        await asyncio.sleep(step.at)
        # One thing at a time happens to a process; different ones overlap.
        async with self.locks[step.target]:
            await ACTIONS[step.action].perform(self, step)


async def patient(call: Callable[[], Awaitable[_Answer]]) -> _Answer:
    """The answer that a user gets who asks again during an outage."""
    async with asyncio.timeout(ENDS_WITHIN):
        while True:
            with suppress(*_OUTAGES):
                return await call()
            await asyncio.sleep(1)


async def _start(process: ServerProcess) -> None:
    """Start it as a supervisor does: once more if it ends, as it may while a server is away."""
    for _ in range(_STARTS):
        with suppress(RuntimeError):
            await asyncio.to_thread(process.start)
            return
        await asyncio.sleep(1)
    await asyncio.to_thread(process.start)


async def _kill(scene: Scene, step: Step) -> None:
    process = scene.process(step.target)
    await asyncio.to_thread(process.kill)
    await asyncio.sleep(step.lasting)
    await _start(process)


async def _term(scene: Scene, step: Step) -> None:
    process = scene.process(step.target)
    await asyncio.to_thread(process.stop)
    await asyncio.sleep(step.lasting)
    await _start(process)


async def _pause(scene: Scene, step: Step) -> None:
    pid = scene.process(step.target).pid
    os.kill(pid, signal.SIGSTOP)
    try:
        await asyncio.sleep(step.lasting)
    finally:
        os.kill(pid, signal.SIGCONT)


async def _fast_clock(scene: Scene, step: Step) -> None:
    usual = scene.there.services[step.target]
    command = [sys.executable, "-m", "tests.fakes.fast_clock", step.target]
    fast = ServerProcess(step.target, command, usual.log, usual.ready, usual.environment)
    await asyncio.to_thread(usual.stop)
    scene.there.services[step.target] = fast
    try:
        await _start(fast)
        await asyncio.sleep(step.lasting)
    finally:
        await asyncio.to_thread(fast.stop)
        scene.there.services[step.target] = usual
    await _start(usual)


async def _second(scene: Scene, step: Step) -> None:
    scene.extra += 1
    name = f"{step.target}-{scene.extra + 1}"
    await scene.there.another(step.target, name)
    await asyncio.sleep(step.lasting)
    process = scene.there.services.pop(name)
    await asyncio.to_thread(Random(step.seed).choice((process.kill, process.stop)))


async def _trouble(scene: Scene, step: Step) -> None:
    chat, trouble = scene.there.chats[step.target], status(503)

    async def refuse(*given: Any) -> web.StreamResponse:
        scene.refused += 1
        return await trouble(*given)

    chat.from_now_on(refuse)
    await asyncio.sleep(step.lasting)
    chat.from_now_on(steadfast)


async def _again(scene: Scene, step: Step) -> None:
    """Publish what the topics hold once more, in order or shuffled."""
    for topic in TOPICS:
        held = await patient(partial(records, scene.there.ground.kafka, topic))
        found = [one.message for one in held]
        if step.action == "reorder":
            Random(step.seed).shuffle(found)
        await _publish(scene, found)


async def _garbage(scene: Scene, step: Step) -> None:
    random = Random(step.seed)
    foul = (b"", b"\xff\xff", random.randbytes(200_000))
    await _publish(scene, [Message(each, "garbage", value) for each in TOPICS for value in foul])


async def _publish(scene: Scene, messages: list[Message]) -> None:
    stream = KafkaStream(scene.there.ground.kafka)
    try:
        async with asyncio.TaskGroup() as group:
            for message in messages:
                group.create_task(patient(partial(stream.publish, message)))
    finally:
        await stream.close()


async def _damage(scene: Scene, step: Step) -> None:
    """Spoil an object of a run that goes on. Starting the run again restores it."""
    random = Random(step.seed)
    run = random.choice(sorted(scene.runs))
    if (await patient(partial(scene.there.gateway.get, run))).state in FINAL_STATES:
        # Nobody reads it any more until the aggregator has forgotten the run.
        return
    store = run_store(scene.there.store, run)
    keys = [key for prefix in _DAMAGED async for key in store.list(prefix)]
    if keys:
        key, how = random.choice(sorted(keys)), random.choice(("empty", "garbage"))
        found = await store.get(key) or b""
        scene.damages += 1
        await store.put(key, DAMAGES[how](found) or b"")


async def _cancel(scene: Scene, step: Step) -> None:
    for run in list(scene.runs):
        await patient(partial(scene.there.gateway.cancel, run))
    await asyncio.sleep(step.lasting)
    for config in list(scene.runs.values()):
        await scene.begin(config)


async def _another_run(scene: Scene, _: Step) -> None:
    await scene.begin(scene.config.model_copy(update={"name": f"{scene.config.name}-beside"}))


def _full(fill: Callable[[Installation], AbstractContextManager[None]]) -> Perform:
    async def perform(scene: Scene, step: Step) -> None:
        with fill(scene.there):
            await asyncio.sleep(step.lasting)

    return perform


Perform = Callable[[Scene, Step], Awaitable[None]]


class Action(NamedTuple):
    """`longest` in seconds; `repeats` how often what is in flight there may be asked again."""

    perform: Perform
    targets: tuple[str, ...]
    longest: float
    repeats: int = 0


ACTIONS = {
    "kill": Action(_kill, SERVICES, 5, 1),
    "term": Action(_term, SERVICES, 5, 1),
    "pause": Action(_pause, SERVICES, 15, 1),
    "cut": Action(_kill, SERVERS, 10, 1),
    "stall": Action(_pause, SERVERS, 15, 1),
    "fast clock": Action(_fast_clock, SERVICES, 8, 2),
    "second": Action(_second, (*STAGES, "aggregator"), 10, 2),
    "model trouble": Action(_trouble, STAGES, 4),
    "duplicate": Action(_again, ("kafka",), 0, 1),
    "reorder": Action(_again, ("kafka",), 0, 1),
    "garbage": Action(_garbage, ("kafka",), 0),
    "damage": Action(_damage, ("minio",), 0, 1),
    "full bucket": Action(_full(full_bucket), ("minio",), 8),
    "full disk": Action(_full(full_disk), ("disks",), 8),
    "cancel and start": Action(_cancel, ("runs",), 3, 1),
    "another run": Action(_another_run, ("runs",), 0, 1),
}


def schedule(seed: int) -> list[Step]:
    """The same steps for the same seed, earliest first."""
    random, steps = Random(seed), list[Step]()
    for _ in range(random.randint(3, MOST)):
        name = random.choice(list(ACTIONS))
        action = ACTIONS[name]
        at, lasting = random.uniform(0.5, LASTS), random.uniform(action.longest / 4, action.longest)
        target = random.choice(action.targets)
        steps.append(Step(at, name, target, lasting, random.getrandbits(32)))
    return sorted(steps)


def repeatable(steps: list[Step]) -> int:
    """The most calls that these steps may have repeated."""
    everywhere, most = sum(AGAIN.values()), AGAIN | {"aggregator": 0}
    return sum(ACTIONS[step.action].repeats * most.get(step.target, everywhere) for step in steps)
