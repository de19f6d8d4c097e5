"""Measures the aggregator with a million outcomes on one core: seconds to catch up from nothing and
from a snapshot, and peak memory, each with its bound; with and without the metrics of the service.

Each measurement has its own process, for its own peak memory. Messages are in a file and objects in
a directory, so neither count towards it.
"""

from __future__ import annotations

import asyncio
import base64
import gzip
import hashlib
import json
import os
import random
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory

from prometheus_client import CollectorRegistry
from rich.console import Console

from bench.strict import complain, outlets, report_files
from caliper.adapters.exports.json import JsonExport
from caliper.adapters.exports.parquet import ParquetExport
from caliper.adapters.metrics.prometheus import Metrics, PrometheusTelemetry
from caliper.adapters.stores.directory import DirectoryStore
from caliper.adapters.wire.protobuf_codec import ProtobufCodec
from caliper.benchmarks.registry import benchmark
from caliper.core.envelopes import Message, Record
from caliper.core.keys import canonical_json
from caliper.core.layout import Layout
from caliper.core.messages import Verdicts
from caliper.core.outcome import Evidence, Scored, Verdict
from caliper.core.rows import Row
from caliper.core.run import BenchmarkSpec, Identity, RunSpec
from caliper.pipeline.aggregation.aggregator import Aggregator
from caliper.pipeline.aggregation.follower import Follower, FollowerTiming
from caliper.pipeline.live.gauges import Gauges
from caliper.pipeline.planning.publisher import RUNS, VERDICTS, jobs
from caliper.pipeline.store.plan import plan, read_plan
from caliper.pipeline.store.runs import run_store
from caliper.ports.storage import Sources
from caliper.wiring.clock import SystemClock
from caliper.wiring.memory import limit_arenas

OUTCOMES = 1_000_000
QUESTIONS = 13
MEMORY_BOUND_MIB = 256
NOTHING_BOUND, SNAPSHOT_BOUND = 60.0, 10.0
_RUNS = (1, 10)
_TAIL = 0.01
_LOOK_INTERVAL = 5000
Look = Callable[[], Awaitable[None]]
_CATEGORIES = (
    "Attribute - Color",
    "Object Existence - Object presence",
    "Spatial - Position",
    "Action - State",
)


def main() -> None:
    """Measure one large run, and ten runs with as many outcomes in total."""
    console = Console()
    for runs in _RUNS:
        with TemporaryDirectory() as folder:
            count = asyncio.run(prepare(Path(folder), runs))
            console.print(f"aggregator: {count:,} outcomes in {runs} runs of CaptionQA")
            for metrics in ("silent", "metrics"):
                _report(console, Path(folder), metrics)


def _report(console: Console, folder: Path, metrics: str) -> None:
    console.print(f" {'with' if metrics == 'metrics' else 'without'} metrics")
    for how, bound in (("nothing", NOTHING_BOUND), ("snapshot", SNAPSHOT_BOUND)):
        _reset(folder / "store")
        if how == "snapshot":
            _measure(folder, "before", metrics)
        figures = _measure(folder, how, metrics)
        console.print(
            f"  caught up from {how} in {figures['seconds']:.1f} s "
            f"(bound {bound:.0f}), {figures['records']:,} messages; peak memory "
            f"{figures['memory']:.0f} MiB (bound {MEMORY_BOUND_MIB})"
        )
        console.print(
            f"  then ended and reported in {figures['ending']:.1f} s; peak memory "
            f"{figures['whole']:.0f} MiB (bound {MEMORY_BOUND_MIB})"
        )


def _reset(store: Path) -> None:
    """Reset the runs to their state after planning."""
    for folder in (
        store / "aggregator",
        *store.glob("runs/*/verdicts"),
        *store.glob("runs/*/report"),
    ):
        shutil.rmtree(folder, ignore_errors=True)
    for end in store.glob("runs/*/end.json"):
        end.unlink()


def _measure(folder: Path, how: str, metrics: str) -> dict[str, float]:
    core = min(os.sched_getaffinity(0))
    process = subprocess.run(
        [sys.executable, "-m", "bench.aggregator_rate", how, str(folder), metrics],
        stdout=subprocess.PIPE,
        check=True,
        preexec_fn=lambda: os.sched_setaffinity(0, {core}),
    )
    figures: dict[str, float] = json.loads(process.stdout)
    return figures


class _Rows:
    """A ports.storage.Dataset that generates its rows."""

    def __init__(self, samples: int, seed: int) -> None:
        self._samples, self._seed = samples, seed

    def rows(self, layout: Layout) -> Iterator[Row]:  # noqa: ARG002 - the port's
        for number in range(self._samples):
            questions = [
                {
                    "question": f"What colour is thing {place}?",
                    "choices": ["red", "green", "blue", "white"],
                    "answer": "green",
                    "category": [_CATEGORIES[place % len(_CATEGORIES)]],
                }
                for place in range(QUESTIONS)
            ]
            fields = {
                "id": f"nat_{number:06}",
                "domain": "natural",
                "image_paths": [f"{number:06}.jpg"],
                "questions": questions,
            }
            yield Row("captionqa.json", number + 1, fields)

    def digest(self, layout: Layout) -> str:  # noqa: ARG002 - the port's
        return hashlib.sha256(f"{self._samples} {self._seed}".encode()).hexdigest()


async def prepare(folder: Path, runs: int, outcomes: int = OUTCOMES) -> int:
    """Plan the runs, and write their messages to a file, in an order as from several workers."""
    store, draw = DirectoryStore(folder / "store"), random.Random(0)
    chosen = benchmark("captionqa")
    count = 0
    with gzip.open(folder / "messages", "wb", compresslevel=1) as file:
        for number in range(runs):
            rows = _Rows(outcomes // QUESTIONS // runs + 1, number)
            part = BenchmarkSpec(
                chosen.name,
                rows.digest(chosen.data),
                None,
                {setting.name: setting.default for setting in chosen.settings},
                {chosen.role: Identity("tgi", "reader", "1")},
            )
            spec = RunSpec(f"run {number}", "0", "0" * 64, (part,))
            run_objects = run_store(store, spec.run_id)
            await run_objects.put("spec.json", canonical_json(spec.to_json()))
            summary = await plan(spec, {part.name: Sources(rows, None)}, run_objects)
            count += summary.questions
            async for items in read_plan(run_objects, summary):
                members = list(jobs(items))
                # Workers finish slightly out of order.
                members.sort(key=lambda job: job[0].first + draw.randrange(QUESTIONS * 64))
                for job in members:
                    verdicts = tuple(
                        Verdict(
                            index,
                            Scored(Fraction(draw.randrange(2))),
                            Evidence("ABCD"[index % 4]),
                        )
                        for item in job
                        for index, _, _ in item.positions()
                    )
                    message = Verdicts(spec.run_id, part.name, job[0].sample, verdicts)
                    line = base64.b64encode(ProtobufCodec().write(message))
                    key = f"{spec.run_id}/{part.name}/{message.sample}"
                    file.write(f"{key} ".encode() + line + b"\n")
    return count


async def update_nothing() -> None:
    """Update no metrics."""


class MessageFile:
    """A ports.stream.LogReader of the file that ends after `stop` records.

    It calls `look` at regular intervals: the windows of the metrics would skip faster records.
    """

    def __init__(self, folder: Path, look: Look = update_nothing, stop: int | None = None) -> None:
        self._folder, self._look, self._stop = folder, look, stop
        # All records are within the last hour, which fills the windows of the metrics.
        self._timestamp = round(time.time() * 1000)
        self.records = 0

    async def read(self, topic: str, offsets: Mapping[int, int]) -> AsyncGenerator[Record, None]:
        if topic == RUNS:
            return
        with gzip.open(self._folder / "messages", "rb") as file:
            for offset, line in enumerate(file):
                if offset == self._stop:
                    return
                if offset >= offsets.get(0, 0):
                    self.records += 1
                    if self.records % _LOOK_INTERVAL == 0:
                        await self._look()
                    key, _, data = line.decode().rpartition(" ")
                    message = Message(VERDICTS, key, base64.b64decode(data))
                    yield Record(0, offset, self._timestamp, message)

    async def identity(self, topic: str) -> str:
        return topic

    async def ends(self, topic: str) -> Mapping[int, int]:
        if topic == RUNS:
            return {}
        with gzip.open(self._folder / "messages", "rb") as file:
            return {0: sum(1 for _ in file)}


async def _follow(folder: Path, how: str, *, shown: bool) -> dict[str, float]:
    """Catch up, from a snapshot if an earlier process left one, then end the runs."""
    limit_arenas()
    clock, store = SystemClock(), DirectoryStore(folder / "store")
    total = (await MessageFile(folder).ends(VERDICTS))[0]
    files = report_files(JsonExport(), ParquetExport())
    scores = PrometheusTelemetry(Metrics(CollectorRegistry()))
    aggregator = Aggregator(store, ProtobufCodec(), clock, files, outlets())
    gauges = Gauges(aggregator.live, scores, clock, complain) if shown else None
    stop = round(total * (1 - _TAIL)) if how == "before" else None
    log = MessageFile(folder, gauges.look if gauges else update_nothing, stop)
    follower = Follower(aggregator, log, clock, FollowerTiming(conclude=3600, snapshot=5))
    start = time.perf_counter()
    follow_task = asyncio.create_task(follower.run())
    if how != "before":
        current = asyncio.create_task(follower.current.wait())
        await asyncio.wait((current, follow_task), return_when=asyncio.FIRST_COMPLETED)
        current.cancel()
    seconds, memory = time.perf_counter() - start, _peak()
    if gauges is not None:
        # The gauges keep updating: once with the last records, once without any.
        await gauges.look()
        await gauges.look()
    await follow_task
    await aggregator.snapshot()
    ending = time.perf_counter() - start - seconds
    return {
        "seconds": seconds,
        "memory": memory,
        "records": log.records,
        "ending": ending,
        "whole": _peak(),
    }


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    how, folder, metrics = sys.argv[1:]
    print(json.dumps(asyncio.run(_follow(Path(folder), how, shown=metrics == "metrics"))))
