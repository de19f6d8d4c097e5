"""Seeded schedules of random faults: report and verdicts are the same to the last byte.

On a Kafka and a MinIO of its own, with every service a process. `make faults N=40 SEED=1000` runs
40 seeds from 1000 on; without it there are five.
"""

import asyncio
import os
import shutil
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from tests.fakes.chat_server import ChatServer
from tests.fakes.fault_schedules import Scene, schedule
from tests.fakes.opinions import steadfast
from tests.fakes.separate import STAGES, grounded
from tests.fakes.separate import installation as installed
from tests.fakes.small_runs import example
from tests.fakes.sources import ROOT
from tests.servers.process import ServerProcess

from caliper.adapters.streams.kafka_access import KafkaAccess
from caliper.core.run import RunState

Server = tuple[ServerProcess, str]
FIRST, COUNT = int(os.environ.get("FAULTS_SEED", "1")), int(os.environ.get("FAULTS_N", "5"))
KEPT = ROOT / "runs" / "faults"
# Long enough for most steps to fall into the run.
DELAY = 0.25
STARTS = 3


@pytest.mark.parametrize("seed", range(FIRST, FIRST + COUNT))
async def test_random_faults(
    own_kafka: Server, own_minio: Server, tmp_path: Path, seed: int
) -> None:
    steps = schedule(seed)
    told = "\n".join([f"seed {seed}", *(f"  {step}" for step in steps)])
    ground = grounded(KafkaAccess(own_kafka[1]), own_minio[1], tmp_path)
    chats = {kind: ChatServer(delay=DELAY, otherwise=steadfast) for kind in STAGES}
    servers = {"kafka": own_kafka[0], "minio": own_minio[0]}
    begun = time.monotonic()
    try:
        async with installed(ground, chats) as there:
            scene = Scene(there, servers, example(f"faults-{seed}"))
            await scene.begin(scene.config)
            async with asyncio.TaskGroup() as group:
                for step in steps:
                    group.create_task(scene.perform(step))
            asked, needed = await _compare(scene)
    except BaseException as error:
        _keep(seed, told, [tmp_path, *(server.log.parent for server in servers.values())])
        error.add_note(f"{told}\nlogs of all processes: {KEPT / str(seed)}")
        raise
    took = time.monotonic() - begun
    repeated = f"{asked - needed} of {asked} calls repeated"
    sys.stdout.write(f"{told}\n  the same after {took:.0f} s; {repeated}\n")


async def _compare(scene: Scene) -> tuple[int, int]:
    """Calls of all runs, and those of the same runs undisturbed."""
    for run in list(scene.runs):
        await _finish(scene, run)
    asked = sum(len(chat.requests) for chat in scene.there.chats.values())
    needed = 0
    for run, config in scene.runs.items():
        folder = scene.there.ground.folder / run
        folder.mkdir()
        there = replace(scene.there, ground=replace(scene.there.ground, folder=folder))
        calls = await there.same_as_alone(run, config)
        needed += sum(each.needed for each in calls.values())
        verdicts = (folder / "standalone" / "alone" / "verdicts.parquet").read_bytes()
        assert await there.gateway.report(run, "verdicts.parquet", partial=True) == verdicts
    return asked, needed


async def _finish(scene: Scene, run: str) -> None:
    """Wait for the end; a run that failed, or whose jobs were lost, heals when started again."""
    for _ in range(STARTS):
        ended = await scene.there.over(run)
        if ended.state is RunState.COMPLETE:
            return
        await scene.begin(scene.runs[run])


def _keep(seed: int, told: str, folders: list[Path]) -> None:
    """Keep the logs of all processes, and what was done to them."""
    kept = KEPT / str(seed)
    shutil.rmtree(kept, ignore_errors=True)
    kept.mkdir(parents=True)
    (kept / "schedule.txt").write_text(told + "\n", "utf-8")
    for folder in folders:
        for log in folder.glob("*.log"):
            shutil.copy(log, kept)
