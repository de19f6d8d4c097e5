# ruff: noqa: INP001 - imported by the scripts beside it
"""docs/observed.md: what a real run showed, and what each panel's queries then found."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from drawing import Named, said
from panels import Dashboard, Panel

_LINES = 2
"""Samples of a metric that are shown; of a histogram those that stand for all of it."""
_INTRODUCTION = """# A run, observed

<!-- Written by tools/pictures.py. Do not edit: draw the pictures anew. -->

All services, on a real Kafka and MinIO, evaluate two checkpoints on the examples while a real
Prometheus scrapes them. The models are stand-ins that answer after 0.4 s and fail now and then,
and a message that nobody can read lies on every topic of jobs. This page tells what the services
served, what each panel of the [dashboards](dashboards.md) asked Prometheus, and what came back, at
one moment when the second run was two thirds done. The pictures of the panels there, and those of
[page.md](page.md), are of the same run.

    make servers
    PYTHONPATH=tools python -m tests.fakes.pictured

does all of it again, pictures included, in some minutes; it needs Prometheus and Chromium.
`tests/services/test_observed.py` holds that every query finds something."""


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


class Asked(Protocol):
    """A panel, or one copy of a repeated one, with what its queries found."""

    @property
    def panel(self) -> Panel: ...
    @property
    def title(self) -> str: ...
    @property
    def answers(self) -> tuple[Answer, ...]: ...


def page(
    dashboards: Iterable[tuple[Dashboard, Sequence[Asked]]],
    served: Sequence[str],
) -> str:
    """The whole page; `served` is what each service served at /metrics."""
    blocks = [_INTRODUCTION, "## The metrics page", *_excerpt(served)]
    for dashboard, panels in dashboards:
        blocks += [f"## {dashboard.title}", _table(panels)]
    return "\n\n".join(blocks) + "\n"


def _excerpt(served: Sequence[str]) -> Iterator[str]:
    found = samples(served)
    lines = [line for name in sorted(found) for line in _chosen(found[name])]
    whole = sum(map(len, found.values()))
    yield (
        f"{len(served)} services served {whole:,} series of {len(found)} metrics. The first of "
        "each, and of histograms the last bucket with count and sum:"
    )
    yield "\n".join(("```", *lines, "```"))


def samples(served: Iterable[str]) -> Mapping[str, Sequence[str]]:
    """The lines of each metric of ours, by its name, over all services."""
    found: dict[str, list[str]] = {}
    for text in served:
        name = ""
        for line in text.splitlines():
            if line.startswith("# TYPE "):
                name = line.split()[2]
            elif name.startswith("caliper_") and not line.startswith("#"):
                found.setdefault(name, []).append(line)
    return found


def _chosen(lines: Sequence[str]) -> Sequence[str]:
    """Those that tell something, if there are any."""
    last = [place for place, line in enumerate(lines) if 'le="+Inf"' in line]
    if last:
        place = min(last, key=lambda place: _is_zero(lines[place]))
        return lines[place : place + 3]
    return sorted(lines, key=_is_zero)[:_LINES]


def _is_zero(line: str) -> bool:
    return line.endswith(" 0.0")


def _table(panels: Iterable[Asked]) -> str:
    rows = ["| panel | query | found |", "|---|---|---|"]
    rows += [
        f"| {each.title} | {_code(answer.expr)} | {_code(answer.told(each.panel))} |"
        for each in panels
        for answer in each.answers
    ]
    return "\n".join(rows)


def _code(text: str) -> str:
    return f"`{text.replace('|', chr(92) + '|')}`"
