"""A gateway in memory, with an aggregator that a test controls."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field

from tests.fakes.clock import FakeClock
from tests.fakes.stores import MemoryStore, supplies

from caliper.adapters.streams.memory import MemoryStream
from caliper.adapters.wire.protobuf_codec import ProtobufCodec
from caliper.core.report import BenchmarkReport, Coverage
from caliper.core.run import Identity, RunState
from caliper.pipeline.gateway.gateway import Gateway
from caliper.pipeline.planning.resolution import BenchmarkRequest, EvaluationRequest
from caliper.pipeline.store.owners import Ownership, TeamRuns
from caliper.pipeline.store.runs import write_json
from caliper.ports.stages import Scores, StageDescription

READER = Identity("lexical", "lexical", "1")
DATA, CAPTIONS = "d" * 64, "c" * 64


def scores(state: str, known: int = 0, start: int = 1, error: str = "") -> Scores:
    """The scores of a run in which `scored` of ten questions have a score."""
    part = BenchmarkReport(
        name="captionqa",
        title="CaptionQA",
        headline=("overall", "score"),
        estimates={},
        tables=(),
        coverage=Coverage(10, known, {}),
        settings={},
        models={},
        notes=(),
    )
    return Scores(RunState(state), (part,) if known else (), error, start)


@dataclass
class Board:
    """ports.stages.ScoreBoard. `scores` returns `now`. Every watch yields the items of one list of
    `told`; the last list serves all later watches. An exception in a list is raised.
    """

    now: Scores | None = None
    told: list[Sequence[Scores | Exception]] = field(default_factory=list)
    watching: int = 0
    watched: int = 0

    async def scores(self, _: str) -> Scores | None:
        return self.now

    async def watch(self, _: str, __: float) -> AsyncGenerator[Scores, None]:
        one = self.told[min(self.watched, len(self.told) - 1)]
        self.watched += 1
        self.watching += 1
        try:
            for each in one:
                if isinstance(each, Exception):
                    raise each
                self.now = each
                yield each
                # As slow as the watcher that polls every time.
                for _ in range(20):
                    await asyncio.sleep(0)
        finally:
            self.watching -= 1


class Stages:
    """ports.stages.StageDirectory with only a reader."""

    async def describe(self, role: str) -> StageDescription:
        return StageDescription({role: READER}, "p" * 64)


@dataclass
class Front:
    """A gateway, its dependencies, and a request that it can resolve."""

    board: Board = field(default_factory=Board)
    store: MemoryStore = field(default_factory=MemoryStore)
    clock: FakeClock = field(default_factory=FakeClock)
    stream: MemoryStream = field(default_factory=MemoryStream)
    ownership: Ownership = field(default_factory=Ownership)

    @property
    def asked(self) -> EvaluationRequest:
        return EvaluationRequest("ours", (BenchmarkRequest("captionqa", DATA, CAPTIONS),))

    async def gateway(self) -> Gateway:
        await write_json(self.store, f"datasets/{DATA}/manifest.json", files={}, folder=False)
        await self.store.put(f"supplied/{CAPTIONS}.jsonl.gz", b"")
        return Gateway(
            self.store,
            self.stream,
            ProtobufCodec(),
            self.clock,
            supplies(self.store, self.ownership),
            Stages(),
            self.board,
            TeamRuns(self.store, self.clock, self.ownership),
            self.ownership,
        )

    async def start_run(self) -> tuple[Gateway, str]:
        """The gateway, and the id of a run that it began."""
        gateway = await self.gateway()
        begun, _ = await gateway.start(self.asked)
        return gateway, begun.spec.run_id
