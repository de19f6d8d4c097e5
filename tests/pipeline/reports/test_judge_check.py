"""The judge check of an installation's report: what is kept of it, and what stands in a report."""

import json

import pytest
from tests.fakes import runs
from tests.fakes.stores import MemoryStore

from caliper.analysis.drift import AnchorVerdict, Sitting
from caliper.core.errors import NewerSchema
from caliper.core.report import BenchmarkReport, Coverage, JudgeCheck, Report
from caliper.pipeline.reports.judge_check import read_sittings, save_sitting, with_checks

KEY = "anchors/captionqa.json"
SPEC = runs.spec()


def sitting(*given: str | None) -> Sitting:
    """Anchors that all deserve "correct"."""
    verdicts = {str(place): AnchorVerdict("correct", word) for place, word in enumerate(given)}
    return Sitting("reader", "set", verdicts)


async def test_what_is_kept_is_read_back() -> None:
    store, found = MemoryStore(), sitting("correct", "wrong", None)
    assert await read_sittings(store, SPEC) == {}
    await save_sitting(store, "captionqa", found)
    assert json.loads(store.objects[KEY])["schema"] == 1
    assert await read_sittings(store, SPEC) == {"captionqa": found}


@pytest.mark.parametrize("second", [("wrong", None), (None, None), ("correct", None)])
async def test_another_sitting_without_more_verdicts_changes_nothing(
    second: tuple[str | None, ...],
) -> None:
    store = MemoryStore()
    await save_sitting(store, "captionqa", sitting("correct", None))
    before = dict(store.objects)
    await save_sitting(store, "captionqa", sitting(*second))
    assert store.objects == before


async def test_a_sitting_in_trouble_is_replaced_in_whatever_order() -> None:
    stores = MemoryStore(), MemoryStore()
    sittings = sitting(None, None), sitting("correct", "wrong")
    for store, order in zip(stores, (sittings, sittings[::-1]), strict=True):
        for found in order:
            await save_sitting(store, "captionqa", found)
    assert stores[0].objects == stores[1].objects
    assert await read_sittings(stores[0], SPEC) == {"captionqa": sittings[1]}


@pytest.mark.parametrize("damaged", [b'{"schema":1,"verdicts":5}', b"no JSON", b""])
async def test_a_damaged_sitting_costs_no_report_and_is_replaced(damaged: bytes) -> None:
    store, found = MemoryStore(), sitting("correct", None)
    store.objects[KEY] = damaged
    assert await read_sittings(store, SPEC) == {}
    await save_sitting(store, "captionqa", found)
    assert await read_sittings(store, SPEC) == {"captionqa": found}


async def test_a_sitting_of_a_newer_release_is_refused_and_kept() -> None:
    store, newer = MemoryStore(), b'{"schema":2}'
    store.objects[KEY] = newer
    with pytest.raises(NewerSchema, match=f"^{KEY}"):
        await read_sittings(store, SPEC)
    with pytest.raises(NewerSchema):
        await save_sitting(store, "captionqa", sitting("correct"))
    assert store.objects[KEY] == newer


def test_only_judged_benchmarks_have_a_check() -> None:
    parts = (
        BenchmarkReport("captionqa", "", (), {}, (), Coverage(1, 1)),
        BenchmarkReport("capability", "", (), {}, (), Coverage(1, 1)),
    )
    found = with_checks(Report("", "", parts), {"captionqa": sitting("correct", "wrong", None)})
    assert [part.check for part in found.benchmarks] == [JudgeCheck(1, 2, 1), None]
