"""An installation in memory whose objects a test can damage. Its stages need no models."""

from __future__ import annotations

import copy
import gzip
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tests.fakes import runs
from tests.fakes.boards import Stages
from tests.fakes.clock import FakeClock
from tests.fakes.stores import MemoryStore

from caliper.adapters.exports.json import JsonExport
from caliper.adapters.exports.parquet import ParquetExport
from caliper.adapters.streams.memory import MemoryStream
from caliper.adapters.wire.protobuf_codec import ProtobufCodec
from caliper.core.caption import Caption
from caliper.core.envelopes import Message, Record
from caliper.core.errors import CaliperError
from caliper.core.messages import CaptionJob, ExamineJob, RunEnded, Verdicts, event_key
from caliper.core.outcome import Evidence, Scored, Verdict
from caliper.core.run import RunSpec, RunState
from caliper.core.terms import Terms
from caliper.local.supplies import FileSupplies
from caliper.pipeline.aggregation.aggregator import Aggregator
from caliper.pipeline.aggregation.dispatcher import Dispatcher
from caliper.pipeline.aggregation.outlets import Bounds, Outlets
from caliper.pipeline.gateway.gateway import Gateway
from caliper.pipeline.planning.planner import Planner
from caliper.pipeline.planning.publisher import CAPTION_JOBS, PLAN_JOBS, QA_JOBS, RUNS, VERDICTS
from caliper.pipeline.reports.report_files import ReportFiles, captions_of_run, stored_texts
from caliper.pipeline.reports.run_reader import RunReader
from caliper.pipeline.store.authentic_store import AuthenticStore
from caliper.pipeline.store.run_book import RunBook
from caliper.pipeline.store.supplies import save_caption
from caliper.pipeline.work.handlers import CaptionHandler, ExamineHandler, ignore_verdicts
from caliper.pipeline.work.worker import Attempt
from caliper.ports.stages import Scores
from caliper.ports.storage import ObjectStore, ReportSink
from caliper.ports.telemetry import SILENT
from caliper.wiring.roles import JobFilter

SAMPLES, QUESTIONS = 3, 2
ROWS = runs.choice_rows(SAMPLES, QUESTIONS)
TOPICS = (PLAN_JOBS, RUNS, VERDICTS, CAPTION_JOBS, QA_JOBS)
CODEC, PACK = ProtobufCodec(), "p" * 64
LATER = 60.0

DAMAGES: dict[str, Callable[[bytes], bytes | None]] = {
    "empty": lambda _: b"",
    "garbage": lambda data: bytes(byte ^ 0xA5 for byte in data) or b"\xa5",
    "deleted": lambda _: None,
}
EDITS = {
    "spec.json": (b'"ours"', b'"mine"'),
    "plan/000000.jsonl.gz": (b"What colour", b"Which colour"),
    "verdicts/00000000.jsonl.gz": (b'"score":"1"', b'"score":"0"'),
    "report/report.json": (b'"state"', b'"State"'),
}
"""What somebody changes in objects of a run that stay readable."""
NESTED = b"[" * 10_000 + b"\n"
"""No JSON, and so deep that Python refuses to look."""
SINKS: dict[str, ReportSink] = {"report.json": JsonExport(), "verdicts.parquet": ParquetExport()}


@dataclass(frozen=True)
class Writer:
    """Captions every sample of a run in its own way."""

    spec: RunSpec

    async def caption(self, job: CaptionJob) -> Caption:
        return Caption(job.sample, f"{job.sample} is green")


@dataclass(frozen=True)
class Reader:
    """Answers every job of a run's reader in the same way."""

    spec: RunSpec

    async def conclude(self, job: ExamineJob) -> tuple[Verdicts, None]:
        verdicts = tuple(
            Verdict(index, Scored(Fraction(index % 2)), Evidence(f"reply {index}"))
            for item in job.items
            for index, _, _ in item.positions()
        )
        return Verdicts(job.run, job.benchmark, job.sample, verdicts), None


async def ignore_usage(_: ExamineJob | CaptionJob) -> None: ...


LEFT = {"ended": 0, "running": 4}
"""Jobs that are still to be done, of two runs with three each."""

_CRASHED: dict[str, tuple[Any, ...]] = {}


class Installation:
    """Gateway, planner, reader and aggregator, whose messages wait until `work` is called.

    It is its own score board. With `keys` its services sign what they store.
    """

    def __init__(self, *keys: bytes) -> None:
        self.store, self.clock = MemoryStore(), FakeClock()
        self.view: ObjectStore = self.store
        if keys:
            self.view = AuthenticStore(self.store, keys, SILENT, str)
        self.stream = MemoryStream()
        self.jobs = {topic: self.stream.consumer(topic, topic) for topic in TOPICS}
        self.log: list[Record] = []
        self.handled = 0

    @classmethod
    async def left(cls, when: str, *keys: bytes) -> Installation:
        """One whose two runs, of three jobs each, are at their end, or both `running`."""
        made = cls(*keys)
        await made.begin()
        for spec in made.specs:
            await made.start(spec)
        await made.work(leave=LEFT[when])
        await made.aggregator.snapshot()
        return made

    @classmethod
    async def crashed(cls, when: str) -> Installation:
        """What stays of one that was `left` if all its services end: `begin` starts others."""
        if when not in _CRASHED:
            site = await cls.left(when)
            _CRASHED[when] = site.store, site.clock, site.stream, site.jobs, site.log, site.handled
        made = cls()
        stayed = copy.deepcopy(_CRASHED[when])
        made.store, made.clock, made.stream, made.jobs, made.log, made.handled = stayed
        made.view = made.store
        return made

    async def begin(self) -> None:
        """Start all services anew, as after a crash."""
        store, book = self.view, RunBook(self.view, self.clock)
        supplies = FileSupplies({"captionqa": runs.sources(ROWS, None)})
        outside = store, self.stream, CODEC, self.clock, supplies, Stages(), self
        self.gateway = Gateway(*outside, book)
        self.planner = Planner(store, self.stream, CODEC, book, supplies)
        stream, models = self.stream, dict.fromkeys(("captioner", "reader"), runs.JUDGE)
        jobs = JobFilter(models, PACK, book, stream, CODEC)

        async def reader_of(job: ExamineJob) -> Any:
            spec = await jobs.spec(job.run, job.benchmark)
            return spec and Reader(spec)

        async def writer_of(job: CaptionJob) -> Any:
            spec = await jobs.spec(job.run, job.benchmark)
            return spec and Writer(spec)

        async def keep(job: CaptionJob, caption: Caption) -> Caption:
            return await save_caption(store, job.run, job.benchmark, caption)

        reading = ExamineHandler(stream, CODEC, reader_of, ignore_usage, ignore_verdicts, jobs.fail)
        self.handlers = {QA_JOBS: reading, CAPTION_JOBS: CaptionHandler(reading, writer_of, keep)}
        files = ReportFiles(
            lambda run: captions_of_run(lambda name, part: stored_texts(store, name, part), run),
            lambda _, __: list(SINKS.values()),
        )
        self.reader = RunReader(store, book, self.clock, lambda _, __, name: [SINKS[name]])
        outlets = Outlets(self.announce, lambda _, __: None)
        bounds = Bounds(verdicts=QUESTIONS)
        self.aggregator = Aggregator(store, CODEC, self.clock, files, outlets, bounds)
        await self.aggregator.resume()
        self.dispatcher = Dispatcher(lambda: [self.aggregator.table], stream, self.clock)
        for record in self.log:
            offsets = self.aggregator.places.offsets.get(record.message.topic, {})
            if record.offset >= offsets.get(0, 0):
                await self.aggregator.apply([record])

    async def announce(self, event: RunEnded) -> None:
        await self.stream.publish(Message(RUNS, event_key(event), CODEC.write(event)))

    async def scores(self, run: str) -> Scores | None:
        return await self.aggregator.scores(run)

    async def watch(self, run: str, _: float) -> AsyncGenerator[Scores, None]:
        found = await self.scores(run)
        if found is not None:
            yield found

    @property
    def specs(self) -> list[RunSpec]:
        """Those of the two runs of this installation."""
        models = {"captioner": runs.JUDGE, "reader": runs.JUDGE}
        part = runs.part(captions=None, models=models)
        return [runs.spec(part, name=name) for name in ("ours", "theirs")]

    async def start(self, spec: RunSpec) -> None:
        await self.gateway.begin(spec, Terms())

    async def work(self, leave: int = 0) -> None:
        """Handle all messages but the last `leave` jobs of the reader, and end what is due."""
        while await self._step(leave):
            pass
        self.clock.seconds += LATER
        # Watchers ask all the time.
        for spec in self.specs:
            await self.aggregator.scores(spec.run_id)
        await self.aggregator.conclude()
        while await self._step(leave):
            pass

    async def plan(self) -> None:
        """Handle all messages but jobs of the stages, and end what is due."""
        while await self._step(0, (PLAN_JOBS, RUNS, VERDICTS)):
            pass
        await self.aggregator.conclude()

    async def take_jobs(self) -> None:
        """Handle the jobs of the stages that were published."""
        while await self._step(0, (CAPTION_JOBS, QA_JOBS)):
            pass

    async def _step(self, leave: int, topics: tuple[str, ...] = TOPICS) -> bool:
        await self.dispatcher.refill()
        for topic in topics:
            consumer = self.jobs[topic]
            if consumer.lag[0] > (leave if topic == QA_JOBS else 0):
                delivery = await consumer.receive()
                assert delivery is not None
                await consumer.acknowledge(delivery)
                await self._handle(delivery.message)
                return True
        return False

    async def _handle(self, message: Message) -> None:
        if message.topic == PLAN_JOBS:
            await self.planner.plan(CODEC.read_plan_job(message.value))
        elif message.topic in (VERDICTS, RUNS):
            offset = sum(each.message.topic == message.topic for each in self.log)
            self.handled += 1
            record = Record(0, offset, self.handled, message)
            self.log.append(record)
            await self.aggregator.apply([record])
        else:
            handler = self.handlers[message.topic]
            try:
                await handler.handle(Attempt(message.value))
            except CaliperError as error:
                await handler.give_up(message.value, error)

    async def go_on(self, moment: str) -> None:
        """Do the remaining work, "live" or else after all services were started anew: with all
        there is, without snapshots, or without topics as well.
        """
        if moment.startswith("without"):
            for key in [each for each in self.store.objects if each.startswith("aggregator/")]:
                del self.store.objects[key]
        if moment == "without topics":
            self.log.clear()
        if moment != "live":
            await self.begin()
        await self.work()

    async def error(self, spec: RunSpec) -> str:
        """Why a run failed or cannot be told of, as a caller learns it; empty for any other."""
        try:
            return (await self.gateway.get(spec.run_id)).error
        except CaliperError as error:
            return str(error)

    async def files(self, spec: RunSpec) -> tuple[bytes, ...] | None:
        """The files of a complete run; None for any other."""
        try:
            if (await self.gateway.get(spec.run_id)).state is not RunState.COMPLETE:
                return None
            found = [await self.reader.report(spec.run_id, name, partial=False) for name in SINKS]
        except CaliperError:
            return None
        return tuple(data for data, _ in found)

    def damage(self, key: str, how: str) -> None:
        if how == "edited":
            self.edit(key, *EDITS[key.split("/", 2)[2]])
            return
        if how == "nested":
            self.store.objects[key] = gzip.compress(NESTED) if key.endswith(".gz") else NESTED
            return
        data = DAMAGES[how](self.store.objects.pop(key))
        if data is not None:
            self.store.objects[key] = data

    def edit(self, key: str, old: bytes, new: bytes) -> None:
        """Replace something in an object, which may be packed."""
        packed = key.endswith(".gz")
        data = gzip.decompress(self.store.objects[key]) if packed else self.store.objects[key]
        assert old in data
        data = data.replace(old, new)
        self.store.objects[key] = gzip.compress(data, mtime=0) if packed else data
