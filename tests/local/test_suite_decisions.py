"""The figures of a checkpoint whose run ended early: estimates for all questions, or none."""

from dataclasses import replace

from tests.fakes.reports import captionqa
from tests.fakes.suites import checkpoint

from caliper.analysis.sequential import CheckLook, Finding, Look
from caliper.core.checkpoints import CheckpointEntry, EntryFigure
from caliper.core.report import Estimate, Path, Report
from caliper.local.suite_decisions import EvaluatedRun, decide_by_look

POOLED, MEAN, DOMAIN = (
    ("overall_by", "questions", "score"),
    ("overall", "score"),
    ("domains", "natural", "score"),
)
NAME = "captionqa domains.natural.score"
CHECK = CheckLook(NAME, Finding.PASSED, -0.02, -0.3, 0.2, 0.01, 9, 90, 0, 3, None, 1.0, 0.01)
LOOK = Look(Finding.PASSED, -0.02, -0.03, 0.2, None, (CHECK,), frozenset())


async def figures(state: str) -> dict[Path, tuple[float | None, ...]]:
    drawn = dict.fromkeys((POOLED, MEAN, DOMAIN), Estimate(50.0, 40.0, 60.0))
    part = replace(captionqa(), estimates=drawn, headline=MEAN)
    run = EvaluatedRun("run", Report("step", state, (part,)))
    before = EntryFigure("captionqa", ".".join(DOMAIN), 90.0, 80.0, 95.0)
    base = CheckpointEntry("s", "v", checkpoint(1), "t", "t", figures=(before,))

    async def look() -> Look:
        return LOOK

    _, decided = await decide_by_look(look, run, base)
    found = (run.fields | decided)["figures"]
    return {tuple(one.path.split(".")): (one.value, one.low, one.high) for one in found}


async def test_a_decided_check_counts_from_the_baseline_and_pooled_figures_are_left_out() -> None:
    drawn = (50.0, 40.0, 60.0)
    # Percentages end at 100.
    assert await figures("decided") == {MEAN: drawn, DOMAIN: (88.0, 60.0, 100.0)}
    assert await figures("complete") == dict.fromkeys((POOLED, MEAN, DOMAIN), drawn)
