# ruff: noqa: INP001 - a script beside the package
"""Draw docs/images/dashboard-*.svg from what a Prometheus answers to the queries of each panel.

    python tools/pictures.py --prometheus http://127.0.0.1:9090 [--minutes 10] [--into FOLDER]

Every panel is drawn with all checkpoints, benchmarks and dimensions, over the last minutes.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from drawing import Box, Named, frame, text
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


def picture(dashboard: Dashboard, prometheus: Prometheus, moment: Moment) -> str:
    """The SVG of a dashboard. Raises QueryFailed."""
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
        else:
            drawn += _panel(part, place, prometheus, moment)
    return "\n".join((*drawn, "</svg>", ""))


def _panel(panel: Panel, place: Place, prometheus: Prometheus, moment: Moment) -> Iterator[str]:
    """The panel, or one beside the other for each value of the variable that repeats it."""
    values = repeated(panel, prometheus)
    share = place.w * _COLUMN / len(values)
    for number, chosen in enumerate(values):
        box = Box(
            place.x * _COLUMN + share * number + _GAP,
            place.y * _LINE + _TOP,
            share - _GAP,
            place.h * _LINE - _GAP,
        )
        title = substituted(panel.title, chosen)
        yield from frame(panel, title, asked(panel, chosen, prometheus, moment), box)


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
) -> list[Named]:
    """What the queries of a panel find, named by their legends."""
    found = []
    for query in panel.queries:
        # Long enough for several scrapes, short enough to see a rise.
        interval = max(15, round(moment.seconds / 20))
        expr = substituted(query.expr, chosen, f"{interval}s")
        if panel.kind == "lines":
            step = max(1.0, moment.seconds / _POINTS)
            answer = prometheus.over(expr, moment.end - moment.seconds, moment.end, step)
        else:
            answer = prometheus.instant(expr, moment.end)
        found += [Named(series.called(query.legend), series) for series in answer]
    return sorted(found, key=lambda each: each.name) if panel.kind in ("bars", "stat") else found


def main() -> int:
    """Write one file a dashboard."""
    parser = argparse.ArgumentParser(description="draw the dashboards from a real Prometheus")
    parser.add_argument("--prometheus", required=True, metavar="URL")
    parser.add_argument("--minutes", type=float, default=10.0, help="how far back lines reach")
    parser.add_argument("--into", type=Path, default=ROOT / "docs" / "images", metavar="FOLDER")
    given = parser.parse_args()
    moment = Moment(time.time(), given.minutes * 60)
    for name in DASHBOARDS:
        file = given.into / f"dashboard-{name}.svg"
        file.write_text(picture(read(name), Prometheus(given.prometheus), moment), "utf-8")
        print(file)  # noqa: T201 - the output is the interface
    return 0


if __name__ == "__main__":
    sys.exit(main())
