"""An aggregator with gauges, and the values that they should show."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from tests.fakes import evaluations
from tests.fakes.clock import FakeClock
from tests.fakes.evaluations import CODEC, House, verdict
from tests.fakes.runs import Planned
from tests.fakes.stores import MemoryLog, MemoryStore
from tests.fakes.telemetry import RecordedTelemetry

from caliper.core.envelopes import Message, Record
from caliper.core.messages import Verdicts
from caliper.core.outcome import Verdict
from caliper.pipeline.aggregation.aggregator import Aggregator
from caliper.pipeline.aggregation.outlets import Outlets
from caliper.pipeline.ledger.ledger import Ledger
from caliper.pipeline.ledger.report import report
from caliper.pipeline.ledger.run_ledger import RunLedger
from caliper.pipeline.live.gauges import Gauges, Scope
from caliper.pipeline.live.scores import label_of
from caliper.pipeline.live.tallies import LiveTallies
from caliper.pipeline.planning.publisher import VERDICTS
from caliper.pipeline.reports.report_files import ReportFiles
from caliper.ports.telemetry import Score, Window

SAMPLES, QUESTIONS = evaluations.SAMPLES, evaluations.QUESTIONS
NOW = 1_767_225_600_000
"""The fake clock's beginning, in milliseconds."""


@dataclass
class Watching:
    """An aggregator with gauges over a store in memory."""

    store: MemoryStore = field(default_factory=MemoryStore)
    clock: FakeClock = field(default_factory=FakeClock)
    told: RecordedTelemetry = field(default_factory=RecordedTelemetry)
    scope: Scope = field(default_factory=Scope)
    most_changes: int = 100_000
    warned: list[str] = field(default_factory=list)

    async def begin(self) -> Aggregator:
        files = ReportFiles(evaluations.captions, lambda _, __: [])
        live = LiveTallies(self.most_changes)
        outlets = Outlets(House().announce, lambda *_: None, self.told, live)
        self.board = Aggregator(self.store, CODEC, self.clock, files, outlets)
        warn = self.warned.append
        self.gauges = Gauges(live, self.told, self.clock, warn, self.scope)
        await self.board.resume()
        return self.board

    def follows(self, run: Planned) -> bool:
        """Whether the sums of a run are kept up to date."""
        return self.board.live.is_live(self.ledger_of(run))

    def ledger_of(self, run: Planned) -> RunLedger:
        return next(each for each in self.board.table if each.run == run.spec.run_id)

    def of(self, window: Window = Window.RUN, model: str = "ours") -> dict[tuple[str, str], Score]:
        return self.told.scores.get((model, "captionqa", window), {})

    def score(self, window: Window = Window.RUN) -> float:
        return self.of(window)["overall", "accuracy"].value


def told(run: Planned, sample: int, verdicts: Sequence[Verdict], offset: int = 0) -> Record:
    message = Verdicts(run.spec.run_id, "captionqa", f"nat_{sample:03}", tuple(verdicts))
    key = f"{message.run}/{message.benchmark}/{message.sample}"
    return Record(0, offset, NOW + offset, Message(VERDICTS, key, CODEC.write(message)))


def judged(run: Planned, sample: int, *scores: int | None, offset: int = 0) -> Record:
    first = sample * QUESTIONS
    found = [verdict(first + place, score) for place, score in enumerate(scores)]
    return told(run, sample, found, offset)


async def reported(run: Planned, records: Sequence[Record]) -> dict[tuple[str, str], Score]:
    """The figures of a report of the same verdicts, with telemetry's labels."""
    ledger = Ledger(run.summary.questions, MemoryLog())
    for record in records:
        ledger.merge(CODEC.read_verdicts(record.message.value).verdicts)
    result = await report(run.spec, run.summary, run.reader, ledger, {})
    return {
        label: Score(estimate.value, estimate.low, estimate.high)
        for path, estimate in result.benchmarks[0].estimates.items()
        if (label := label_of(result.benchmarks[0].name, path))
        and estimate.value is not None
        and not path[-1].startswith("n_")
    }
