"""The trend page: a line per figure over the training steps, in one self-contained file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from caliper.adapters.pages import charts
from caliper.adapters.pages.page import TABLES, render
from caliper.benchmarks.registry import benchmark
from caliper.core.checkpoints import CheckpointEntry, EntryFigure
from caliper.core.entry_states import EntryState
from caliper.core.report import Estimate

WIDTH, HEIGHT = 960, 240
_MARGIN = 48


@dataclass(frozen=True, slots=True)
class TrendPoint:
    """A point of a line: its entry and figure, and where both are in the chart."""

    entry: CheckpointEntry
    figure: EntryFigure
    x: float
    y: float
    low: float | None
    high: float | None

    @property
    def is_regression(self) -> bool:
        """Whether the gate stopped this checkpoint."""
        return self.entry.state is EntryState.REGRESSED

    @property
    def estimate(self) -> Estimate:
        """The figure as tables show it."""
        return Estimate(self.figure.value, self.figure.low, self.figure.high)


@dataclass(frozen=True, slots=True)
class TrendLine:
    """One figure over the checkpoints; `ticks` are values and their places."""

    title: str
    points: tuple[TrendPoint, ...]
    ticks: tuple[tuple[float, float], ...]

    @property
    def path(self) -> str:
        """The points of the line, as SVG has them."""
        return " ".join(f"{point.x},{point.y}" for point in self.points)


def trend_lines(
    entries: Sequence[CheckpointEntry], figures: Sequence[tuple[str, str]]
) -> list[TrendLine]:
    """A line for each of the figures (benchmark, path), without those that no entry has."""
    lines = [_line(entries, *figure) for figure in figures]
    return [line for line in lines if line is not None]


def _line(entries: Sequence[CheckpointEntry], name: str, path: str) -> TrendLine | None:
    pairs = [(entry, figure) for entry in entries if (figure := entry.figure(name, path))]
    scale = charts.scale(Estimate(each.value, each.low, each.high) for _, each in pairs)
    if scale is None:
        return None
    places = _places([entry for entry, _ in pairs])

    def y(value: float) -> float:
        return round(HEIGHT - 24 - (HEIGHT - 40) * scale.place(value) / 100, 1)

    points = tuple(
        TrendPoint(
            entry,
            each,
            x,
            y(each.value),
            None if each.low is None else y(each.low),
            None if each.high is None else y(each.high),
        )
        for (entry, each), x in zip(pairs, places, strict=True)
    )
    # Averages of incomplete runs may be over fewer tasks.
    points = tuple(one for one in points if one.entry.is_complete or one.entry.saved)
    ticks = tuple((tick, y(tick)) for tick in scale.ticks)
    return TrendLine(f"{benchmark(name).title} {path}", points, ticks)


def _places(entries: Sequence[CheckpointEntry]) -> list[float]:
    """Places by training step; evenly spread if one has none."""
    steps = [entry.checkpoint.step for entry in entries]
    known = [step for step in steps if step is not None]
    whole = known if len(known) == len(steps) else list(range(len(steps)))
    first, span = whole[0], (whole[-1] - whole[0]) or 1
    return [round(_MARGIN + (WIDTH - 2 * _MARGIN) * (step - first) / span, 1) for step in whole]


def render_trend(
    suite: str, entries: Sequence[CheckpointEntry], figures: Sequence[tuple[str, str]]
) -> str:
    """Render the page. Names are untrusted: the template escapes them."""
    lines = trend_lines(entries, figures)
    return render(
        "trend.html", scripts=TABLES, suite=suite, lines=lines, width=WIDTH, height=HEIGHT
    )
