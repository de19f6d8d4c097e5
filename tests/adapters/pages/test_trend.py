"""The trend page: where points are, and what untrusted names may do."""

from dataclasses import replace
from typing import Any

import pytest
from tests.fakes.reports import capability
from tests.fakes.suites import checkpoint

from caliper.adapters.exports.trend import trend_csv
from caliper.adapters.pages.trend import HEIGHT, WIDTH, render_trend, trend_lines
from caliper.core.checkpoints import CheckpointEntry, EntryFigure, figures_of
from caliper.core.entry_states import EntryState
from caliper.core.report import Report

F1 = ("capability", "average.f1")


def entry(step: int | None, value: float, **fields: Any) -> CheckpointEntry:
    figure = EntryFigure(*F1, value, value - 5, value + 5, is_headline=True)
    return CheckpointEntry("s", "v", checkpoint(step, **fields), "t", "t", figures=(figure,))


@pytest.mark.parametrize("steps", [(0, 100, 400), (0, None, 400), (7,), (3, 3)])
def test_points_are_in_the_chart_by_step(steps: tuple[int | None, ...]) -> None:
    entries = [replace(entry(step, 50.0), is_complete=True) for step in steps]
    (line,) = trend_lines(entries, [F1, ("capability", "none")])
    places = [point.x for point in line.points]
    assert places == sorted(places)
    assert all(0 < x < WIDTH for x in places)
    for point in line.points:
        assert point.low is not None
        assert point.high is not None
        assert 0 < point.high < point.y < point.low < HEIGHT
    if steps == (0, 100, 400):
        assert (places[1] - places[0]) * 3 == pytest.approx(places[2] - places[1], abs=0.5)


def test_other_figures_and_checkpoints_without_any_are_on_the_page() -> None:
    more = EntryFigure("capability", "tasks.OCR.f1", 20.0, 10.0, 30.0)
    counted = EntryFigure("capability", "tasks.OCR.n_scored", 9.0)
    base = replace(entry(0, 50.0, tags=("release",)), run="step-0-run")
    base = replace(base, is_complete=True, figures=(*base.figures, more, counted))
    decided = {"baseline": "rev200", "run": "step-200-run", "findings": ({},), "saved": 6}
    after = replace(base, checkpoint=checkpoint(200), is_complete=False, asked=2, **decided)
    after = replace(after, baseline="rev0", state=EntryState.REGRESSED, reason="f1 -9.00")
    lost = replace(entry(100, 0.0), figures=(), state=EntryState.FAILED, reason="no captions")
    page = render_trend("nightly", [base, after], [F1], [lost])
    folded = page[page.index('id="others"') : page.index('id="checkpoints"')]
    assert "tasks.OCR.f1" in folded
    assert "average.f1" not in folded
    assert "n_scored" not in page
    assert page.count('class="regressed decided"') == 2
    assert "decided on 25.00% of the questions" in page
    table = page[page.index('id="checkpoints"') :]
    for said in ("release", "no captions", "f1 -9.00", "baseline of 1"):
        assert said in table
    assert "<code>caliper compare step-0-run step-200-run</code>" in table
    (line,) = trend_lines([base, after], [F1], [lost])
    ((place, gap),) = line.gaps
    assert gap is lost
    assert line.points[0].x < place < line.points[1].x
    served = {"trail": (("Runs", "/"),), "flips": "/compare?base={}&run={}".format}
    linked = render_trend("nightly", [base, after], [F1], **served)
    assert 'href="/compare?base=step-0-run&amp;run=step-200-run">Compare</a>' in linked


@pytest.mark.parametrize(
    ("fields", "judged"),
    [
        ({"is_complete": True}, "complete"),
        ({"state": EntryState.PASSED, "findings": ({},), "saved": 5}, "decided"),
        ({"state": EntryState.INCONCLUSIVE, "saved": 5}, "incomplete"),
        ({"saved": 5}, "incomplete"),
    ],
)
def test_the_table_says_how_far_a_run_was_judged(fields: dict[str, Any], judged: str) -> None:
    heads, row = trend_csv([replace(entry(1, 50.0), **fields)]).splitlines()
    assert dict(zip(heads.split(","), row.split(","), strict=True))["judged"] == judged


def test_names_are_text() -> None:
    name = "<script>alert(1)</script>"
    page = render_trend("nightly", [replace(entry(1, 50.0, name=name), saved=1)], [F1])
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert" in page
    assert trend_csv([entry(1, 50.0, name="=1+1")]).splitlines()[1].startswith("1,'=1+1,rev1,")


def test_no_line_leads_through_incomplete_runs() -> None:
    entries = [entry(step, 50.0) for step in (1, 2, 3)]
    entries[0], entries[2] = replace(entries[0], is_complete=True), replace(entries[2], saved=7)
    (line,) = trend_lines(entries, [F1])
    assert [point.entry.checkpoint.step for point in line.points] == [1, 3]
    assert line.path.count(",") == 2


def test_averages_that_lack_a_task_are_in_no_trend() -> None:
    whole = capability()
    figures = list(figures_of(Report("r", "complete", (whole,))))
    in_part = list(figures_of(Report("r", "complete", (replace(whole, lacking=("event",)),))))
    assert {figure.path for figure in figures} - {figure.path for figure in in_part} == {
        f"average.{metric}" for metric in ("f1", "precision", "recall")
    }
    assert not any(figure.is_headline for figure in in_part)
