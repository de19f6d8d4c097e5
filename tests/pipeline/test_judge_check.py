"""The judge check of an installation's report: what is kept of it, and what stands in a report."""

import json

import pytest
from tests.fakes import runs
from tests.fakes.stores import MemoryStore

from caliper.analysis.drift import Judged, Sitting
from caliper.core.errors import InvalidInput, NewerSchema
from caliper.core.report import BenchmarkReport, Coverage, JudgeCheck, Report
from caliper.pipeline.judge_check import keep_sitting, read_sittings, with_checks

KEY = "anchors/captionqa.json"
SPEC = runs.spec()


def sitting(*given: str | None) -> Sitting:
    """Anchors that all deserve "correct"."""
    verdicts = {str(place): Judged("correct", word) for place, word in enumerate(given)}
    return Sitting("reader", "set", verdicts)


async def test_what_is_kept_is_read_back() -> None:
    store, found = MemoryStore(), sitting("correct", "wrong", None)
    assert await read_sittings(store, SPEC) == {}
    await keep_sitting(store, "captionqa", found)
    assert json.loads(store.objects[KEY])["schema"] == 1
    assert await read_sittings(store, SPEC) == {"captionqa": found}


@pytest.mark.parametrize("second", [("wrong", None), (None, None), ("correct", None)])
async def test_another_sitting_without_more_verdicts_changes_nothing(
    second: tuple[str | None, ...],
) -> None:
    store = MemoryStore()
    await keep_sitting(store, "captionqa", sitting("correct", None))
    before = dict(store.objects)
    await keep_sitting(store, "captionqa", sitting(*second))
    assert store.objects == before


async def test_a_sitting_in_trouble_is_replaced_in_whatever_order() -> None:
    stores = MemoryStore(), MemoryStore()
    sittings = sitting(None, None), sitting("correct", "wrong")
    for store, order in zip(stores, (sittings, sittings[::-1]), strict=True):
        for found in order:
            await keep_sitting(store, "captionqa", found)
    assert stores[0].objects == stores[1].objects
    assert await read_sittings(stores[0], SPEC) == {"captionqa": sittings[1]}


@pytest.mark.parametrize(
    ("written", "error"),
    [
        (b'{"schema":1,"verdicts":5}', InvalidInput),
        (b"no JSON", InvalidInput),
        (b'{"schema":2}', NewerSchema),
    ],
)
async def test_what_cannot_be_read_is_named(written: bytes, error: type[Exception]) -> None:
    store = MemoryStore()
    store.objects[KEY] = written
    with pytest.raises(error, match=f"^{KEY}"):
        await read_sittings(store, SPEC)


def test_only_judged_benchmarks_have_a_check() -> None:
    parts = (
        BenchmarkReport("captionqa", "", (), {}, (), Coverage(1, 1)),
        BenchmarkReport("capability", "", (), {}, (), Coverage(1, 1)),
    )
    found = with_checks(Report("", "", parts), {"captionqa": sitting("correct", "wrong", None)})
    assert [part.check for part in found.benchmarks] == [JudgeCheck(1, 2, 1), None]
