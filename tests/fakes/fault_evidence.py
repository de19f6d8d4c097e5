"""What is kept of an installation that did not do as expected."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator, Iterable
from pathlib import Path
from pprint import pformat

from tests.fakes.kafka_streams import records
from tests.fakes.separate import Installation
from tests.servers.process import ServerProcess

from caliper.core.dead_letters import DEAD_LETTERS
from caliper.pipeline.planning.publisher import JOB_TOPICS, RUNS, VERDICTS

TOPICS = (*JOB_TOPICS, VERDICTS, RUNS)
_PATIENCE = 60.0


async def keep(
    there: Installation, runs: Iterable[str], servers: Iterable[ServerProcess], kept: Path
) -> None:
    """Write logs, runs, objects, topics and groups to the folder `kept`, as they are now."""
    for process in (*there.services.values(), *servers):
        shutil.copy(process.log, kept / f"{process.name}.log")
    for name, told in (
        ("runs", _runs(there, runs)),
        ("objects", _objects(there, kept / "store")),
        ("topics", _topics(there)),
        ("groups", _groups(there)),
    ):
        with (kept / f"{name}.txt").open("w", encoding="utf-8") as file:
            # What is broken may be what is to be read.
            try:
                async with asyncio.timeout(_PATIENCE):
                    async for line in told:
                        file.write(f"{line}\n")
            except Exception as error:  # noqa: BLE001 - the schedule's own failure is raised
                file.write(f"{error!r}\n")


def summary(kept: Path) -> str:
    """The runs and groups, and the last lines of each log: a machine that tests shows no files."""
    whole = [(kept / f"{name}.txt").read_text("utf-8")[:8_000] for name in ("runs", "groups")]
    logs = [
        "\n".join(log.read_text("utf-8", "replace").splitlines()[-8:]) for log in kept.glob("*.log")
    ]
    return "\n".join(whole + logs)


async def _runs(there: Installation, runs: Iterable[str]) -> AsyncIterator[str]:
    for run in runs:
        yield pformat(await there.gateway.get(run))


async def _objects(there: Installation, folder: Path) -> AsyncIterator[str]:
    for prefix in ("runs/", "aggregator/"):
        async for key in there.store.list(prefix):
            data = await there.store.get(key) or b""
            place = folder / key
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)
            yield f"{key} {len(data)} bytes"


async def _topics(there: Installation) -> AsyncIterator[str]:
    for topic in (*TOPICS, DEAD_LETTERS):
        for one in await records(there.ground.kafka, topic):
            place = f"{topic} {one.partition}:{one.offset} at {one.timestamp}"
            yield f"{place} {one.message.key} {one.message.headers} {one.message.value!r:.300}"


async def _groups(there: Installation) -> AsyncIterator[str]:
    access = there.ground.kafka
    admin = access.admin()
    try:
        for name in map(access.full_name, JOB_TOPICS):
            yield pformat(await asyncio.to_thread(admin.describe_groups, [name]))
            yield pformat(await asyncio.to_thread(admin.list_group_offsets, name))
    finally:
        admin.close()
