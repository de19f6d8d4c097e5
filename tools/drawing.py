# ruff: noqa: INP001 - imported by the scripts beside it
"""Charts in SVG: what the pictures of docs/dashboards.md are made of. Lengths are in pixels."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape

from panels import Panel
from querying import Series

COLOURS = ("#3274d9", "#e0752d", "#3f8f3f", "#8f3bb8", "#c4162a", "#b58900", "#0e8a8a", "#7a5c3e")
_GREY, _RULE = "#5a6270", "#e3e6ea"
_CHARACTER = 6.2
"""Width of a character of 11 pixels, on average."""
_MOST_NAMES = 12
_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)


@dataclass(frozen=True, slots=True)
class Box:
    """Where something is drawn."""

    x: float
    y: float
    w: float
    h: float

    def inside(self, left: float, top: float, right: float, bottom: float) -> Box:
        """What is left of it within these margins."""
        return Box(
            self.x + left,
            self.y + top,
            max(1, self.w - left - right),
            max(1, self.h - top - bottom),
        )


@dataclass(frozen=True, slots=True)
class Named:
    """A series with the name that its panel gives it."""

    name: str
    series: Series

    @property
    def last(self) -> float:
        """Its latest value that is a number; NaN when it has none."""
        return next((v for _, v in reversed(self.series.points) if math.isfinite(v)), math.nan)

    @property
    def finite(self) -> bool:
        """Whether it has a number."""
        return math.isfinite(self.last)


def said(value: float, unit: str, decimals: int | None = None) -> str:
    """A value in its unit, short."""
    if not math.isfinite(value):
        return "-"
    if unit == "percentunit":
        return f"{100 * value:.{1 if decimals is None else decimals}f}%"
    if unit == "dtdurations" or (unit == "s" and value >= 120):
        minutes, seconds = divmod(round(value), 60)
        return f"{minutes} min {seconds} s" if minutes else f"{seconds} s"
    number = f"{value:.{decimals}f}" if decimals is not None else _short(value)
    return number + {"s": " s", "cps": "/s", "ops": "/s", "reqps": "/s"}.get(unit, "")


def _short(value: float) -> str:
    if abs(value) >= 10_000:
        return f"{value / 1000:.0f} k"
    return f"{value:.0f}" if value == round(value) else f"{value:.3g}"


def text(x: float, y: float, words: str, **style: str | float) -> str:
    """Words from a point on, or around it with text_anchor."""
    chosen = {"font_size": 11, "fill": _GREY, **style}
    given = " ".join(f'{key.replace("_", "-")}="{value}"' for key, value in chosen.items())
    return f'<text x="{x:.1f}" y="{y:.1f}" {given}>{escape(words)}</text>'


def _rectangle(box: Box, fill: str, rest: str = "") -> str:
    return (
        f'<rect x="{box.x:.1f}" y="{box.y:.1f}" width="{box.w:.1f}" height="{box.h:.1f}" '
        f'fill="{fill}" {rest}/>'
    )


def frame(panel: Panel, title: str, named: Sequence[Named], box: Box) -> Iterator[str]:
    """A whole panel: border, title, chart; "none" where its queries found nothing."""
    yield _rectangle(box, "#ffffff", f'stroke="{_RULE}" rx="3"')
    yield text(box.x + 10, box.y + 18, title, font_size=12, font_weight=600, fill="#1f2733")
    room = box.inside(10, 28, 10, 8)
    if not named:
        yield text(room.x + room.w / 2, room.y + room.h / 2, "none", text_anchor="middle")
        return
    yield from _CHARTS[panel.kind](panel, named, room)


def _ticks(low: float, high: float, count: int = 4) -> list[float]:
    """Round numbers that begin at or below `low` and end at or above `high`."""
    least = (high - low) / count or 1.0
    power = 10.0 ** math.floor(math.log10(least))
    step = next((step * power for step in _STEPS if step * power >= least), 10 * power)
    first, last = math.floor(low / step), math.ceil(high / step)
    return [step * place for place in range(first, max(last, first + 1) + 1)]


def _span(panel: Panel, named: Sequence[Named]) -> list[float]:
    values = [v for each in named for _, v in each.series.points if math.isfinite(v)] or [0.0]
    low = min(values) if panel.bands else min(0.0, *values)
    return _ticks(low, max(values) if panel.max is None else panel.max)


def _axis(ticks: Sequence[float], unit: str, room: Box) -> Iterator[str]:
    """Horizontal rules with their values left of the room."""
    for tick in ticks:
        y = _height(tick, ticks, room)
        yield f'<path d="M{room.x:.1f} {y:.1f}h{room.w:.1f}" stroke="{_RULE}"/>'
        decimals = 0 if unit == "percentunit" else None
        yield text(room.x - 5, y + 4, said(tick, unit, decimals), text_anchor="end", font_size=10)


def _height(value: float, ticks: Sequence[float], room: Box) -> float:
    share = (value - ticks[0]) / (ticks[-1] - ticks[0])
    return room.y + room.h * (1 - min(1.0, max(0.0, share)))


def _legend(names: Sequence[tuple[str, str]], room: Box) -> tuple[list[str], float]:
    """Colours with names, in as many lines as they need; and the height of that."""
    drawn, x, line = [], room.x, 0
    for name, colour in names[:_MOST_NAMES]:
        width = 22 + _CHARACTER * len(name)
        if x > room.x and x + width > room.x + room.w:
            x, line = room.x, line + 1
        y = room.y + room.h - 4 + 15 * line
        drawn.append(_rectangle(Box(x, y - 7, 10, 4), colour))
        drawn.append(text(x + 14, y, name, font_size=10))
        x += width
    raised = 15 * line
    return [f'<g transform="translate(0 {-raised})">', *drawn, "</g>"], raised + 18


def _lines(panel: Panel, named: Sequence[Named], room: Box) -> Iterator[str]:
    """Lines over time, with bands between those that are called low and high."""
    edges = {f"{band} {edge}" for band in panel.bands for edge in ("low", "high")}
    shown = [each for each in named if each.name not in edges]
    colours = {each.name: COLOURS[i % len(COLOURS)] for i, each in enumerate(shown)}
    legend, below = _legend(list(colours.items()), room)
    yield from legend
    plot = room.inside(46, 4, 6, below + 18)
    ticks = _span(panel, named)
    yield from _axis(ticks, panel.unit, plot)
    times = [t for each in named for t, _ in each.series.points]
    start = min(times)
    end = max(start + 1, *times)
    for share in (0.0, 0.5, 1.0):
        anchor = {0.0: "start", 0.5: "middle", 1.0: "end"}[share]
        when = datetime.fromtimestamp(start + share * (end - start), UTC).strftime("%H:%M:%S")
        place = (plot.x + share * plot.w, plot.y + plot.h + 14)
        yield text(*place, when, text_anchor=anchor, font_size=10)

    def path(series: Series) -> list[str]:
        return [
            f"{plot.x + plot.w * (t - start) / (end - start):.1f} {_height(v, ticks, plot):.1f}"
            for t, v in series.points
            if math.isfinite(v)
        ]

    by_name = {each.name: path(each.series) for each in named}
    for band in panel.bands:
        if band in by_name and f"{band} low" in by_name and f"{band} high" in by_name:
            around = [*by_name[f"{band} high"], *reversed(by_name[f"{band} low"])]
            fill = f'fill="{colours[band]}" fill-opacity="0.15"'
            yield f'<path d="M{"L".join(around)}Z" {fill}/>'
    for name, colour in colours.items():
        if by_name[name]:
            style = f'fill="none" stroke="{colour}" stroke-width="1.8" stroke-linejoin="round"'
            yield f'<path d="M{"L".join(by_name[name])}" {style}/>'


def _bars(panel: Panel, named: Sequence[Named], room: Box) -> Iterator[str]:
    """A line a series: name, bar from zero, value."""
    most = panel.max or max([each.last for each in named if math.isfinite(each.last)] or [1]) or 1
    yield from _rows(len(named), room)
    for place, each in enumerate(named[: _fitting(room)]):
        y = room.y + 18 * place
        widest = room.w * 0.45
        yield text(room.x, y + 13, _cut(each.name, widest))
        track = Box(room.x + widest, y + 4, room.w * 0.4, 11)
        yield _rectangle(track, "#f0f2f5")
        share = min(1.0, max(0.0, each.last / most)) if math.isfinite(each.last) else 0.0
        colour = COLOURS[place % len(COLOURS)]
        yield _rectangle(Box(track.x, track.y, track.w * share, track.h), colour)
        value = said(each.last, panel.unit, panel.decimals)
        yield text(room.x + room.w, y + 13, value, text_anchor="end", fill="#1f2733")


def _stat(panel: Panel, named: Sequence[Named], room: Box) -> Iterator[str]:
    """One large number, or a list when there are several."""
    if len(named) == 1:
        value = said(named[0].last, panel.unit, panel.decimals)
        place = (room.x + room.w / 2, room.y + room.h / 2 + 12)
        colour = _colour(panel, named[0].last)
        yield text(*place, value, text_anchor="middle", font_size=30, fill=colour)
        return
    yield from _rows(len(named), room)
    for line, each in enumerate(named[: _fitting(room)]):
        y = room.y + 18 * line + 13
        yield text(room.x, y, _cut(each.name, room.w * 0.65))
        value = said(each.last, panel.unit, panel.decimals)
        yield text(room.x + room.w, y, value, text_anchor="end", fill="#1f2733", font_weight=600)


def _colour(panel: Panel, value: float) -> str:
    """That of the highest threshold that the value reaches."""
    reached = [(least, name) for name, least in panel.thresholds.items() if value >= least]
    name = max(reached)[1] if reached else ""
    return {"green": COLOURS[2], "red": COLOURS[4]}.get(name, COLOURS[0])


def _columns(panel: Panel, named: Sequence[Named], room: Box) -> Iterator[str]:
    """A group a value of the label `by`, in it a column a checkpoint."""
    groups = sorted({each.series.labels.get(panel.by, "") for each in named})
    models = sorted({each.series.labels.get("model", "") for each in named})
    colours = {model: COLOURS[i % len(COLOURS)] for i, model in enumerate(models)}
    legend, below = _legend(list(colours.items()), room)
    yield from legend
    plot = room.inside(38, 4, 6, below + 72)
    ticks = _span(panel, named)
    yield from _axis(ticks, panel.unit, plot)
    wide = plot.w / len(groups)
    column = wide * 0.7 / len(models)
    for place, group in enumerate(groups):
        x, y = plot.x + wide * (place + 0.5), plot.y + plot.h + 12
        turned = f"rotate(-40 {x:.1f} {y:.1f})"
        yield text(x, y, _cut(group, 86), text_anchor="end", font_size=10, transform=turned)
    for each in named:
        labels = each.series.labels
        left = plot.x + wide * (groups.index(labels.get(panel.by, "")) + 0.15)
        x = left + column * models.index(labels.get("model", ""))
        top = _height(each.last, ticks, plot)
        box = Box(x, top, column * 0.92, plot.y + plot.h - top)
        yield _rectangle(box, colours[labels.get("model", "")])


def _table(panel: Panel, named: Sequence[Named], room: Box) -> Iterator[str]:
    """A line a set of labels, a column a label, then a column a query."""
    headings = list(dict.fromkeys(each.name for each in named))
    cells: dict[tuple[str, ...], dict[str, float]] = {}
    for each in named:
        key = tuple(each.series.labels.get(column, "") for column in panel.columns)
        cells.setdefault(key, {})[each.name] = each.last
    wide = room.w / (len(panel.columns) + len(headings))
    places = [room.x + wide * place for place in range(len(panel.columns) + len(headings))]
    for x, heading in zip(places, (*panel.columns, *headings), strict=True):
        yield text(x, room.y + 12, heading, font_weight=600)
    below = room.inside(0, 18, 0, 0)
    yield from _rows(len(cells), below)
    for line, (key, values) in enumerate(sorted(cells.items())[: _fitting(below)]):
        shown = [said(values.get(one, math.nan), panel.unit, panel.decimals) for one in headings]
        for x, words in zip(places, (*key, *shown), strict=True):
            yield text(x, below.y + 18 * line + 13, _cut(words, wide - 6), fill="#1f2733")


def _fitting(room: Box) -> int:
    return max(1, int(room.h // 18))


def _rows(count: int, room: Box) -> Iterator[str]:
    """Say how many lines there is no room for."""
    if (hidden := count - _fitting(room)) > 0:
        place = (room.x + room.w, room.y + room.h + 5)
        yield text(*place, f"and {hidden} more", text_anchor="end", font_size=9)


def _cut(words: str, width: float) -> str:
    most = max(3, int(width / _CHARACTER))
    return words if len(words) <= most else words[: most - 1] + "\u2026"


_CHARTS = {"lines": _lines, "bars": _bars, "columns": _columns, "stat": _stat, "table": _table}
