# ruff: noqa: INP001 - a script beside the package
"""Draw docs/images/dashboard-*.svg from what a Prometheus answers to the queries of each panel.

    python tools/pictures.py --prometheus http://127.0.0.1:9090 [--minutes 10] [--into FOLDER]

Every panel is drawn with all checkpoints, benchmarks and dimensions, over the last minutes.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from drawing import Box, Named, frame, said, text
from panels import DASHBOARDS, ROOT, WIDTH, Dashboard, Panel, Place, Row, placed, read
from querying import Prometheus, substituted

_COLUMN, _LINE, _GAP, _TOP = 52, 32, 6, 44
_POINTS = 120
_FONT = 'font-family="system-ui, sans-serif"'


@dataclass(frozen=True, slots=True)
class Moment:
    """The end of what is drawn, in Unix seconds, and how many seconds before it."""

    end: float
    seconds: float


@dataclass(frozen=True, slots=True)
class Answer:
    """A query as it was asked, and what it found, named as its panel names it."""

    expr: str
    named: tuple[Named, ...]

    def told(self, panel: Panel) -> str:
        """How many series came back, and one of them."""
        found = next((each for each in self.named if each.finite), None)
        if found is None:
            return "none"
        labels = ", ".join(f'{name}="{value}"' for name, value in found.series.labels.items())
        value = said(found.last, panel.unit, panel.decimals)
        return f"{len(self.named)} series: {f'{{{labels}}} ' if labels else ''}{value}"


@dataclass(frozen=True, slots=True)
class Answered:
    """A panel, or one copy of a repeated one, with what its queries found."""

    panel: Panel
    title: str
    box: Box
    answers: tuple[Answer, ...]

    @property
    def named(self) -> list[Named]:
        """All series, in the order that they are drawn in."""
        found = [each for answer in self.answers for each in answer.named]
        if self.panel.kind in ("bars", "stat"):
            found.sort(key=lambda each: each.name)
        return found

    def told(self) -> str:
        """One line: what was found."""
        return f"{self.title}: {'; '.join(each.told(self.panel) for each in self.answers)}"


def answered(dashboard: Dashboard, prometheus: Prometheus, moment: Moment) -> list[Answered]:
    """All panels in their order. Raises QueryFailed."""
    found = []
    for part, place in placed(dashboard):
        if isinstance(part, Panel):
            copies = repeated(part, prometheus)
            for number, chosen in enumerate(copies):
                title = substituted(part.title, chosen)
                answers = tuple(asked(part, chosen, prometheus, moment))
                found.append(Answered(part, title, _box(place, number, len(copies)), answers))
    return found


def _box(place: Place, number: int, copies: int) -> Box:
    """Where the copy of that number is drawn, one beside the other."""
    share = place.w * _COLUMN / copies
    return Box(
        place.x * _COLUMN + share * number + _GAP,
        place.y * _LINE + _TOP,
        share - _GAP,
        place.h * _LINE - _GAP,
    )


def picture(dashboard: Dashboard, panels: Iterable[Answered]) -> str:
    """The SVG of a dashboard."""
    parts = list(placed(dashboard))
    bottom = max(place.y + place.h for _, place in parts)
    wide, high = WIDTH * _COLUMN + _GAP, bottom * _LINE + _TOP + _GAP
    drawn = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" {_FONT}>',
        f"<title>{dashboard.title}: {dashboard.description}</title>",
        f'<rect width="{wide}" height="{high}" fill="#f4f5f7"/>',
        text(10, 29, f"Caliper: {dashboard.title}", font_size=19, fill="#1f2733"),
    ]
    for part, place in parts:
        if isinstance(part, Row):
            x, y = place.x * _COLUMN + 10, place.y * _LINE + _TOP + 21
            drawn.append(text(x, y, part.title, font_size=13, font_weight=600))
    for each in panels:
        drawn += frame(each.panel, each.title, each.named, each.box)
    return "\n".join((*drawn, "</svg>", ""))


def repeated(panel: Panel, prometheus: Prometheus) -> list[Mapping[str, str]]:
    """What is chosen for each copy of a panel; the first three where it is repeated."""
    everything = dict.fromkeys(("model", "benchmark", "dimension", "endpoint"), ".*")
    if not panel.repeat:
        return [everything]
    metric = "caliper_questions"
    values = prometheus.values(f"label_values({metric}, {panel.repeat})")[:3]
    return [{**everything, panel.repeat: value} for value in values] or [everything]


def asked(
    panel: Panel, chosen: Mapping[str, str], prometheus: Prometheus, moment: Moment
) -> Iterator[Answer]:
    """What the queries of a panel find, named by their legends."""
    for query in panel.queries:
        # Long enough for several scrapes, short enough to see a rise.
        interval = max(15, round(moment.seconds / 20))
        expr = substituted(query.expr, chosen, f"{interval}s")
        if panel.kind == "lines":
            step = max(1.0, moment.seconds / _POINTS)
            answer = prometheus.over(expr, moment.end - moment.seconds, moment.end, step)
        else:
            answer = prometheus.instant(expr, moment.end)
        named = (Named(series.called(query.legend), series) for series in answer)
        yield Answer(expr, tuple(named))


def main() -> int:
    """Write one file per dashboard, and print what each panel found."""
    parser = argparse.ArgumentParser(description="draw the dashboards from a real Prometheus")
    parser.add_argument("--prometheus", required=True, metavar="URL")
    parser.add_argument("--minutes", type=float, default=10.0, help="how far back lines reach")
    parser.add_argument("--into", type=Path, default=ROOT / "docs" / "images", metavar="FOLDER")
    given = parser.parse_args()
    moment, prometheus = Moment(time.time(), given.minutes * 60), Prometheus(given.prometheus)
    shown = {name: answered(read(name), prometheus, moment) for name in DASHBOARDS}
    for name, panels in shown.items():
        file = given.into / f"dashboard-{name}.svg"
        file.write_text(picture(read(name), panels), "utf-8")
        print(file, *(each.told() for each in panels), sep="\n    ")  # noqa: T201 - the output is the interface
    return 0


if __name__ == "__main__":
    sys.exit(main())
