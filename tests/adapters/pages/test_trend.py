"""The trend page: where points are, and what untrusted names may do."""

from dataclasses import replace
from typing import Any

import pytest
from tests.fakes.reports import capability
from tests.fakes.suites import checkpoint

from caliper.adapters.exports.trend import trend_csv
from caliper.adapters.pages.trend import HEIGHT, WIDTH, render_trend, trend_lines
from caliper.core.checkpoints import CheckpointEntry, EntryFigure, figures_of
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
