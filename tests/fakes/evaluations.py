"""An aggregator over runs in a store in memory, with the log that it reads."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.fakes import runs
from tests.fakes.clock import FakeClock
from tests.fakes.runs import Planned
from tests.fakes.stores import MemoryLog, MemoryStore

from caliper.adapters.exports.json import JsonExport, report_text
from caliper.adapters.exports.parquet import ParquetExport
from caliper.adapters.wire.protobuf_codec import ProtobufCodec
from caliper.core.envelopes import Message, Record
from caliper.core.keys import canonical_json
from caliper.core.messages import (
    EventKind,
    PlanMade,
    RunEnded,
    RunEvent,
    RunFailed,
    Verdicts,
    event_key,
)
from caliper.core.outcome import Evidence, Reason, Scored, Unscored, Verdict
from caliper.core.question import Item
from caliper.core.run import BenchmarkSpec
from caliper.pipeline.aggregation.aggregator import Aggregator
from caliper.pipeline.aggregation.outlets import Bounds, Outlets, Trouble
from caliper.pipeline.ledger.ledger import Ledger
from caliper.pipeline.ledger.report import report, verdict_rows
from caliper.pipeline.ledger.run_ledger import RunLedger
from caliper.pipeline.planning.publisher import RUNS, VERDICTS
from caliper.pipeline.reports.report_files import ReportFiles, SinksOf
from caliper.pipeline.store.plan import Captions
from caliper.pipeline.store.runs import note_cancel, run_store
from caliper.pipeline.work.authentic_stream import Signatures
from caliper.pipeline.work.log_subject import subject_ids
from caliper.ports.telemetry import SILENT, Telemetry

CODEC = ProtobufCodec()
CAPTIONS = {"captionqa": {"nat_000": "a green thing", "nat_001": "two red things there"}}
SAMPLES, QUESTIONS = 3, 2
SIZE = SAMPLES * QUESTIONS


async def captions(_: RunLedger) -> Captions:
    return CAPTIONS


async def stored_run(
    store: MemoryStore,
    name: str = "ours",
    *parts: BenchmarkSpec,
    domains: Sequence[str] = ("natural",),
    **changes: object,
) -> Planned:
    spec = runs.spec(*parts, name=name, **changes)
    run_objects = run_store(store, spec.run_id)
    await run_objects.put("spec.json", canonical_json(spec.to_json()))
    rows = runs.choice_rows(SAMPLES, QUESTIONS, domains)
    benchmark_sources = {"captionqa": runs.sources(rows, {})}
    return await runs.planned(spec, benchmark_sources, run_objects)


def verdict(index: int, score: int | None = None, reply: str = "") -> Verdict:
    outcome = Scored(Fraction(score)) if score is not None else Unscored(Reason.TIMEOUT)
    return Verdict(index, outcome, Evidence(reply))


def messages_of(run: Planned, verdicts: Iterable[Verdict], offset: int = 0) -> list[Record]:
    """One record per sample that the verdicts are about, as the examiners send them."""
    samples: dict[Item, list[Verdict]] = {}
    items = {index: item for item in run.items for index, _, _ in item.positions()}
    for each in verdicts:
        # What is of no plan is told of its first sample.
        samples.setdefault(items.get(each.index, run.items[0]), []).append(each)
    return [
        _record(run, item, tuple(found), offset + place)
        for place, (item, found) in enumerate(samples.items())
    ]


def _record(run: Planned, item: Item, verdicts: tuple[Verdict, ...], offset: int) -> Record:
    message = Verdicts(run.spec.run_id, item.benchmark, item.sample, verdicts)
    key = f"{message.run}/{message.benchmark}/{message.sample}"
    return Record(0, offset, offset, Message(VERDICTS, key, CODEC.write(message)))


def verdicts_of(run: Planned, verdicts: Iterable[Verdict], offset: int = 0) -> Record:
    """A record of verdicts about one sample."""
    (record,) = messages_of(run, verdicts, offset)
    return record


def event_of(
    run: Planned, kind: EventKind, timestamp: int, error: str = "", start: int = 0
) -> Record:
    name = run.spec.run_id
    events: dict[EventKind, RunEvent] = {
        EventKind.PLAN: PlanMade(name, SIZE, start),
        EventKind.FAIL: RunFailed(name, error, start),
    }
    event = events[kind]
    return Record(0, timestamp, timestamp, Message(RUNS, event_key(event), CODEC.write(event)))


def scored(run: Planned, seed: int = 0) -> list[Record]:
    """One record per sample, with all questions scored."""
    return [
        verdicts_of(
            run,
            [
                verdict(index, (index + seed) % 2, f"reply {index}")
                for index in range(sample * QUESTIONS, (sample + 1) * QUESTIONS)
            ],
            sample,
        )
        for sample in range(SAMPLES)
    ]


@dataclass
class House:
    """An aggregator that can die, and its announcements, which come back on the log."""

    store: MemoryStore = field(default_factory=MemoryStore)
    clock: FakeClock = field(default_factory=FakeClock)
    bounds: Bounds = field(default_factory=Bounds)
    announced: list[RunEnded] = field(default_factory=list)
    warned: list[Trouble] = field(default_factory=list)
    # What records name that are logged with the warnings.
    subjects: list[dict[str, str]] = field(default_factory=list)
    sinks: SinksOf = lambda _, __: [JsonExport(), ParquetExport()]
    plain: SinksOf | None = None
    advance: Callable[[RunLedger], Awaitable[None]] | None = None
    signatures: Signatures = field(default_factory=Signatures)
    telemetry: Telemetry = SILENT

    def starting(self) -> Aggregator:
        """An aggregator that has not resumed yet."""
        files = ReportFiles(captions, self.sinks, plain=self.plain)
        outlets = Outlets(
            self.announce,
            self.warn,
            self.telemetry,
            advance=self.advance,
            signatures=self.signatures,
        )
        return Aggregator(self.store, CODEC, self.clock, files, outlets, self.bounds)

    async def aggregator(self) -> Aggregator:
        found = self.starting()
        await found.resume()
        return found

    async def announce(self, event: RunEnded) -> None:
        self.announced.append(event)

    def warn(self, kind: Trouble, _: str) -> None:
        self.warned.append(kind)
        self.subjects.append(subject_ids())

    def ends(self) -> list[Record]:
        """The announced ends, as the topic runs holds them."""
        return [
            Record(1, offset, offset, Message(RUNS, event_key(event), CODEC.write(event)))
            for offset, event in enumerate(self.announced)
        ]

    def file(self, run: Planned, name: str = "report.json") -> bytes | None:
        return self.store.objects.get(f"runs/{run.spec.run_id}/report/{name}")


async def cancel(house: House, run: Planned, aggregator: Aggregator) -> None:
    """Cancel the run as the gateway does, and let the aggregator find that in the store."""
    await note_cancel(run.store)
    house.clock.seconds += 2
    await aggregator.conclude()


async def set_up(
    house: House | None = None, **changes: object
) -> tuple[House, Planned, Aggregator]:
    """A house with one stored run, and its aggregator."""
    house = house or House()
    run = await stored_run(house.store, **changes)
    return house, run, await house.aggregator()


async def standalone(run: Planned, records: Sequence[Record]) -> tuple[bytes, bytes]:
    """report.json and verdicts.parquet as a run in one process computes them from the same
    verdicts.
    """
    ledger = Ledger(run.summary.questions, MemoryLog())
    for record in records:
        ledger.merge(CODEC.read_verdicts(record.message.value).verdicts)
    result = await report(run.spec, run.summary, run.reader, ledger, CAPTIONS)
    rows = [row async for shard in verdict_rows(run.spec, run.reader, ledger) for row in shard]
    with TemporaryDirectory() as folder:
        file = await asyncio.to_thread(ParquetExport().write, result, iter(rows), Path(folder))
        return report_text(result).encode(), file.read_bytes()
