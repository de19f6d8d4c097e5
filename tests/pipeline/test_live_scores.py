"""Samples as sums, and sums as scores: only those that are shown, and none of them changed."""

from fractions import Fraction
from pathlib import Path
from random import Random

import pytest
from tests.fakes import runs
from tests.fakes.clock import FakeClock
from tests.fakes.runs import Planned
from tests.fakes.stores import MemoryLog, MemoryStore

from caliper.adapters.stores.directory import DirectoryStore
from caliper.benchmarks.registry import benchmark
from caliper.core.outcome import Evidence, Outcome, Reason, Scored, Unscored, Verdict
from caliper.core.tally import Tally
from caliper.pipeline.ledger import Ledger
from caliper.pipeline.live_scores import Reduction, by_sample, label_of, scores_of
from caliper.pipeline.store_log import SegmentCache, StoreLog
from caliper.pipeline.tracked import TrackedRun
from caliper.runtime.models import Access
from caliper.standalone.config import read_config
from caliper.standalone.prepare import prepare

CONFIG = Path(__file__).resolve().parents[2] / "examples" / "careful.yaml"
SCORES = {"capability": (-1, 0, 1), "captionqa": (0, 1), "comprecap": tuple(range(6))}


@pytest.fixture(params=[1, 3])
async def planned(request: pytest.FixtureRequest) -> Planned:
    """The examples, each question asked once or three times."""
    config = read_config(CONFIG)
    parts = {
        name: part.model_copy(update={"repeats": request.param})
        for name, part in config.benchmarks.items()
    }
    prepared = await prepare(config.model_copy(update={"benchmarks": parts}), Access(), FakeClock())
    await prepared.room.close()
    return await runs.planned(prepared.spec, prepared.supplies.opened, MemoryStore())


async def tracked(planned: Planned, folder: Path, draw: Random) -> TrackedRun:
    """The run with most of its outcomes known, some of them Unscored."""
    ledger = Ledger(planned.summary.questions, MemoryLog())
    for item in planned.items:
        for index, _, _ in item.positions():
            outcome: Outcome = Scored(Fraction(draw.choice(SCORES[item.benchmark])))
            if draw.random() < 0.1:
                outcome = Unscored(Reason.TIMEOUT)
            if draw.random() < 0.9:
                ledger.merge([Verdict(index, outcome, Evidence(""))])
    log = await StoreLog.open(DirectoryStore(folder), "log", SegmentCache(DirectoryStore(folder)))
    return TrackedRun(planned.spec, planned.summary, planned.store, log, ledger, 0.0)


@pytest.mark.parametrize("seed", range(3))
async def test_scores_are_those_of_all_sums(planned: Planned, tmp_path: Path, seed: int) -> None:
    run = await tracked(planned, tmp_path, Random(seed))
    reduction = Reduction()
    totals = {part.name: Tally() for part in run.spec.benchmarks}
    for (name, _), items in by_sample(planned.items).items():
        tally, _ = reduction.reduced(run, name, items, {})
        totals[name].absorb(tally)
    for part in run.spec.benchmarks:
        items = [item for item in planned.items if item.benchmark == part.name]
        members = ((item, run.ledger.outcomes(item)) for item in items)
        whole = benchmark(part.name).reduce(members, part.settings)
        found = scores_of(part.name, totals[part.name], part.settings)
        assert found == scores_of(part.name, whole, part.settings)
        assert found
    # Its categories are in reports alone, and are most of what there is of it.
    assert {cell.partition("/")[0] for cell in totals["captionqa"]} <= {"caption", "repeat"}


def test_labels_come_from_the_place_in_the_report() -> None:
    assert label_of("capability", ("tasks", "OCR", "f1")) == ("OCR", "f1")
    assert label_of("capability", ("average", "f1")) == ("average", "f1")
    assert label_of("comprecap", ("s_unified",)) == ("overall", "s_unified")
    assert label_of("captionqa", ("domains", "natural", "score")) == ("natural", "score")
    assert label_of("captionqa", ("overall_by", "domains", "score")) is None
    assert label_of("captionqa", ("categories", "natural", "Action", "score")) is None
