# ruff: noqa: INP001 - a module of the scripts
"""Renders dashboards as Grafana's JSON (schema 39, Grafana 11 and newer)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from panels import Dashboard, Panel, Place, Row, Variable, placed

_METRIC = re.compile(r"\b(caliper_\w+|up\b)(\{)?")
_NAMESPACE = Variable(
    name="namespace", label="Installation", query="label_values(caliper_build_info, namespace)"
)
_ANNOTATIONS: tuple[dict[str, Any], ...] = (
    {
        "name": "Run starts",
        "iconColor": "blue",
        # Marked at its own value, in milliseconds.
        "expr": 'max by (model) (caliper_run_started_timestamp_seconds{model=~"$model"} * 1000)',
        "useValueForTime": True,
        "titleFormat": "{{model}} starts",
    },
    {
        "name": "New versions",
        "iconColor": "purple",
        "expr": "count by (version) (caliper_build_info)"
        " unless count by (version) (caliper_build_info offset 1m)",
        "titleFormat": "Caliper {{version}}",
    },
)
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
# One colour per benchmark where bands are drawn, so that a line matches its band.
_COLOURS = ("blue", "orange", "green", "purple")


def as_json(dashboard: Dashboard) -> dict[str, Any]:
    """The whole file, with `id` null: Grafana assigns it on import."""
    return {
        "annotations": {"list": [_annotation(each) for each in _ANNOTATIONS]},
        "description": dashboard.description,
        "editable": True,
        "fiscalYearStartMonth": 0,
        "graphTooltip": 1,
        "id": None,
        "links": [_dashboard_links(dashboard)],
        "panels": list(_panels(dashboard)),
        "refresh": "10s",
        "schemaVersion": 39,
        "tags": ["caliper"],
        "templating": {"list": [_datasource(), _namespace(), *map(_variable, dashboard.variables)]},
        "time": {"from": "now-1h", "to": "now"},
        "timepicker": {},
        "timezone": "",
        "title": f"Caliper: {dashboard.title}",
        "uid": dashboard.uid,
        "version": 1,
        "weekStart": "",
    }


def _annotation(fields: dict[str, Any]) -> dict[str, Any]:
    expr = _in_namespace(fields["expr"])
    return {**fields, "datasource": _SOURCE, "enable": True, "expr": expr, "step": "60s"}


def _dashboard_links(dashboard: Dashboard) -> dict[str, Any]:
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


def _namespace() -> dict[str, Any]:
    """The installation: one, so that no figure mixes two. Without that label it is empty, which
    selects what has none.
    """
    one: dict[str, Any] = {"allValue": None, "current": {}, "includeAll": False, "multi": False}
    query = {"qryType": 1, "query": _NAMESPACE.query, "refId": _NAMESPACE.name}
    return _variable(_NAMESPACE) | one | {"definition": _NAMESPACE.query, "query": query}


def _in_namespace(expr: str) -> str:
    """The expression with each metric selected by the installation."""
    selector = f'namespace=~"${_NAMESPACE.name}"'
    return _METRIC.sub(lambda found: found[1] + "{" + selector + (", " if found[2] else "}"), expr)


def _variable(variable: Variable) -> dict[str, Any]:
    if variable.number is not None:
        return _field(variable, str(variable.number))
    query = _in_namespace(variable.query)
    return {
        "allValue": ".*",
        "current": {"selected": True, "text": ["All"], "value": ["$__all"]},
        "datasource": _SOURCE,
        "definition": query,
        "hide": 0,
        "includeAll": True,
        "label": variable.label,
        "multi": True,
        "name": variable.name,
        "query": {"qryType": 1, "query": query, "refId": variable.name},
        # Refresh when the time range changes: checkpoints come and go.
        "refresh": 2,
        "sort": 1,
        "type": "query",
    }


def _field(variable: Variable, first: str) -> dict[str, Any]:
    value = {"selected": True, "text": first, "value": first}
    shown = {"hide": 0, "label": variable.label, "name": variable.name, "type": "textbox"}
    return {**shown, "current": value, "options": [value], "query": first}


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
    values: dict[str, Any] = {
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
        values |= {"maxPerRow": 3, "repeat": panel.repeat, "repeatDirection": "h"}
    return values


def _defaults(panel: Panel) -> dict[str, Any]:
    """Unit, scale and colours. The axis of counts and shares starts at zero."""
    defaults: dict[str, Any] = {
        "color": {"mode": "thresholds" if panel.thresholds else "palette-classic"},
        "custom": _custom(panel),
        "noValue": "none",
        "unit": panel.unit,
    }
    if not panel.bands and panel.kind != "table":
        defaults["min"] = 0
    if panel.max is not None:
        defaults["max"] = panel.max
    if panel.decimals is not None:
        defaults["decimals"] = panel.decimals
    if panel.thresholds:
        rising = sorted(panel.thresholds.items(), key=lambda step: step[1])
        # Grafana's first step has no value: it applies to everything below the second.
        steps: list[dict[str, Any]] = [{"color": rising[0][0], "value": None}]
        steps += [{"color": colour, "value": value} for colour, value in rising[1:]]
        defaults["thresholds"] = {"mode": "absolute", "steps": steps}
    return defaults


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
    """The style of bands: without a line or legend entry, filled down to the lower bound."""
    overrides = []
    for band, colour in zip(panel.bands, _COLOURS, strict=False):
        hidden: list[tuple[str, Any]] = [
            ("custom.lineWidth", 0),
            ("custom.hideFrom", {"legend": True, "tooltip": False, "viz": False}),
        ]
        overrides += [
            _override(band, colour, [("custom.fillOpacity", 0)]),
            _override(f"{band} low", colour, [*hidden, ("custom.fillOpacity", 0)]),
            _override(f"{band} high", colour, [*hidden, ("custom.fillBelowTo", f"{band} low")]),
        ]
    return overrides


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
            "expr": _in_namespace(query.expr),
            "format": "table" if panel.kind in ("table", "columns") else "time_series",
            "instant": not over_time,
            "legendFormat": query.legend or "__auto",
            "range": over_time,
            "refId": chr(ord("A") + place),
        }
        for place, query in enumerate(panel.queries)
    ]


def _transformations(panel: Panel) -> list[dict[str, Any]]:
    """Tables: one row per set of labels, one column per query. Columns: one group per label."""
    if panel.kind == "columns":
        fields = {"columnField": "model", "rowField": panel.by, "valueField": "Value"}
        # A checkpoint without a dimension has no value there: an empty text would turn all its
        # numbers into texts.
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
