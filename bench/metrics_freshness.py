"""Measures metrics under load: the delay from the broker's timestamp of a verdict to its gauge, the
cost to the aggregator, and the number of series after many checkpoints.

Each measurement has its own process on one core, with the aggregator, its stream and a publisher of
verdicts at a fixed rate: first with a stream in memory, then with a real Kafka, whose broker may
use any core. The peer is the same without metrics.
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
from tests.servers.components import KAFKA
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
from caliper.ports.telemetry import Event, VerdictVisible
from caliper.wiring.clock import SystemClock

RATE = 2000
BOUND = 5.0
MODELS = Scope().models
_QUESTIONS, _SAMPLES, _SMALL = 13, 2600, 40
_DOMAINS = ("natural", "document", "ecommerce", "embodied")
_CATEGORIES = ("Attribute - Color", "Object Existence - Object presence", "Spatial - Position")


def main() -> None:
    """Measure with and without metrics, and count series with more checkpoints than the limit."""
    console = Console()
    _report(console, "on a stream in memory", "")
    try:
        with TemporaryDirectory() as folder, _broker(Path(folder)) as address:
            apply_topics(KafkaAccess(address), partitions=4)
            _report(console, "through Kafka", address)
    except Missing as reason:
        console.print(f"metrics through Kafka: skipped: {reason}")
    many = _measure("many")
    console.print(
        f"  series after {MODELS} checkpoints {many['series']:,.0f}, after {many['models']:.0f} "
        f"{many['later']:,.0f} (bound: no more); page written in {many['page']:.2f} s"
    )


def _report(console: Console, where: str, kafka: str) -> None:
    live, silent = (_measure(how, kafka) for how in ("metrics", "silent"))
    console.print(
        f"metrics {where}: {live['verdicts']:,.0f} verdicts of one run at {live['rate']:,.0f}/s "
        f"(wanted {RATE:,})"
    )
    console.print(
        f"  verdict to gauge p50 {live['p50']:.2f} s, p99 {live['p99']:.2f} s (bound {BOUND:.0f})"
    )
    console.print(f"  CPU per verdict {live['cpu']:.0f} us, without metrics {silent['cpu']:.0f} us")


@contextmanager
def _broker(folder: Path) -> Iterator[str]:
    """The broker that the environment names, or a new one. Raises Missing."""
    if KAFKA.given:
        yield KAFKA.given
        return
    process, address = KAFKA.start(folder)
    try:
        yield address
    finally:
        process.stop()


def _measure(how: str, kafka: str = "") -> dict[str, float]:
    core = min(os.sched_getaffinity(0))
    process = subprocess.run(
        [sys.executable, "-m", "bench.metrics_freshness", how, kafka],
        stdout=subprocess.PIPE,
        check=True,
        preexec_fn=lambda: os.sched_setaffinity(0, {core}),
    )
    figures: dict[str, float] = json.loads(process.stdout)
    return figures


class _Rows:
    """A ports.storage.Dataset that generates its rows."""

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


class _RecordingTelemetry(PrometheusTelemetry):
    """Records the delay of each verdict, and sets `all_shown` after `wanted` verdicts."""

    def __init__(self, metrics: Metrics) -> None:
        super().__init__(metrics)
        self.seconds: list[float] = []
        self.wanted = 0
        self.all_shown = asyncio.Event()

    def record(self, event: Event) -> None:
        super().record(event)
        if isinstance(event, VerdictVisible):
            self.seconds.append(event.seconds)
        if len(self.seconds) == self.wanted:
            self.all_shown.set()


class _Setup:
    """An aggregator on an in-memory stream or a broker, with or without metrics."""

    def __init__(self, folder: Path, kafka: str = "", *, shown: bool) -> None:
        self.store, self.clock = DirectoryStore(folder / "store"), SystemClock()
        self.codec = ProtobufCodec()
        self.stream: MemoryStream | KafkaStream = MemoryStream(logs=(VERDICTS, RUNS))
        self.log: MemoryStream | KafkaLog = self.stream
        if kafka:
            access = KafkaAccess(kafka)
            self.stream, self.log = KafkaStream(access), KafkaLog(access)
        self.metrics = Metrics(CollectorRegistry())
        self.telemetry = _RecordingTelemetry(self.metrics)
        self.board = Aggregator(self.store, self.codec, self.clock, report_files(), outlets())
        self.gauges = None
        if shown:
            self.gauges = Gauges(self.board.live, self.telemetry, self.clock, complain)

    async def planned(self, name: str, samples: int) -> list[Message]:
        """Plan and announce a run of that checkpoint; returns its verdicts as messages."""
        draw, chosen, rows = random.Random(name), benchmark("captionqa"), _Rows(samples)
        settings = {setting.name: setting.default for setting in chosen.settings}
        models = {chosen.role: Identity("tgi", "reader", "1")}
        part = BenchmarkSpec(chosen.name, rows.digest(chosen.data), None, settings, models)
        spec = RunSpec(name, "0", "0" * 64, (part,))
        run_objects = run_store(self.store, spec.run_id)
        await run_objects.put("spec.json", canonical_json(spec.to_json()))
        summary = await plan(spec, {part.name: Sources(rows, None)}, run_objects)
        event = PlanMade(spec.run_id, summary.questions)
        await self.stream.publish(Message(RUNS, event_key(event), self.codec.write(event)))
        messages = []
        async for items in read_plan(run_objects, summary):
            for job in jobs(items):
                verdicts = tuple(
                    Verdict(index, Scored(Fraction(draw.randrange(2))), Evidence("ABCD"[index % 4]))
                    for item in job
                    for index, _, _ in item.positions()
                )
                message = Verdicts(spec.run_id, part.name, job[0].sample, verdicts)
                key = f"{message.run}/{message.benchmark}/{message.sample}"
                messages.append(Message(VERDICTS, key, self.codec.write(message)))
        # Workers finish slightly out of order.
        order = sorted(range(len(messages)), key=lambda place: place + draw.randrange(64))
        return [messages[place] for place in order]

    @property
    def series(self) -> int:
        """The number of lines of the page that are not comments."""
        lines = generate_latest(self.metrics.registry).splitlines()
        return sum(not line.startswith(b"#") for line in lines)


async def _under_load(folder: Path, kafka: str, *, shown: bool) -> Mapping[str, float]:
    setup = _Setup(folder, kafka, shown=shown)
    messages = await setup.planned("checkpoint", _SAMPLES)
    setup.telemetry.wanted = len(messages)
    tasks = [asyncio.create_task(Follower(setup.board, setup.log, setup.clock).run())]
    if setup.gauges is not None:
        tasks.append(asyncio.create_task(setup.gauges.run()))
    start, spent = time.perf_counter(), time.process_time()
    # Publish concurrently, or the broker's acknowledgements would limit the rate.
    async with asyncio.TaskGroup() as publishers:
        for place, message in enumerate(messages):
            await asyncio.sleep(max(0.0, start + place * _QUESTIONS / RATE - time.perf_counter()))
            publishers.create_task(setup.stream.publish(message))
    seconds = time.perf_counter() - start
    if shown:
        await setup.telemetry.all_shown.wait()
    spent = time.process_time() - spent
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    if isinstance(setup.stream, KafkaStream):
        await setup.stream.close()
    verdicts = len(messages) * _QUESTIONS
    figures = {"verdicts": verdicts, "rate": verdicts / seconds, "cpu": spent / verdicts * 1e6}
    if shown:
        hundredths = quantiles(setup.telemetry.seconds, n=100)
        figures |= {"p50": hundredths[49], "p99": hundredths[98]}
    return figures


async def _many(folder: Path) -> Mapping[str, float]:
    """Run more checkpoints than the limit, one after the other."""
    setup = _Setup(folder, shown=True)
    follow_task = asyncio.create_task(Follower(setup.board, setup.log, setup.clock).run())
    figures: dict[str, float] = {"models": MODELS + 10}
    for number in range(MODELS + 10):
        for message in await setup.planned(f"checkpoint {number}", _SMALL):
            await setup.stream.publish(message)
        ends = await setup.log.ends(VERDICTS)
        while setup.board.places.offsets.get(VERDICTS) != ends:  # noqa: ASYNC110 - there is no event for it
            await asyncio.sleep(0.001)
        if setup.gauges is not None:
            await setup.gauges.look()
        if number + 1 == MODELS:
            figures["series"] = setup.series
    start = time.perf_counter()
    figures["later"] = setup.series
    figures["page"] = time.perf_counter() - start
    follow_task.cancel()
    await asyncio.gather(follow_task, return_exceptions=True)
    return figures


def _run(how: str, kafka: str) -> Mapping[str, float]:
    with TemporaryDirectory() as folder:
        if how == "many":
            return asyncio.run(_many(Path(folder)))
        return asyncio.run(_under_load(Path(folder), kafka, shown=how == "metrics"))


if __name__ == "__main__":
    print(json.dumps(_run(*sys.argv[1:])))
