import pytest
from hypothesis import given
from hypothesis import strategies as st

from caliper.adapters.pages.charts import Bar, Dot, Spoke, bar, radar, scale, scatter
from caliper.core.report import Estimate


@pytest.mark.parametrize(
    ("highest", "ticks"),
    [
        (77.0, (0.0, 25.0, 50.0, 75.0, 100.0)),
        (12.0, (0.0, 5.0, 10.0, 15.0)),
        (3.9, (0.0, 1.0, 2.0, 3.0, 4.0)),
        (130.0, (0.0, 50.0, 100.0, 150.0)),
    ],
)
def test_the_axis_is_round(highest: float, ticks: tuple[float, ...]) -> None:
    found = scale([Estimate(2.0, 1.0, highest), Estimate(1.5)])
    assert found is not None
    assert found.ticks == ticks


def test_a_bar_runs_from_zero_to_its_value_with_its_whisker() -> None:
    axis = scale([Estimate(100.0)])
    assert axis is not None
    assert bar(Estimate(61.0, 50.0, 77.0), axis) == Bar(0.0, 61.0, 50.0, 77.0)
    assert bar(Estimate(61.0), axis) == Bar(0.0, 61.0, None, None)
    assert bar(Estimate(None), axis) is None


def test_negative_values_grow_to_the_left_of_zero() -> None:
    axis = scale([Estimate(-10.0, -20.0, 0.0), Estimate(20.0)])
    assert axis is not None
    assert axis.ticks == (-20.0, -10.0, 0.0, 10.0, 20.0)
    assert bar(Estimate(-10.0, -20.0, 0.0), axis) == Bar(25.0, 25.0, 0.0, 50.0)


@pytest.mark.parametrize("estimates", [[], [Estimate(None)]])
def test_no_data_no_axis(estimates: list[Estimate]) -> None:
    assert scale(estimates) is None


def test_all_zero_still_has_a_width() -> None:
    axis = scale([Estimate(0.0)])
    assert axis is not None
    assert bar(Estimate(0.0), axis) == Bar(0.0, 0.0, None, None)


@given(st.lists(st.floats(-1e6, 1e6, allow_subnormal=False), min_size=1))
def test_everything_fits_on_few_round_ticks(values: list[float]) -> None:
    axis = scale([Estimate(value) for value in values])
    assert axis is not None
    assert axis.low <= min(0.0, *values)
    assert axis.high >= max(0.0, *values)
    assert 2 <= len(axis.ticks) <= 7
    assert 0.0 in axis.ticks


def test_a_scatter_shows_what_its_points_span() -> None:
    points = [
        ("a", Estimate(60.0, 55.0, 65.0), Estimate(70.0)),
        ("b", Estimate(80.0), Estimate(75.0)),
        ("c", Estimate(60.5), Estimate(70.1)),
        ("d", Estimate(None), Estimate(70.0)),
    ]
    found = scatter(points)
    assert found is not None
    assert (found.across.ticks, found.along.ticks[0]) == ((50.0, 60.0, 70.0, 80.0), 70.0)
    first, second, third = found.dots
    assert first == Dot("a", 33.333, 100.0, False, (16.667, 50.0), None)
    # The highest value is on top; names of close points stand apart.
    assert second.y == found.height(75.0) < third.y < first.y
    assert [dot.is_below for dot in found.dots] == [False, False, True]
    assert scatter(points[3:]) is None


def test_a_radar_has_an_outline_for_each_thing() -> None:
    things = [
        ("a", [Estimate(50.0, 0.0, 99.0), Estimate(100.0), Estimate(0.0), Estimate(25.0)]),
        ("b", [Estimate(100.0), Estimate(None), Estimate(100.0), Estimate(100.0)]),
    ]
    found = radar(["n", "e", "s", "w"], things)
    assert found is not None
    assert found.spokes[:2] == (Spoke("n", 0.0, -100.0), Spoke("e", 100.0, 0.0))
    assert [tick for tick, _ in found.rings] == [0, 25, 50, 75, 100]
    outlines = {name: [tuple(map(float, each.split(","))) for each in outline.split()]
                for name, outline in found.outlines}  # fmt: skip
    assert outlines == {
        "a": [(0, -50), (100, 0), (0, 0), (-25, 0)],
        "b": [(0, -100), (0, 100), (-100, 0)],
    }
    assert radar(["n", "e"], [(name, figures[:2]) for name, figures in things]) is None
    assert radar(["n", "e", "s"], [("a", [Estimate(None)] * 3)]) is None
