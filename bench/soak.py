"""Runs small runs one after another on a real Kafka and MinIO, every service a process of its own,
and prints what each run leaves behind: memory, descriptors, objects and messages.

`SOAK_MINUTES` says for how long (30). What an ended run keeps in the aggregator's memory goes after
ten minutes, so only a longer soak says whether memory stays flat.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.fakes.chat_server import ChatServer
from tests.fakes.opinions import steadfast
from tests.fakes.separate import STAGES, Installation, grounded, installation
from tests.fakes.small_runs import example

from bench.services.installation import Servers, servers
from caliper.adapters.streams.kafka_log import KafkaLog
from caliper.adapters.streams.kafka_topics import TOPICS
from caliper.core.run import RunState

LOOKS = 12
"""How often memory and the rest are measured."""


@dataclass(frozen=True, slots=True)
class Look:
    """After `runs` runs: MiB of memory and open files by service, objects, and messages."""

    runs: int
    memory: Mapping[str, float]
    files: Mapping[str, int]
    objects: int
    messages: int


async def look(there: Installation, runs: int) -> Look:
    """Measure the services, the bucket and the topics."""
    pids = {name: service.pid for name, service in there.services.items()}
    log = KafkaLog(there.ground.kafka)
    ends = await asyncio.gather(*(log.ends(topic.name) for topic in TOPICS))
    return Look(
        runs,
        {name: _memory(pid) for name, pid in pids.items()},
        {name: _files(pid) for name, pid in pids.items()},
        sum([1 async for _ in there.store.list("")]),
        sum(sum(each.values()) for each in ends),
    )


def _memory(pid: int) -> float:
    """Memory of a process in MiB, without the files that it shares with others."""
    status = Path(f"/proc/{pid}/status").read_text("utf-8")
    return int(status.partition("RssAnon:")[2].split()[0]) / 1024


def _files(pid: int) -> int:
    """Descriptors that a process holds."""
    return len(list(Path(f"/proc/{pid}/fd").iterdir()))


async def soak(on_servers: Servers, folder: Path, minutes: float) -> list[Look]:
    """Run runs for so many minutes, and measure now and then."""
    ground = grounded(on_servers.kafka, on_servers.minio, folder)
    chats = {kind: ChatServer(otherwise=steadfast) for kind in STAGES}
    async with installation(ground, chats) as there:
        looks, begun, runs = list[Look](), time.monotonic(), 0
        while time.monotonic() - begun < minutes * 60:
            run = await there.begin(example(name=f"soak-{runs}"))
            ended = await there.over(run)
            if ended.state not in (RunState.COMPLETE, RunState.FINISHED):
                raise RuntimeError(f"run {run} ended {ended.state}: {ended.error}")
            runs += 1
            for chat in chats.values():
                # The stub keeps what it was asked: that is no memory of a service, but of ours.
                chat.requests.clear()
            if time.monotonic() - begun >= minutes * 60 / LOOKS * (len(looks) + 1):
                looks.append(await look(there, runs))
                _print(looks[-1])
        return looks


def _print(found: Look) -> None:
    memory = ", ".join(
        f"{name} {mib:.0f} MiB, {found.files[name]} files" for name, mib in found.memory.items()
    )
    print(
        f"  {found.runs:,} runs: {memory}; {found.objects:,} objects; {found.messages:,} messages"
    )


def main() -> None:
    """Print each look, and the growth per run between the middle and the end."""
    minutes = float(os.environ.get("SOAK_MINUTES", "30"))
    print(f"soak: {minutes:g} minutes of small runs")
    with TemporaryDirectory() as name, servers(Path(name)) as found:
        looks = asyncio.run(soak(found, Path(name), minutes))
    half, last = looks[len(looks) // 2], looks[-1]
    runs = last.runs - half.runs
    grown = ", ".join(
        f"{name} {1024 * (mib - half.memory[name]) / runs:+.0f} KiB and "
        f"{(last.files[name] - half.files[name]) / runs:+.2f} files"
        for name, mib in last.memory.items()
    )
    print(
        f"  a run of the second half left behind: {grown}; "
        f"{(last.objects - half.objects) / runs:.1f} objects (first half "
        f"{half.objects / half.runs:.1f}), {(last.messages - half.messages) / runs:.1f} messages"
    )
