"""The trend page: a line per figure over the training steps, and what became of checkpoints."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from caliper.adapters.pages import charts
from caliper.adapters.pages.page import TABLES, render
from caliper.benchmarks.registry import benchmark
from caliper.core.checkpoints import CheckpointEntry, EntryFigure
from caliper.core.entry_states import EntryState
from caliper.core.report import Estimate

SHEET = "trend.css"
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
    def kind(self) -> str:
        """The classes of its circle: whether the gate stopped this checkpoint, and whether its
        figures are estimates.
        """
        kinds = {
            "regressed": self.entry.state is EntryState.REGRESSED,
            "decided": self.entry.extent == "decided",
        }
        return " ".join(kind for kind, holds in kinds.items() if holds)

    @property
    def estimate(self) -> Estimate:
        """The figure as tables show it."""
        return Estimate(self.figure.value, self.figure.low, self.figure.high)


@dataclass(frozen=True, slots=True)
class TrendLine:
    """One figure over the checkpoints; `ticks` are values and their places, `gaps` the places of
    checkpoints without (complete) ones.
    """

    title: str
    points: tuple[TrendPoint, ...]
    ticks: tuple[tuple[float, float], ...]
    gaps: tuple[tuple[float, CheckpointEntry], ...] = ()

    @property
    def path(self) -> str:
        """The points of the line, as SVG has them."""
        return " ".join(f"{point.x},{point.y}" for point in self.points)


@dataclass(frozen=True, slots=True)
class TrendRow:
    """A checkpoint of the trend, its baseline, and how many others are compared with it. `flips`
    is the address of the comparison with its baseline, or the command that shows it.
    """

    entry: CheckpointEntry
    baseline: str = ""
    compared: int = 0
    flips: str = ""


def trend_lines(
    entries: Sequence[CheckpointEntry],
    figures: Iterable[tuple[str, str]],
    others: Sequence[CheckpointEntry] = (),
) -> list[TrendLine]:
    """A line for each of the figures (benchmark, path), without those that no entry has. `others`
    are checkpoints without figures.
    """
    every, drawn = _in_order((*entries, *others)), _in_order(entries)
    places = dict(zip(map(id, every), _places(every), strict=True))
    gaps = tuple((places[id(each)], each) for each in others)
    lines = [_line(drawn, figure, places, gaps) for figure in figures]
    return [line for line in lines if line is not None]


def _in_order(entries: Iterable[CheckpointEntry]) -> list[CheckpointEntry]:
    """By training step only: those without one keep their order."""
    return sorted(entries, key=lambda entry: entry.order[0])


def _line(
    entries: Sequence[CheckpointEntry],
    figure: tuple[str, str],
    places: Mapping[int, float],
    gaps: tuple[tuple[float, CheckpointEntry], ...],
) -> TrendLine | None:
    name, path = figure
    pairs = [(entry, found) for entry in entries if (found := entry.figure(name, path))]
    scale = charts.scale(Estimate(each.value, each.low, each.high) for _, each in pairs)
    if scale is None:
        return None

    def y(value: float) -> float:
        return round(HEIGHT - 24 - (HEIGHT - 40) * scale.place(value) / 100, 1)

    points = tuple(
        TrendPoint(
            entry,
            each,
            places[id(entry)],
            y(each.value),
            None if each.low is None else y(each.low),
            None if each.high is None else y(each.high),
        )
        for entry, each in pairs
    )
    # Averages of incomplete runs may be over fewer tasks.
    points = tuple(one for one in points if one.entry.is_complete or one.entry.saved)
    ticks = tuple((tick, y(tick)) for tick in scale.ticks)
    return TrendLine(f"{benchmark(name).title} {path}", points, ticks, gaps)


def _places(entries: Sequence[CheckpointEntry]) -> list[float]:
    """Places by training step; evenly spread if one has none."""
    steps = [entry.checkpoint.step for entry in entries]
    known = [step for step in steps if step is not None]
    whole = known if len(known) == len(steps) else list(range(len(steps)))
    first, span = (whole[0], (whole[-1] - whole[0]) or 1) if whole else (0, 1)
    return [round(_MARGIN + (WIDTH - 2 * _MARGIN) * (step - first) / span, 1) for step in whole]


def every_figure(entries: Iterable[CheckpointEntry]) -> dict[tuple[str, str], bool]:
    """The figures (benchmark, path) with an interval, and headlines; whether each is a headline."""
    return {
        (one.benchmark, one.path): one.is_headline
        for entry in entries
        for one in entry.figures
        if one.is_headline or one.low is not None
    }


Flips = Callable[[str, str], str]
"""Where the comparison of two runs is: its address, or the command that shows it."""


def compare_command(base: str, run: str) -> str:
    """The command for the comparison of two runs."""
    return f"caliper compare {base} {run}"


def _rows(entries: Sequence[CheckpointEntry], flips: Flips) -> list[TrendRow]:
    by_revision = {entry.checkpoint.revision: entry for entry in entries}
    compared = Counter(entry.baseline for entry in entries if entry.baseline)
    rows = []
    for entry in entries:
        base = by_revision.get(entry.baseline)
        name = entry.baseline[:12] if base is None else base.checkpoint.name
        link = flips(base.run, entry.run) if base is not None and base.run and entry.run else ""
        rows.append(TrendRow(entry, name, compared[entry.checkpoint.revision], link))
    return rows


def render_trend(
    suite: str,
    entries: Sequence[CheckpointEntry],
    figures: Sequence[tuple[str, str]],
    others: Sequence[CheckpointEntry] = (),
    flips: Flips = compare_command,
    **around: Any,
) -> str:
    """Render the page. Names are untrusted: the template escapes them.

    `figures` come first, all others folded below. `others` are checkpoints without figures, and
    `around` further values for `page.render`, set when a server renders the page.
    """
    rest = [each for each in every_figure(entries) if each not in figures]
    return render(
        "trend.html",
        scripts=TABLES,
        sheet=SHEET,
        suite=suite,
        lines=trend_lines(entries, figures, others),
        folded=trend_lines(entries, rest, others),
        rows=_rows(_in_order((*entries, *others)), flips),
        width=WIDTH,
        height=HEIGHT,
        **around,
    )
