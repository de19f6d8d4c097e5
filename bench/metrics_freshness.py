"""Scores as metrics under load: from the broker's time of a verdict to the gauge that shows it,
what that costs the aggregator, and how many series many checkpoints leave.

Each measurement is a process of its own on one core, with the aggregator, its stream and whoever
publishes verdicts at a fixed rate: a stream in memory, then a real Kafka, whose broker is beside it
on whatever core. The same without metrics is the peer.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from statistics import quantiles
from tempfile import TemporaryDirectory

from prometheus_client import CollectorRegistry, generate_latest
from rich.console import Console
from tests.servers.choosing import KAFKA
from tests.servers.fetch import Missing

from bench.strict import complain, outlets, report_files
from caliper.adapters.metrics.prometheus import Metrics, PrometheusTelemetry
from caliper.adapters.stores.directory import DirectoryStore
from caliper.adapters.streams.kafka import KafkaStream
from caliper.adapters.streams.kafka_access import KafkaAccess
from caliper.adapters.streams.kafka_log import KafkaLog
from caliper.adapters.streams.kafka_topics import apply_topics
from caliper.adapters.streams.memory import MemoryStream
from caliper.adapters.wire.protobuf_codec import ProtobufCodec
from caliper.benchmarks.registry import benchmark
from caliper.core.envelopes import Message
from caliper.core.keys import canonical_json, digest
from caliper.core.layout import Layout
from caliper.core.messages import PlanMade, Verdicts, event_key
from caliper.core.outcome import Evidence, Scored, Verdict
from caliper.core.rows import Row
from caliper.core.run import BenchmarkSpec, Identity, RunSpec
from caliper.pipeline.aggregation.aggregator import Aggregator
from caliper.pipeline.aggregation.follower import Follower
from caliper.pipeline.live.gauges import Gauges, Scope
from caliper.pipeline.planning.publisher import RUNS, VERDICTS, jobs
from caliper.pipeline.store.plan import plan, read_plan
from caliper.pipeline.store.runs import run_store
from caliper.ports.storage import Sources
from caliper.ports.telemetry import Event, VerdictShown
from caliper.wiring.clock import SystemClock

RATE = 2000
BOUND = 5.0
MODELS = Scope().models
_QUESTIONS, _SAMPLES, _SMALL = 13, 2600, 40
_DOMAINS = ("natural", "document", "ecommerce", "embodied")
_CATEGORIES = ("Attribute - Color", "Object Existence - Object presence", "Spatial - Position")


def main() -> None:
    """Measure with metrics and without, and count the series of more checkpoints than fit."""
    console = Console()
    _tell(console, "on a stream in memory", "")
    try:
        with TemporaryDirectory() as folder, _broker(Path(folder)) as address:
            apply_topics(KafkaAccess(address), partitions=4)
            _tell(console, "through Kafka", address)
    except Missing as reason:
        console.print(f"metrics through Kafka: left out: {reason}")
    many = _measured("many")
    console.print(
        f"  series after {MODELS} checkpoints {many['series']:,.0f}, after {many['models']:.0f} "
        f"{many['later']:,.0f} (bound: no more); page written in {many['page']:.2f} s"
    )


def _tell(console: Console, where: str, kafka: str) -> None:
    shown, silent = (_measured(how, kafka) for how in ("metrics", "silent"))
    console.print(
        f"metrics {where}: {shown['verdicts']:,.0f} verdicts of one run at {shown['rate']:,.0f}/s "
        f"(wanted {RATE:,})"
    )
    console.print(
        f"  verdict to gauge p50 {shown['p50']:.2f} s, p99 {shown['p99']:.2f} s (bound {BOUND:.0f})"
    )
    console.print(
        f"  the process's CPU a verdict {shown['cpu']:.0f} us, without metrics "
        f"{silent['cpu']:.0f} us"
    )


@contextmanager
def _broker(folder: Path) -> Iterator[str]:
    """The broker that the environment names, or one that is started. Raises Missing."""
    if KAFKA.given:
        yield KAFKA.given
        return
    process, address = KAFKA.start(folder)
    try:
        yield address
    finally:
        process.stop()


def _measured(how: str, kafka: str = "") -> dict[str, float]:
    core = min(os.sched_getaffinity(0))
    done = subprocess.run(
        [sys.executable, "-m", "bench.metrics_freshness", how, kafka],
        stdout=subprocess.PIPE,
        check=True,
        preexec_fn=lambda: os.sched_setaffinity(0, {core}),
    )
    found: dict[str, float] = json.loads(done.stdout)
    return found


class _Rows:
    """ports.storage.Dataset made up on the spot."""

    def __init__(self, samples: int) -> None:
        self._samples = samples

    def rows(self, layout: Layout) -> Iterator[Row]:  # noqa: ARG002 - the port's
        for number in range(self._samples):
            questions = [
                {
                    "question": f"What colour is thing {place}?",
                    "choices": ["red", "green", "blue", "white"],
                    "answer": "green",
                    "category": [_CATEGORIES[place % len(_CATEGORIES)]],
                }
                for place in range(_QUESTIONS)
            ]
            domain = _DOMAINS[number % len(_DOMAINS)]
            paths = [f"{number:06}.jpg"]
            fields = {"id": f"{domain[:3]}_{number:06}", "domain": domain, "image_paths": paths}
            yield Row("captionqa.json", number + 1, {**fields, "questions": questions})

    def digest(self, layout: Layout) -> str:  # noqa: ARG002 - the port's
        return digest(["rows", self._samples])


class _Watched(PrometheusTelemetry):
    """Remembers how fresh each verdict was; `all_shown` once there were so many as `wanted`."""

    def __init__(self, metrics: Metrics) -> None:
        super().__init__(metrics)
        self.seconds: list[float] = []
        self.wanted = 0
        self.all_shown = asyncio.Event()

    def record(self, event: Event) -> None:
        super().record(event)
        if isinstance(event, VerdictShown):
            self.seconds.append(event.seconds)
        if len(self.seconds) == self.wanted:
            self.all_shown.set()


class _House:
    """An aggregator over a stream in memory or a broker, with metrics or without."""

    def __init__(self, folder: Path, kafka: str = "", *, shown: bool) -> None:
        self.store, self.clock = DirectoryStore(folder / "store"), SystemClock()
        self.codec = ProtobufCodec()
        self.stream: MemoryStream | KafkaStream = MemoryStream(logs=(VERDICTS, RUNS))
        self.log: MemoryStream | KafkaLog = self.stream
        if kafka:
            access = KafkaAccess(kafka)
            self.stream, self.log = KafkaStream(access), KafkaLog(access)
        self.metrics = Metrics(CollectorRegistry())
        self.telemetry = _Watched(self.metrics)
        self.board = Aggregator(self.store, self.codec, self.clock, report_files(), outlets())
        self.gauges = None
        if shown:
            self.gauges = Gauges(self.board.live, self.telemetry, self.clock, complain)

    async def planned(self, name: str, samples: int) -> list[Message]:
        """A run of that checkpoint, planned and told of; its verdicts as messages."""
        draw, chosen, rows = random.Random(name), benchmark("captionqa"), _Rows(samples)
        settings = {setting.name: setting.default for setting in chosen.settings}
        models = {chosen.role: Identity("tgi", "reader", "1")}
        part = BenchmarkSpec(chosen.name, rows.digest(chosen.data), None, settings, models)
        spec = RunSpec(name, "0", "0" * 64, (part,))
        kept = run_store(self.store, spec.run_id)
        await kept.put("spec.json", canonical_json(spec.to_json()))
        summary = await plan(spec, {part.name: Sources(rows, None)}, kept)
        event = PlanMade(spec.run_id, summary.questions)
        await self.stream.publish(Message(RUNS, event_key(event), self.codec.write(event)))
        messages = []
        async for items in read_plan(kept, summary):
            for job in jobs(items):
                verdicts = tuple(
                    Verdict(index, Scored(Fraction(draw.randrange(2))), Evidence("ABCD"[index % 4]))
                    for item in job
                    for index, _, _ in item.positions()
                )
                told = Verdicts(spec.run_id, part.name, job[0].sample, verdicts)
                messages.append(Message(VERDICTS, told.sample, self.codec.write(told)))
        # Workers finish out of order, though not by much.
        order = sorted(range(len(messages)), key=lambda place: place + draw.randrange(64))
        return [messages[place] for place in order]

    @property
    def series(self) -> int:
        """Lines of the page that are no comments."""
        lines = generate_latest(self.metrics.registry).splitlines()
        return sum(not line.startswith(b"#") for line in lines)


async def _under_load(folder: Path, kafka: str, *, shown: bool) -> Mapping[str, float]:
    house = _House(folder, kafka, shown=shown)
    messages = await house.planned("checkpoint", _SAMPLES)
    house.telemetry.wanted = len(messages)
    following = [asyncio.create_task(Follower(house.board, house.log, house.clock).run())]
    if house.gauges is not None:
        following.append(asyncio.create_task(house.gauges.run()))
    begun, spent = time.perf_counter(), time.process_time()
    # One by one, a broker's confirmations would set the pace.
    async with asyncio.TaskGroup() as publishing:
        for place, message in enumerate(messages):
            await asyncio.sleep(max(0.0, begun + place * _QUESTIONS / RATE - time.perf_counter()))
            publishing.create_task(house.stream.publish(message))
    seconds = time.perf_counter() - begun
    if shown:
        await house.telemetry.all_shown.wait()
    spent = time.process_time() - spent
    for task in following:
        task.cancel()
    await asyncio.gather(*following, return_exceptions=True)
    if isinstance(house.stream, KafkaStream):
        await house.stream.close()
    verdicts = len(messages) * _QUESTIONS
    found = {"verdicts": verdicts, "rate": verdicts / seconds, "cpu": spent / verdicts * 1e6}
    if shown:
        hundredths = quantiles(house.telemetry.seconds, n=100)
        found |= {"p50": hundredths[49], "p99": hundredths[98]}
    return found


async def _many(folder: Path) -> Mapping[str, float]:
    """More checkpoints than are watched, one after the other."""
    house = _House(folder, shown=True)
    following = asyncio.create_task(Follower(house.board, house.log, house.clock).run())
    found: dict[str, float] = {"models": MODELS + 10}
    for number in range(MODELS + 10):
        for message in await house.planned(f"checkpoint {number}", _SMALL):
            await house.stream.publish(message)
        ends = await house.log.ends(VERDICTS)
        while house.board.places.offsets.get(VERDICTS) != ends:  # noqa: ASYNC110 - it tells nobody
            await asyncio.sleep(0.001)
        if house.gauges is not None:
            await house.gauges.look()
        if number + 1 == MODELS:
            found["series"] = house.series
    begun = time.perf_counter()
    found["later"] = house.series
    found["page"] = time.perf_counter() - begun
    following.cancel()
    await asyncio.gather(following, return_exceptions=True)
    return found


def _run(how: str, kafka: str) -> Mapping[str, float]:
    with TemporaryDirectory() as folder:
        if how == "many":
            return asyncio.run(_many(Path(folder)))
        return asyncio.run(_under_load(Path(folder), kafka, shown=how == "metrics"))


if __name__ == "__main__":
    print(json.dumps(_run(*sys.argv[1:])))
