"""All stages of a run of CaptionQA in one process, with scripted models."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from tests.fakes import runs
from tests.fakes.clock import FakeClock
from tests.fakes.examiner_jobs import PACK, right
from tests.fakes.models import OpenPack, Script, ScriptedModel
from tests.fakes.runs import Planned
from tests.fakes.stores import MemoryStore

from caliper.adapters.streams.memory import MemoryStream
from caliper.adapters.wire.identity_codec import IdentityCodec
from caliper.core.caption import Caption
from caliper.core.dead_letters import DEAD_LETTERS
from caliper.core.envelopes import Message
from caliper.core.errors import InvalidInput, MediaMissing
from caliper.core.keys import canonical_json
from caliper.core.messages import CaptionJob, ExamineJob, PlanJob, RunEnded, Verdicts
from caliper.core.outcome import Scored
from caliper.core.plan import PlanSummary
from caliper.core.run import RunSpec
from caliper.local.stages import planning, work
from caliper.local.supplies import FileSupplies
from caliper.pipeline.aggregation.aggregator import Aggregator
from caliper.pipeline.aggregation.follower import Follower, FollowerTiming
from caliper.pipeline.aggregation.outlets import Outlets, Trouble
from caliper.pipeline.asking.answerer import PromptingAnswerer
from caliper.pipeline.asking.examiner import Models
from caliper.pipeline.asking.memory_limit import MemoryLimit
from caliper.pipeline.asking.token_budget import SharedAllowances
from caliper.pipeline.ledger.run_ledger import RunLedger
from caliper.pipeline.planning.planner import Planner, Resumption
from caliper.pipeline.planning.publisher import PLAN_JOBS, QA_JOBS, RUNS, VERDICTS
from caliper.pipeline.reports.report_files import ReportFiles
from caliper.pipeline.store.plan import Captions
from caliper.pipeline.store.run_book import RunBook
from caliper.pipeline.store.runs import SPEC, run_store
from caliper.pipeline.work.worker import WorkerLimits
from caliper.ports.models import Image
from caliper.ports.telemetry import SILENT
from caliper.ports.watcher import Lacking
from caliper.wiring.clock import SystemClock
from caliper.wiring.grounds import Ground
from caliper.wiring.run_anchors import RunAnchors
from caliper.wiring.stages import Checkpoint, ModelStages

SAMPLES, QUESTIONS = 8, 3
SIZE = SAMPLES * QUESTIONS
ONE = Scored(Fraction(1))


@dataclass
class Notes:
    """ports.telemetry.Watcher."""

    seen: dict[str, int] = field(default_factory=dict)

    def on_plan(self, summary: PlanSummary, lacking: Lacking) -> None: ...

    def on_warning(self, text: str) -> None: ...

    def on_resume(self, benchmark: str, known: int) -> None: ...

    def on_caption(self, benchmark: str, sample: str) -> None:
        self.seen["captioned"] = self.seen.get("captioned", 0) + 1

    def on_verdicts(self, job: ExamineJob, verdicts: Verdicts) -> None:
        self.seen["examined"] = self.seen.get("examined", 0) + 1


class Pictures:
    """ports.media.Media."""

    async def images(self, paths: Sequence[str]) -> list[Image]:
        if "2.jpg" in paths:
            raise MediaMissing("2.jpg is not there")
        return [Image(path.encode(), "image/jpeg") for path in paths]


class Bench:
    """A planned run of CaptionQA, with captions supplied or written."""

    def __init__(self, *, captioning: bool = False) -> None:
        models = {"reader": runs.JUDGE, **({"captioner": runs.JUDGE} if captioning else {})}
        captions = None if captioning else "c" * 64
        self.spec = runs.spec(runs.part(models=models, captions=captions))
        texts = None if captioning else {f"nat_{n:03}": "it is green" for n in range(SAMPLES)}
        self.captions = texts or {}
        self.found = {"captionqa": runs.sources(runs.choice_rows(SAMPLES, QUESTIONS), texts)}
        self.store, self.clock, self.notes = MemoryStore(), FakeClock(), Notes()
        self.reader = ScriptedModel(right)
        self.captioner = ScriptedModel(lambda text, before: "it is green") if captioning else None
        self.run: RunLedger | None = None
        self.kept: list[tuple[str, Caption]] = []
        self.published: list[int] = []

    async def planned(self) -> Planned:
        kept = run_store(self.store, self.spec.run_id)
        await kept.put(SPEC, canonical_json(self.spec.to_json()))
        return await runs.planned(self.spec, self.found, kept)

    async def work(self, planned: Planned | None = None, *, budget: float = 60.0) -> MemoryStream:
        """Run one process, with a stream of its own that is too small for all messages at once."""
        if planned is None:
            await self.planned()
        run = self.spec.run_id
        stream = MemoryStream(capacity=4, logs=(VERDICTS, RUNS), once=True)
        # Periodic polling would advance the time of everyone else.
        codec, clock = IdentityCodec(), SystemClock()
        files = ReportFiles(self.no_captions, lambda _, __: [])
        over = asyncio.Event()

        async def end(_: RunEnded) -> None:
            over.set()

        board = Aggregator(self.store, codec, clock, files, Outlets(end, self.refuse))
        tracked = self.run = await board.table.find(run)
        assert tracked is not None

        async def resume(_: str, end: int | None) -> Resumption:
            tracked.retry(end)
            return Resumption(tracked.ledger)

        book = RunBook(self.store, clock)
        pace = FollowerTiming(conclude=0.001, patience=None, snapshots=False)
        ground = Ground(self.store, stream, stream, codec, self.clock)

        async def spec_of(_: str, __: str) -> RunSpec:
            return self.spec

        model_stages = ModelStages(
            ground,
            spec_of,
            SharedAllowances(self.store, "local", self.notes.on_warning),
            WorkerLimits(in_flight=3, budget=budget),
            examined=self.notes.on_verdicts,
        )
        models = Models({"captionqa/reader": PromptingAnswerer(self.reader, PACK)})

        async def models_of(_: RunSpec, __: ExamineJob) -> Models:
            return models

        anchors = RunAnchors(self.store, SILENT, budget, choice=False)
        stages = [model_stages.examining(QA_JOBS, models_of, anchors)]
        if self.captioner is not None:
            written_by, holding = {"captionqa": self.captioner}, MemoryLimit()
            checkpoint = Checkpoint(written_by, OpenPack(), lambda _: Pictures(), holding)
            stages.append(model_stages.captioning(checkpoint, self.keep))
        planner = Planner(self.store, stream, codec, book, FileSupplies(self.found), resume)
        follow = Follower(board, stream, clock, pace).run
        await stream.publish(Message(PLAN_JOBS, run, PlanJob(run)))
        plan = planning(planner, ground, self.published.append)
        await work(plan, stages, stream, follow, over)
        return stream

    async def keep(self, job: CaptionJob, caption: Caption) -> Caption:
        self.kept.append((job.benchmark, caption))
        self.notes.on_caption(job.benchmark, job.sample)
        return caption

    async def no_captions(self, _: RunLedger) -> Captions:
        return {}

    def refuse(self, _: Trouble, text: str) -> None:
        raise InvalidInput(text)

    @property
    def outcomes(self) -> list[object]:
        assert self.run is not None
        return [self.run.ledger.outcome(index) for index in range(SIZE)]

    def script(self, script: Script) -> None:
        self.reader.script = script


async def dead(stream: MemoryStream) -> int:
    await stream.close_topic(DEAD_LETTERS)
    consumer, count = stream.consumer(DEAD_LETTERS, "test"), 0
    while (delivery := await consumer.receive()) is not None:
        await consumer.acknowledge(delivery)
        count += 1
    return count
