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
from caliper.core.envelopes import Message, Record
from caliper.core.messages import Verdicts
from caliper.core.outcome import Evidence, Outcome, Reason, Scored, Unscored, Verdict
from caliper.core.question import Item
from caliper.core.tally import Tally
from caliper.local.config import read_config
from caliper.local.setup import prepare
from caliper.pipeline.ledger.averages import PlannedAverages
from caliper.pipeline.ledger.ledger import Ledger
from caliper.pipeline.ledger.report import figures
from caliper.pipeline.ledger.run_ledger import RunLedger
from caliper.pipeline.ledger.verdict_log import SegmentCache, StoreLog
from caliper.pipeline.live.scores import ScoreCells, label_of, sample_tally, scores_of
from caliper.pipeline.live.tallies import LiveTallies
from caliper.pipeline.planning.publisher import VERDICTS
from caliper.wiring.models import Access

CONFIG = Path(__file__).resolve().parents[3] / "examples" / "careful.yaml"
SCORES = {"capability": (-1, 0, 1), "captionqa": (0, 1), "comprecap": tuple(range(6))}


@pytest.fixture(params=[1, 3])
async def planned(request: pytest.FixtureRequest) -> Planned:
    """The examples, each question asked once or three times."""
    config = read_config(CONFIG)
    parts = {
        name: part.model_copy(update={"repeats": request.param})
        for name, part in config.benchmarks.items()
    }
    chosen = config.model_copy(update={"benchmarks": parts})
    async with prepare(chosen, Access(), FakeClock()) as prepared:
        return await runs.planned(prepared.spec, prepared.supplies.files, MemoryStore())


def drawn(item: Item, draw: Random) -> Outcome:
    """An outcome that a question may have, now and then none."""
    if draw.random() < 0.1:
        return Unscored(Reason.TIMEOUT)
    return Scored(Fraction(draw.choice(SCORES[item.benchmark])), labels=draw.choice((0, 1, 2)))


async def tracked(planned: Planned, folder: Path, draw: Random, known: float = 0.9) -> RunLedger:
    """The run with that share of its outcomes known, some of them Unscored."""
    ledger = Ledger(planned.summary.questions, MemoryLog())
    for item in planned.items:
        for index, _, _ in item.positions():
            if draw.random() < known:
                ledger.merge([Verdict(index, drawn(item, draw), Evidence(""))])
    log = await StoreLog.open(DirectoryStore(folder), "log", SegmentCache(DirectoryStore(folder)))
    return RunLedger(planned.spec, planned.summary, planned.store, log, ledger, 0.0)


@pytest.mark.parametrize("seed", range(3))
async def test_scores_are_those_of_all_sums(planned: Planned, tmp_path: Path, seed: int) -> None:
    run = await tracked(planned, tmp_path, Random(seed))
    cells = ScoreCells()
    totals = {part.name: Tally() for part in run.spec.benchmarks}
    samples: dict[tuple[str, str], list[Item]] = {}
    for item in planned.items:
        samples.setdefault((item.benchmark, item.sample), []).append(item)
    for (name, _), items in samples.items():
        tally, _ = sample_tally(run, items, {})
        totals[name].absorb(cells.select(name, tally, run.spec.benchmark(name).settings))
    for part in run.spec.benchmarks:
        items = [item for item in planned.items if item.benchmark == part.name]
        members = ((item, run.ledger.outcomes(item)) for item in items)
        whole = benchmark(part.name).reduce(members, part.settings)
        averages = PlannedAverages(planned.spec)
        found = scores_of(part.name, totals[part.name], averages)
        assert found == scores_of(part.name, whole, averages)
        assert found
    # Its categories are in reports alone, and are most of what there is of it.
    assert {cell.partition("/")[0] for cell in totals["captionqa"]} <= {"caption", "repeat"}


@pytest.mark.parametrize("seed", range(2))
async def test_figures_that_are_kept_up_are_those_of_a_report(
    planned: Planned, tmp_path: Path, seed: int
) -> None:
    draw, live = Random(seed), LiveTallies()
    run = await tracked(planned, tmp_path, draw, known=seed / 2)
    indices = [(item, index) for item in planned.items for index, _, _ in item.positions()]
    draw.shuffle(indices)
    # Some are told twice, and trouble is followed by scores.
    for place, (item, index) in enumerate([*indices, *indices[: len(indices) // 2]]):
        verdict = Verdict(index, drawn(item, draw), Evidence(str(draw.random())))
        message = Verdicts(run.run, item.benchmark, item.sample, (verdict,))
        record = Record(0, place, place, Message(VERDICTS, "", b""))
        live.on_changes(run, message, record, run.ledger.merge([verdict]))
        if draw.random() < 0.003:
            _, found = await live.figures(run)
            assert found == await figures(run.spec, run.summary, run.plan, run.ledger)
    assert run.ledger.finished


def test_labels_come_from_the_place_in_the_report() -> None:
    assert label_of("capability", ("tasks", "OCR", "f1")) == ("OCR", "f1")
    assert label_of("capability", ("average", "f1")) == ("average", "f1")
    assert label_of("comprecap", ("s_unified",)) == ("overall", "s_unified")
    assert label_of("captionqa", ("domains", "natural", "score")) == ("natural", "score")
    assert label_of("captionqa", ("overall_by", "domains", "score")) is None
    assert label_of("captionqa", ("categories", "natural", "Action", "score")) is None
