"""Seeded schedules of random faults: report and verdicts are the same to the last byte.

On a Kafka and a MinIO of its own, with every service a process. `make faults N=40 SEED=1000` runs
40 seeds from 1000 on; without it there are five, which have every kind of action between them.
"""

import asyncio
import os
import shutil
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from traceback import format_exc
from typing import Any, cast

import pytest
from tests.fakes.chat_server import ChatServer
from tests.fakes.fault_evidence import keep, summary
from tests.fakes.fault_schedules import ACTIONS, Scene, repeatable, schedule
from tests.fakes.kafka_streams import part_of
from tests.fakes.opinions import steadfast
from tests.fakes.separate import STAGES, Installation, grounded
from tests.fakes.separate import installation as installed
from tests.fakes.small_runs import example
from tests.fakes.sources import ROOT
from tests.servers.process import ServerProcess

from caliper.adapters.remote.gateway import RemoteGateway
from caliper.core.report import VerdictRow
from caliper.pipeline.reports.verdict_query import VerdictQuery
from caliper.pipeline.store.pack_store import PackStore
from caliper.pipeline.store.packer import Packer
from caliper.pipeline.store.packs import FRESH, PREFIX
from caliper.ports.storage import DeletableStore
from caliper.wiring.clock import SystemClock

Server = tuple[ServerProcess, str]
USUAL = range(3721, 3726)
FIRST = int(os.environ.get("FAULTS_SEED", USUAL.start))
COUNT = int(os.environ.get("FAULTS_N", len(USUAL)))
KEPT = ROOT / "runs" / "faults"
# Long enough for most steps to fall into the run.
DELAY = 0.25


@pytest.mark.parametrize("seed", range(FIRST, FIRST + COUNT))
async def test_random_faults(
    own_kafka: Server, own_minio: Server, tmp_path: Path, seed: int
) -> None:
    steps = schedule(seed)
    told = "\n".join([f"seed {seed}", *(f"  {step}" for step in steps)])
    chats = {kind: ChatServer(delay=DELAY, otherwise=steadfast) for kind in STAGES}
    servers = {"kafka": own_kafka[0], "minio": own_minio[0]}
    begun = time.monotonic()
    with part_of(own_kafka[1]) as access:
        async with installed(grounded(access, own_minio[1], tmp_path), chats) as there:
            scene = Scene(there, servers, example())
            async with _kept_on_failure(scene, str(seed), told):
                await scene.begin(scene.config)
                async with _packed_at_once(there):
                    async with asyncio.TaskGroup() as group:
                        for step in steps:
                            group.create_task(scene.perform(step))
                    repeated = await _compare(scene)
                assert repeated <= repeatable(steps)
    took = time.monotonic() - begun
    sys.stdout.write(
        f"{told}\n  the same after {took:.0f} s; {repeated} calls repeated, at most "
        f"{repeatable(steps)} allowed\n"
    )


@asynccontextmanager
async def _kept_on_failure(scene: Scene, name: str, told: str) -> AsyncIterator[None]:
    """Keep everything that explains a failure."""
    try:
        yield
    except BaseException as error:
        kept = KEPT / name
        shutil.rmtree(kept, ignore_errors=True)
        kept.mkdir(parents=True)
        (kept / "schedule.txt").write_text(f"{told}\n{format_exc()}", "utf-8")
        await keep(scene.there, scene.runs, scene.servers.values(), kept)
        error.add_note(f"{told}\nlogs, objects and topics: {kept}\n{summary(kept)}")
        raise


@asynccontextmanager
async def _packed_at_once(there: Installation) -> AsyncIterator[None]:
    """Replies are packed while the runs go on, and their loose objects deleted."""
    clock, store = SystemClock(), cast("DeletableStore", there.store)
    packer = Packer(PackStore(store, clock), clock, pace=0.5, fewest=2, grace=2 * FRESH)
    packing = asyncio.create_task(packer.run())
    yield
    packing.cancel()
    packs = [key async for key in there.store.list(PREFIX)]
    assert packs


def test_the_usual_seeds_have_every_action() -> None:
    drawn = {step.action for seed in USUAL for step in schedule(seed)}
    assert drawn == ACTIONS.keys()


class Tampered:
    """A gateway that changes one of its answers: a file of reports, or the pages of verdicts."""

    def __init__(self, gateway: RemoteGateway, answer: str) -> None:
        self._gateway, self._answer = gateway, answer

    def __getattr__(self, name: str) -> Any:
        return getattr(self._gateway, name)

    async def report(self, run: str, file: str = "", *, partial: bool) -> bytes:
        data = await self._gateway.report(run, file, partial=partial)
        return data + b"\n" * (file == self._answer)

    async def verdicts(self, run: str, query: VerdictQuery) -> tuple[list[VerdictRow], str]:
        rows, token = await self._gateway.verdicts(run, query)
        return rows[self._answer == "pages" :], token


async def test_a_difference_is_found(there: Installation) -> None:
    scene = Scene(there, {}, example())
    async with _kept_on_failure(scene, "none", "no faults"):
        await scene.begin(scene.config)
        assert await _compare(scene) == 0
    gateway = there.gateway
    for answer in ("", "verdicts.parquet", "pages"):
        there.gateway = cast("RemoteGateway", Tampered(gateway, answer))
        with pytest.raises(AssertionError):
            await _compare(scene)
    there.gateway = gateway
    await _compare(scene)


async def _compare(scene: Scene) -> int:
    """Compare all runs with undisturbed ones. Returns the number of repeated calls."""
    for run in list(scene.runs):
        await scene.finish(run)
    asked = sum(len(chat.requests) for chat in scene.there.chats.values()) - scene.refused
    needed = 0
    for run, config in scene.runs.items():
        calls = await scene.there.same_as_alone(run, config)
        # Runs beside each other ask the same, and share the replies.
        needed = needed or sum(each.needed for each in calls.values())
        expected, _ = await scene.there.alone(config)
        verdicts = await scene.there.gateway.report(run, "verdicts.parquet", partial=True)
        assert verdicts == expected.parquet
    return asked - needed
