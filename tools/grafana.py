# ruff: noqa: INP001 - imported by the scripts beside it
"""A dashboard in the JSON that Grafana reads (schema 39, Grafana 11 and newer)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from panels import Dashboard, Panel, Place, Row, Variable, placed

_SOURCE = {"type": "prometheus", "uid": "${datasource}"}
_TYPES = {
    "lines": "timeseries",
    "bars": "bargauge",
    "columns": "barchart",
    "stat": "stat",
    "table": "table",
}
_LAST = {"reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": False}}
_OPTIONS: dict[str, dict[str, Any]] = {
    "lines": {
        "legend": {"displayMode": "list", "placement": "bottom", "showLegend": True},
        "tooltip": {"mode": "multi", "sort": "desc"},
    },
    "bars": {**_LAST, "displayMode": "basic", "orientation": "horizontal", "showUnfilled": True},
    "columns": {
        "legend": {"displayMode": "list", "placement": "bottom", "showLegend": True},
        "orientation": "auto",
        "showValue": "auto",
        "tooltip": {"mode": "multi", "sort": "none"},
        "xTickLabelRotation": -45,
    },
    "stat": {**_LAST, "colorMode": "value", "graphMode": "none", "textMode": "auto"},
    "table": {"cellHeight": "sm", "showHeader": True},
}
# One colour a benchmark wherever bands are drawn, so that line and band belong together.
_COLOURS = ("blue", "orange", "green", "purple")


def as_json(dashboard: Dashboard) -> dict[str, Any]:
    """The whole file, but for who imports it: `id` is Grafana's to give."""
    return {
        "annotations": {"list": []},
        "description": dashboard.description,
        "editable": True,
        "fiscalYearStartMonth": 0,
        "graphTooltip": 1,
        "id": None,
        "links": [_to_the_others(dashboard)],
        "panels": list(_panels(dashboard)),
        "refresh": "10s",
        "schemaVersion": 39,
        "tags": ["caliper"],
        "templating": {"list": [_datasource(), *map(_variable, dashboard.variables)]},
        "time": {"from": "now-1h", "to": "now"},
        "timepicker": {},
        "timezone": "",
        "title": f"Caliper: {dashboard.title}",
        "uid": dashboard.uid,
        "version": 1,
        "weekStart": "",
    }


def _to_the_others(dashboard: Dashboard) -> dict[str, Any]:
    return {
        "asDropdown": False,
        "icon": "external link",
        "includeVars": True,
        "keepTime": True,
        "tags": ["caliper"],
        "targetBlank": False,
        "title": "Caliper",
        "tooltip": f"The dashboards beside {dashboard.title}",
        "type": "dashboards",
        "url": "",
    }


def _datasource() -> dict[str, Any]:
    return {
        "hide": 0,
        "label": "Prometheus",
        "name": "datasource",
        "query": "prometheus",
        "refresh": 1,
        "type": "datasource",
    }


def _variable(variable: Variable) -> dict[str, Any]:
    return {
        "allValue": ".*",
        "current": {"selected": True, "text": ["All"], "value": ["$__all"]},
        "datasource": _SOURCE,
        "definition": variable.query,
        "hide": 0,
        "includeAll": True,
        "label": variable.label,
        "multi": True,
        "name": variable.name,
        "query": {"qryType": 1, "query": variable.query, "refId": variable.name},
        # When the time range changes: checkpoints come and go.
        "refresh": 2,
        "sort": 1,
        "type": "query",
    }


def _panels(dashboard: Dashboard) -> Iterator[dict[str, Any]]:
    for number, (part, place) in enumerate(placed(dashboard), start=1):
        yield (
            _heading(part, place, number) if isinstance(part, Row) else _panel(part, place, number)
        )


def _heading(row: Row, place: Place, number: int) -> dict[str, Any]:
    return {
        "collapsed": False,
        "gridPos": place.model_dump(),
        "id": number,
        "panels": [],
        "title": row.title,
        "type": "row",
    }


def _panel(panel: Panel, place: Place, number: int) -> dict[str, Any]:
    made: dict[str, Any] = {
        "datasource": _SOURCE,
        "description": panel.description,
        "fieldConfig": {"defaults": _defaults(panel), "overrides": _overrides(panel)},
        "gridPos": place.model_dump(),
        "id": number,
        "options": _OPTIONS[panel.kind],
        "targets": _targets(panel),
        "title": panel.title,
        "transformations": _transformations(panel),
        "type": _TYPES[panel.kind],
    }
    if panel.repeat:
        made |= {"maxPerRow": 3, "repeat": panel.repeat, "repeatDirection": "h"}
    return made


def _defaults(panel: Panel) -> dict[str, Any]:
    """Unit, scale and colours. Counts and shares begin at zero."""
    found: dict[str, Any] = {
        "color": {"mode": "thresholds" if panel.thresholds else "palette-classic"},
        "custom": _custom(panel),
        "noValue": "none",
        "unit": panel.unit,
    }
    if not panel.bands and panel.kind != "table":
        found["min"] = 0
    if panel.max is not None:
        found["max"] = panel.max
    if panel.decimals is not None:
        found["decimals"] = panel.decimals
    if panel.thresholds:
        rising = sorted(panel.thresholds.items(), key=lambda step: step[1])
        # Grafana's first step has no value: it holds for everything below the second.
        steps: list[dict[str, Any]] = [{"color": rising[0][0], "value": None}]
        steps += [{"color": colour, "value": value} for colour, value in rising[1:]]
        found["thresholds"] = {"mode": "absolute", "steps": steps}
    return found


def _custom(panel: Panel) -> dict[str, Any]:
    if panel.kind == "lines":
        return {
            "drawStyle": "line",
            "fillOpacity": 15 if panel.bands else 0,
            "lineInterpolation": "linear",
            "lineWidth": 2,
            "showPoints": "never",
            "spanNulls": False,
        }
    if panel.kind == "columns":
        return {"fillOpacity": 80, "lineWidth": 1}
    return {"align": "auto"} if panel.kind == "table" else {}


def _overrides(panel: Panel) -> list[dict[str, Any]]:
    """A band: no line of its own, nothing in the legend, filled down to the lower bound."""
    found = []
    for band, colour in zip(panel.bands, _COLOURS, strict=False):
        hidden: list[tuple[str, Any]] = [
            ("custom.lineWidth", 0),
            ("custom.hideFrom", {"legend": True, "tooltip": False, "viz": False}),
        ]
        found += [
            _override(band, colour, [("custom.fillOpacity", 0)]),
            _override(f"{band} low", colour, [*hidden, ("custom.fillOpacity", 0)]),
            _override(f"{band} high", colour, [*hidden, ("custom.fillBelowTo", f"{band} low")]),
        ]
    return found


def _override(name: str, colour: str, properties: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    fixed = ("color", {"fixedColor": colour, "mode": "fixed"})
    return {
        "matcher": {"id": "byName", "options": name},
        "properties": [{"id": key, "value": value} for key, value in (fixed, *properties)],
    }


def _targets(panel: Panel) -> list[dict[str, Any]]:
    over_time = panel.kind == "lines"
    return [
        {
            "datasource": _SOURCE,
            "editorMode": "code",
            "expr": query.expr,
            "format": "table" if panel.kind in ("table", "columns") else "time_series",
            "instant": not over_time,
            "legendFormat": query.legend or "__auto",
            "range": over_time,
            "refId": chr(ord("A") + place),
        }
        for place, query in enumerate(panel.queries)
    ]


def _transformations(panel: Panel) -> list[dict[str, Any]]:
    """Tables: one row a set of labels, a column a query. Columns: one group a label."""
    if panel.kind == "columns":
        fields = {"columnField": "model", "rowField": panel.by, "valueField": "Value"}
        # A checkpoint that lacks a dimension has no column there: an empty text would turn
        # all its numbers into texts.
        return [{"id": "groupingToMatrix", "options": {**fields, "emptyValue": "null"}}]
    if panel.kind != "table":
        return []
    single = len(panel.queries) == 1
    values = {
        "Value" if single else f"Value #{chr(ord('A') + place)}": query.legend
        for place, query in enumerate(panel.queries)
    }
    order = {name: place for place, name in enumerate((*panel.columns, *values))}
    organised = {
        "excludeByName": {"Time": True},
        "indexByName": order,
        "renameByName": values,
    }
    return [{"id": "merge", "options": {}}, {"id": "organize", "options": organised}]
