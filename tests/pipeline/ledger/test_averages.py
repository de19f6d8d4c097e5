"""An average over some of its planned dimensions says which ones it lacks."""

from collections.abc import Collection
from fractions import Fraction
from pathlib import Path

import pytest
from tests.fakes import runs
from tests.fakes.clock import FakeClock
from tests.fakes.runs import Planned
from tests.fakes.stores import MemoryLog, MemoryStore

from caliper.adapters.exports.json import report_text
from caliper.benchmarks.registry import benchmark
from caliper.core.outcome import Scored, Verdict
from caliper.core.report import Report
from caliper.local.config import read_config
from caliper.local.setup import prepare
from caliper.pipeline.ledger.ledger import Ledger
from caliper.pipeline.ledger.report import report
from caliper.wiring.models import Access

EXAMPLES = Path(__file__).resolve().parents[3] / "examples" / "careful.yaml"


@pytest.fixture
async def planned() -> Planned:
    async with prepare(read_config(EXAMPLES), Access(), FakeClock()) as prepared:
        return await runs.planned(prepared.spec, prepared.supplies.files, MemoryStore())


def groups(planned: Planned, name: str) -> list[str]:
    """The tasks or domains of a benchmark in plan order."""
    found = [benchmark(name).group(item) for item in planned.items if item.benchmark == name]
    return list(dict.fromkeys(found))


async def reported(planned: Planned, scored: Collection[str]) -> Report:
    """The report with a score for every question of these tasks and domains, and no other."""
    ledger = Ledger(planned.summary.questions, MemoryLog())
    for item in planned.items:
        if benchmark(item.benchmark).group(item) in scored:
            indices = [index for index, _, _ in item.positions()]
            ledger.merge([Verdict(index, Scored(Fraction(1))) for index in indices])
    return await report(planned.spec, planned.summary, planned.reader, ledger, {})


@pytest.mark.parametrize("name", ["capability", "captionqa"])
async def test_a_headline_over_part_of_its_dimensions_is_marked(
    planned: Planned, name: str
) -> None:
    every = groups(planned, name)
    assert len(every) > 1
    for scored in (every[:1], every[1:], every):
        found = {part.name: part for part in (await reported(planned, scored)).benchmarks}
        assert sorted(found[name].lacking) == sorted(set(every) - set(scored))


async def test_without_any_score_there_is_nothing_to_mark(planned: Planned) -> None:
    assert {part.lacking for part in (await reported(planned, ())).benchmarks} == {()}


async def test_the_mark_is_not_part_of_report_json(planned: Planned) -> None:
    found = await reported(planned, groups(planned, "capability")[:1])
    assert any(part.lacking for part in found.benchmarks)
    assert "lacking" not in report_text(found)
