# ruff: noqa: INP001 - imported by the scripts beside it
"""What deploy/grafana/panels/*.yaml say: dashboards as people read and change them.

Rows are laid out from left to right in the order they are written in; a panel that finds no
room begins a new line. Nothing has a position, a number or a colour of its own here.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, model_validator

ROOT = Path(__file__).parents[1]
SOURCES = ROOT / "deploy" / "grafana" / "panels"
DASHBOARDS = ("evaluation", "throughput", "health")
WIDTH = 24
"""Columns of Grafana's grid."""

Kind = Literal["lines", "bars", "columns", "stat", "table"]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Query(_Part):
    """One expression. `legend` names each of its series, as in "{{model}} low"."""

    expr: str
    legend: str = ""


class Panel(_Part):
    """One picture. kind: lines over time; bars, stat and table of now; columns in groups by the
    label `by`, one colour a checkpoint. `bands` fills between "NAME low" and "NAME high".
    `thresholds` are colours and the values from which they hold. `repeat` draws it once a value
    of that variable. `columns` are the labels that a table shows.
    """

    title: str
    description: str
    kind: Kind
    width: int = Field(ge=3, le=WIDTH)
    unit: str
    queries: tuple[Query, ...] = Field(min_length=1)
    decimals: int | None = None
    max: float | None = None
    thresholds: dict[str, float] = {}
    bands: tuple[str, ...] = ()
    by: str = ""
    columns: tuple[str, ...] = ()
    repeat: str = ""

    @model_validator(mode="after")
    def _whole(self) -> Panel:
        if (self.kind == "columns") != bool(self.by):
            raise ValueError(f"{self.title}: `by` belongs to columns, and columns need it")
        if (self.kind == "table") != bool(self.columns):
            raise ValueError(f"{self.title}: `columns` belong to a table, and a table needs them")
        return self


class Row(_Part):
    """Panels of one height below one heading."""

    title: str
    height: int = Field(ge=3)
    panels: tuple[Panel, ...] = Field(min_length=1)


class Variable(_Part):
    """What people choose from: any or all of the values that `query` finds."""

    name: str
    label: str
    query: str


class Dashboard(_Part):
    """One dashboard; `uid` is its name in links, which never changes."""

    uid: str
    title: str
    description: str
    variables: tuple[Variable, ...]
    rows: tuple[Row, ...]


class Place(_Part):
    """Where something stands in Grafana's grid, in its units."""

    x: int
    y: int
    w: int
    h: int


def read(name: str) -> Dashboard:
    """The dashboard of that name. Raises pydantic's ValidationError where it is not whole."""
    text = (SOURCES / f"{name}.yaml").read_text("utf-8")
    return Dashboard.model_validate(yaml.safe_load(text))


def placed(dashboard: Dashboard) -> Iterator[tuple[Row | Panel, Place]]:
    """Headings and panels with their places, from the top left to the bottom right."""
    y = 0
    for row in dashboard.rows:
        yield row, Place(x=0, y=y, w=WIDTH, h=1)
        y += 1
        x = 0
        for panel in row.panels:
            if x + panel.width > WIDTH:
                x, y = 0, y + row.height
            yield panel, Place(x=x, y=y, w=panel.width, h=row.height)
            x += panel.width
        y += row.height
