import pytest

from caliper.benchmarks.base import Better
from caliper.benchmarks.captionqa.stability import cell_of
from caliper.benchmarks.registry import BUILT_IN, benchmark
from caliper.core.report import Figure, Kind
from caliper.core.tally import Tally

CELLS = {
    "capability": ("caption/scene/0", "caption/scene/1", "qa/scene/0", "kt/scene/0"),
    "captionqa": (
        *("caption/natural", "image/natural", "top/natural/Object", "full/natural/Object - Name"),
        *(cell_of("natural", repeat) for repeat in (0, 1)),
    ),
    "comprecap": (
        *("objects", "attribute/0", "relation/0", "coverage/0"),
        *("attribute/1", "relation/1", "coverage/1", "compreqa/p", "compreqa/cap"),
    ),
}
"""Cells with which a benchmark reports everything that it can."""


def figures(name: str) -> list[Figure]:
    tally = Tally()
    for cell in CELLS[name]:
        tally.add(cell, "m", scored=1, points=1, correct=1, offered=1, cannot=0, sum=1, n=1)
    return list(benchmark(name).report(tally, {}).figures)


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_figure_is_in_the_table(name: str) -> None:
    assert [
        figure.path for figure in figures(name) if benchmark(name).direction(figure.path) is None
    ] == []


@pytest.mark.parametrize("name", BUILT_IN)
def test_what_has_an_interval_is_better_one_way(name: str) -> None:
    """Counts and spreads have none: neither way is such a figure the better one."""
    for figure in figures(name):
        bare = figure.kind in (Kind.COUNT, Kind.PLAIN)
        assert (benchmark(name).direction(figure.path) is Better.NEITHER) is bare, figure.path


def test_every_kind_of_figure_was_looked_at() -> None:
    told = {figure.path[-1] for name in BUILT_IN for figure in figures(name)}
    assert {"f1", "kt_bar", "qa_accuracy", "range_f1", "cannot", "std_score", "s_cov"} <= told
    firsts = {figure.path[0] for name in BUILT_IN for figure in figures(name)}
    assert {"utility_gap", "compreqa", "repeats", "qa_on_image", "subcategories"} <= firsts


def test_lower_is_better() -> None:
    for name, path in (
        ("captionqa", ("overall", "cannot")),
        ("capability", ("average", "kt_bar")),
        ("captionqa", ("utility_gap", "natural")),
    ):
        assert benchmark(name).direction(path) is Better.LESS
    assert benchmark("captionqa").direction(("overall", "smell")) is None
