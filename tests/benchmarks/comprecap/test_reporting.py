from __future__ import annotations

import math
from fractions import Fraction

import pytest

from caliper.benchmarks.base import CAPTION_LENGTH
from caliper.benchmarks.comprecap.reporting import report, unified
from caliper.core.report import Path
from caliper.core.tally import Tally


def value(tally: Tally, path: Path, **settings: str) -> float | None:
    [figure] = [figure for figure in report(tally, settings).figures if figure.path == path]
    return figure.statistic({cell: tally.total(cell) for cell in figure.cells})


@pytest.fixture
def tally() -> Tally:
    tally = Tally()
    for image, factor in (("a.jpg", 1), ("b.jpg", 3)):
        tally.add("objects", image, sum=Fraction(factor, 5), n=1)
        for repeat in range(3):
            tally.add(f"attribute/{repeat}", image, sum=factor + repeat, n=1, scored=4, unscored=1)
            tally.add(f"coverage/{repeat}", image, sum=Fraction(factor, 4), n=1, scored=1)
    for repeat in range(3):
        tally.add(f"relation/{repeat}", "b.jpg", sum=Fraction(5, 2), n=1, scored=2)
    return tally


def test_metrics_are_means_over_pictures_and_repeats(tally: Tally) -> None:
    assert value(tally, ("s_object",)) == pytest.approx(40.0)
    assert value(tally, ("s_attribute",)) == pytest.approx(3.0)
    assert value(tally, ("s_relation",)) == pytest.approx(2.5)
    assert value(tally, ("s_cov",)) == pytest.approx(50.0)


@pytest.mark.parametrize(
    ("weights", "expected"),
    [("text", 0.25 * 40 + 0.35 * 60 + 0.40 * 50), ("table2", 0.25 * 40 + 0.30 * 60 + 0.45 * 50)],
)
def test_the_unified_metric_by_both_weights(tally: Tally, weights: str, expected: float) -> None:
    assert value(tally, ("s_unified",), weights=weights) == pytest.approx(expected)
    assert weights in report(tally, {"weights": weights}).tables[0].note


def test_repeats_have_a_mean_and_a_spread(tally: Tally) -> None:
    assert value(tally, ("repeats", "s_attribute", "mean")) == pytest.approx(3.0)
    assert value(tally, ("repeats", "s_attribute", "std")) == pytest.approx(1.0)
    assert value(tally, ("repeats", "s_attribute", "range")) == pytest.approx(2.0)
    assert value(tally, ("repeats", "s_relation", "std")) == 0.0
    assert value(tally, ("repeats", "s_relation", "range")) == 0.0
    assert value(tally, ("repeats", "s_unified", "std")) == pytest.approx(0.35 * 20)


def test_what_was_scored_is_counted(tally: Tally) -> None:
    assert value(tally, ("counts", "attribute", "n_scored")) == 24
    assert value(tally, ("counts", "attribute", "n_unscored")) == 6


def test_without_data_there_is_no_figure() -> None:
    tally = Tally()
    layout = report(tally, {})
    assert layout.headline == ("s_unified",)
    for figure in layout.figures:
        if figure.path[0] != "counts":
            assert figure.statistic({}) is None


def test_without_relations_the_unified_metric_has_no_value() -> None:
    tally = Tally()
    tally.add("objects", "a.jpg", sum=1, n=1)
    tally.add("attribute/0", "a.jpg", sum=5, n=1)
    assert value(tally, ("s_object",)) == 100.0
    assert value(tally, ("s_relation",)) is None
    assert value(tally, ("s_unified",)) is None


def test_compreqa_has_a_table_when_it_was_asked(tally: Tally) -> None:
    assert len(report(tally, {}).tables) == 2
    tally.add("compreqa/cap", "a.jpg", sum=3, n=4, scored=4)
    assert value(tally, ("compreqa", "cap")) == 75.0
    assert [row.label for row in report(tally, {}).tables[2].rows] == ["CompreQA-Cap"]


def test_every_cell_of_a_table_is_a_figure(tally: Tally) -> None:
    tally.add("compreqa/p", "a.jpg", sum=3, n=4, scored=4)
    layout = report(tally, {})
    paths = {figure.path for figure in layout.figures}
    assert len(paths) == len(layout.figures)
    for table in layout.tables:
        for row in table.rows:
            assert len(row.cells) == len(table.columns)
            assert {cell for cell in row.cells if cell is not None} <= paths | {CAPTION_LENGTH}


@pytest.mark.parametrize(
    ("reading", "bounds"), [("bounded", (0.0, 5.0)), ("released", (-math.inf, math.inf))]
)
def test_scores_that_are_taken_as_they_are_have_no_bounds(
    tally: Tally, reading: str, bounds: tuple[float, float]
) -> None:
    layout = report(tally, {"reading": reading})
    by_path = {figure.path: figure.bounds for figure in layout.figures}
    assert by_path["s_attribute",] == by_path["s_relation",] == bounds
    assert math.isinf(by_path["s_unified",][0]) is math.isinf(by_path["s_cov",][0])
    assert math.isinf(by_path["s_cov",][0]) is (reading == "released")
    assert by_path["s_object",] == (0.0, 100.0)


@pytest.mark.parametrize(
    ("relations", "note"),
    [("aligned", "its own sentences"), ("released", "as the released script pairs them")],
)
def test_a_report_says_how_relations_were_read(tally: Tally, relations: str, note: str) -> None:
    (said,) = report(tally, {"relations": relations}).notes
    assert note in said


def test_the_unified_metric_is_exact() -> None:
    assert unified(Fraction(1), 0, 0, "text") == Fraction(1, 4)
