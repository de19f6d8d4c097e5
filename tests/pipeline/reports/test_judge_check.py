"""The judge check of an installation's report: what is kept of it, and what stands in a report."""

import json

import pytest
from tests.fakes import runs
from tests.fakes.stores import MemoryStore

from caliper.analysis.drift import AnchorJudgement, AnchorVerdict
from caliper.core.errors import NewerSchema
from caliper.core.report import BenchmarkReport, Coverage, JudgeCheck, Report
from caliper.pipeline.reports.judge_check import read_judgements, save_judgement, with_checks

KEY = "anchors/captionqa.json"
SPEC = runs.spec()


def judgement(*given: str | None) -> AnchorJudgement:
    """Anchors that all deserve "correct"."""
    verdicts = {str(place): AnchorVerdict("correct", word) for place, word in enumerate(given)}
    return AnchorJudgement("reader", "set", verdicts)


async def test_what_is_kept_is_read_back() -> None:
    store, found = MemoryStore(), judgement("correct", "wrong", None)
    assert await read_judgements(store, SPEC) == {}
    await save_judgement(store, "captionqa", found)
    assert json.loads(store.objects[KEY])["schema"] == 1
    assert await read_judgements(store, SPEC) == {"captionqa": found}


@pytest.mark.parametrize("second", [("wrong", None), (None, None), ("correct", None)])
async def test_another_judgement_without_more_verdicts_changes_nothing(
    second: tuple[str | None, ...],
) -> None:
    store = MemoryStore()
    await save_judgement(store, "captionqa", judgement("correct", None))
    before = dict(store.objects)
    await save_judgement(store, "captionqa", judgement(*second))
    assert store.objects == before


async def test_a_judgement_in_trouble_is_replaced_in_whatever_order() -> None:
    stores = MemoryStore(), MemoryStore()
    judgements = judgement(None, None), judgement("correct", "wrong")
    for store, order in zip(stores, (judgements, judgements[::-1]), strict=True):
        for found in order:
            await save_judgement(store, "captionqa", found)
    assert stores[0].objects == stores[1].objects
    assert await read_judgements(stores[0], SPEC) == {"captionqa": judgements[1]}


@pytest.mark.parametrize("damaged", [b'{"schema":1,"verdicts":5}', b"no JSON", b""])
async def test_a_damaged_judgement_costs_no_report_and_is_replaced(damaged: bytes) -> None:
    store, found = MemoryStore(), judgement("correct", None)
    store.objects[KEY] = damaged
    assert await read_judgements(store, SPEC) == {}
    await save_judgement(store, "captionqa", found)
    assert await read_judgements(store, SPEC) == {"captionqa": found}


async def test_a_judgement_of_a_newer_release_is_refused_and_kept() -> None:
    store, newer = MemoryStore(), b'{"schema":2}'
    store.objects[KEY] = newer
    with pytest.raises(NewerSchema, match=f"^{KEY}"):
        await read_judgements(store, SPEC)
    with pytest.raises(NewerSchema):
        await save_judgement(store, "captionqa", judgement("correct"))
    assert store.objects[KEY] == newer


def test_only_judged_benchmarks_have_a_check() -> None:
    parts = (
        BenchmarkReport("captionqa", "", (), {}, (), Coverage(1, 1)),
        BenchmarkReport("capability", "", (), {}, (), Coverage(1, 1)),
    )
    found = with_checks(Report("", "", parts), {"captionqa": judgement("correct", "wrong", None)})
    assert [part.check for part in found.benchmarks] == [JudgeCheck(1, 2, 1), None]
