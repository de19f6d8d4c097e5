from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import pytest
from tests.fakes import runs
from tests.fakes.stores import MemoryLog, MemoryStore

from caliper.core.outcome import Reason, Scored, Unscored, Verdict
from caliper.core.rows import Row
from caliper.core.suspicion import Suspicious
from caliper.pipeline.ledger.ledger import Ledger
from caliper.pipeline.ledger.report import report

SPEC = runs.spec(runs.part("capability"))


async def counted(
    rows: Sequence[Row], captions: dict[str, str], verdicts: Sequence[Verdict] = ()
) -> Suspicious:
    planned = await runs.planned(SPEC, {"capability": runs.sources(rows, {})}, MemoryStore())
    ledger = Ledger(len(rows), MemoryLog())
    ledger.merge(verdicts)
    found = await report(SPEC, planned.summary, planned.reader, ledger, {"capability": captions})
    return found.benchmarks[0].suspicious


def of_task(task: str, annotation: str, count: int) -> list[Row]:
    return [
        replace(
            row, file=f"{task}.jsonl", fields={**row.fields, "task": task, "annotation": annotation}
        )
        for row in runs.scene_rows(count)
    ]


async def test_one_caption_on_many_media_is_counted_by_media_and_not_by_samples() -> None:
    rows = runs.scene_rows(6)
    one_file = [replace(row, fields={**row.fields, "file_path": "0.jpg"}) for row in rows]
    captions = {f"scene/{number:04}": "A cat sits on a mat. " * 5 for number in range(6)}
    assert await counted(rows, captions) == Suspicious(6, 6, {"repeated": 6}, 6)
    assert await counted(one_file, captions) == Suspicious(0, 6)


@pytest.mark.parametrize(
    ("task", "annotation", "most"),
    [("camera_angle", "low angle", 3), ("style", "realistic", 6), ("camera_movement", "up", 5)],
)
async def test_two_thirds_of_the_categories_in_a_verdict_are_a_sign_whatever_the_words(
    task: str, annotation: str, most: int
) -> None:
    rows = of_task(task, annotation, 4)
    captions = {f"{task}/{number:04}": f"A cat {number}." for number in range(4)}
    listed = [Verdict(at, Scored(Fraction(1), labels=most - at % 2)) for at in range(3)]
    verdicts = [*listed, Verdict(3, Unscored(Reason.TIMEOUT))]
    assert await counted(rows, captions, verdicts) == Suspicious(2, 4, {"categories": 2}, 2)
    assert await counted(rows, captions, verdicts[1:2]) == Suspicious(0, 4)


async def test_a_caption_that_lists_categories_by_name_and_verdict_is_counted_once() -> None:
    rows = of_task("camera_angle", "low angle", 1)
    captions = {"camera_angle/0000": "Level angle, high angle, low angle, dutch angle."}
    verdict = Verdict(0, Scored(Fraction(1), labels=4))
    assert await counted(rows, captions, [verdict]) == Suspicious(1, 1, {"categories": 1}, 1)
