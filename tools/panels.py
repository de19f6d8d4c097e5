# ruff: noqa: INP001 - a module of the scripts
"""Reads and lays out the dashboards in deploy/grafana/panels/*.yaml, which are edited by hand.

The panels of a row are laid out from left to right in the order of the file; a panel that does not
fit starts a new line. Panels have no explicit positions, numbers or colours.
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
    """One expression. `legend` is the name of each series, such as "{{model}} low"."""

    expr: str
    legend: str = ""


class Panel(_Part):
    """One panel. Of the kinds, lines show values over time; bars, stat and table current values;
    columns current values grouped by the label `by`, with one colour per checkpoint. `bands` fills
    between "NAME low" and "NAME high". `thresholds` are colours and the values from which they
    apply. `repeat` draws the panel once per value of that variable. `columns` are the labels that
    a table shows.
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
    def _check_labels(self) -> Panel:
        if (self.kind == "columns") != bool(self.by):
            raise ValueError(f"{self.title}: `by` belongs to columns, and columns need it")
        if (self.kind == "table") != bool(self.columns):
            raise ValueError(f"{self.title}: `columns` belong to a table, and a table needs them")
        return self


class Row(_Part):
    """Panels of the same height below a heading."""

    title: str
    height: int = Field(ge=3)
    panels: tuple[Panel, ...] = Field(min_length=1)


class Variable(_Part):
    """A selector for any or all values of `query`, or a field for a number, at first `number`."""

    name: str
    label: str
    query: str = ""
    number: int | None = None

    @model_validator(mode="after")
    def _check_kind(self) -> Variable:
        if bool(self.query) == (self.number is not None):
            raise ValueError(f"{self.name}: expected either `query` or `number`")
        return self


class Dashboard(_Part):
    """One dashboard; `uid` is its permanent name in links."""

    uid: str
    title: str
    description: str
    variables: tuple[Variable, ...]
    rows: tuple[Row, ...]


class Place(_Part):
    """A position and size in units of Grafana's grid."""

    x: int
    y: int
    w: int
    h: int


def read(name: str) -> Dashboard:
    """The dashboard of that name. Raises pydantic's ValidationError if it is invalid."""
    text = (SOURCES / f"{name}.yaml").read_text("utf-8")
    return Dashboard.model_validate(yaml.safe_load(text))


def placed(dashboard: Dashboard) -> Iterator[tuple[Row | Panel, Place]]:
    """Headings and panels with their places, from top left to bottom right."""
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
