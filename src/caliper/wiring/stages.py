"""The stages that take jobs from topics: what they are made of, for services and local runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from caliper.core.errors import ModelChanged
from caliper.core.run import RunSpec
from caliper.pipeline.asking.token_budget import SharedAllowances
from caliper.pipeline.planning.publisher import CAPTION_JOBS
from caliper.pipeline.store.write_back import WriteBackBuffer
from caliper.pipeline.work.handlers import (
    CaptionHandler,
    Examined,
    ExamineHandler,
    KeepCaption,
    nobody_listens,
)
from caliper.pipeline.work.worker import GiveUp, Handle, Worker, WorkerLimits
from caliper.ports.telemetry import SILENT, GroupJoined, Telemetry
from caliper.wiring.grounds import Ground
from caliper.wiring.roles import Captioners, Checkpoint, Examiners, ModelsOf
from caliper.wiring.standing_anchors import StandingAnchors


class JobGate(Protocol):
    """Says which jobs are worked on, and what follows when the model of a run has changed."""

    async def spec(self, run: str, name: str) -> RunSpec | None:
        """The spec of a job's run; None if the job should be acknowledged without work."""
        ...

    async def fail(self, run: str, error: ModelChanged) -> None:
        """End the run: another attempt would meet the same error."""
        ...


@dataclass(frozen=True, slots=True)
class Stage:
    """The work on one topic."""

    topic: str
    handlers: tuple[Handle, GiveUp]
    ground: Ground
    limits: WorkerLimits
    telemetry: Telemetry = SILENT

    def worker(self) -> Worker:
        """A worker for the event loop in which this is called; all share one consumer group."""
        member = self.ground.stream.consumer(self.topic, self.topic)
        self.telemetry.record(GroupJoined(self.topic, member))
        return Worker(member, *self.handlers, self.ground.clock, self.limits, self.telemetry)


@dataclass(frozen=True, slots=True)
class StageBuilder:
    """Builds the stages of a process that call models. `examined` is called after the verdicts of
    a job are published.
    """

    ground: Ground
    gate: JobGate
    allowances: SharedAllowances
    limits: WorkerLimits
    telemetry: Telemetry = SILENT
    examined: Examined = nobody_listens

    def examining(self, topic: str, models_of: ModelsOf, anchors: StandingAnchors) -> Stage:
        """The judge or reader that takes jobs from `topic`."""
        ground, store = self.ground, WriteBackBuffer(self.ground.store)
        examiners = Examiners(
            self.gate.spec, models_of, store, self.allowances, anchors, self.telemetry
        )
        handler = ExamineHandler(
            ground.stream,
            ground.codec,
            examiners,
            examiners.before_publishing,
            self.examined,
            self.gate.fail,
        )
        handlers = handler.handle, handler.give_up
        return Stage(topic, handlers, ground, self.limits, self.telemetry)

    def captioning(self, checkpoint: Checkpoint, keep: KeepCaption) -> Stage:
        """The captioner; `keep` is called with each caption before it is examined."""
        ground, store = self.ground, WriteBackBuffer(self.ground.store)

        async def no_examiner(_: object) -> None:
            return None

        captioners = Captioners(self.gate.spec, checkpoint, store, self.allowances, self.telemetry)
        examining = ExamineHandler(
            ground.stream,
            ground.codec,
            no_examiner,
            self.allowances.tell,
            self.examined,
            self.gate.fail,
        )
        handler = CaptionHandler(examining, captioners, keep)
        handlers = handler.handle, handler.give_up
        return Stage(CAPTION_JOBS, handlers, ground, self.limits, self.telemetry)
