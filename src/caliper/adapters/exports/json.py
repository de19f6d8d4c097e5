"""report.json: every figure as a plain number at its path, for programs.

    {"schema": 1, "name", "state", "partial", "spec": {...},
     "benchmarks": {<name>: {
        <path...>: number or null,
        "intervals": {<path...>: {"low", "high", "method"}},
        "title", "headline": [path...], "coverage": {...}, "settings", "models", "notes",
        "tables": [{"title", "columns", "note", "chart", "rows": [{"label", "cells": [path...]}]}],
        "suspicious": {"captions", "examined", "signs": {<sign>: count},
                       "stuffed"},
        "generation": {<role>: {"prompts", "temperature", "top_p", "max_tokens", "seed",
                                "repeats"}}}}}

Figures have full precision and the units of the papers. `intervals` holds only figures that have
an interval; `tables` describe the benchmark's own layout. `stuffed` is omitted if 0, `generation`
if no chat model was called. The bytes depend only on the report's values.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from caliper.adapters.files import write_text
from caliper.core.report import BenchmarkReport, Report, VerdictRow
from caliper.core.report import Path as FigurePath

SENT = ("temperature", "top_p", "max_tokens", "seed")
"""The fields of a decoding that are exported."""


class JsonExport:
    """Writes report.json: sorted keys, indented by 2, ending in a newline."""

    def write(self, report: Report, _: Iterator[VerdictRow], directory: Path) -> Path:
        return write_text(directory / "report.json", report_text(report))


def report_text(report: Report) -> str:
    """The text of report.json. Raises ValueError for NaN, infinities and colliding paths."""
    document = {
        "schema": report.schema,
        "name": report.name,
        "state": report.state,
        "partial": report.partial,
        "spec": report.spec,
        "benchmarks": {benchmark.name: _benchmark(benchmark) for benchmark in report.benchmarks},
    }
    return (
        json.dumps(document, sort_keys=True, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    )


def _benchmark(benchmark: BenchmarkReport) -> dict[str, Any]:
    coverage = benchmark.coverage
    metadata = {
        "title": benchmark.title,
        "headline": list(benchmark.headline),
        "coverage": {
            "planned": coverage.planned,
            "askable": coverage.askable,
            "scored": coverage.scored,
            "share": coverage.share,
            "unscored": dict(coverage.unscored),
        },
        "settings": dict(benchmark.settings),
        "models": dict(benchmark.models),
        "notes": list(benchmark.notes),
        "suspicious": {
            "captions": benchmark.suspicious.captions,
            "examined": benchmark.suspicious.examined,
            "signs": dict(benchmark.suspicious.signs),
            **({"stuffed": stuffed} if (stuffed := benchmark.suspicious.stuffed) else {}),
        },
        **_generation(benchmark),
        "tables": [asdict(table) for table in benchmark.tables],
        "intervals": nested(
            {
                path: {"low": estimate.low, "high": estimate.high, "method": estimate.method}
                for path, estimate in benchmark.estimates.items()
                if estimate.low is not None
            }
        ),
    }
    figures = nested({path: estimate.value for path, estimate in benchmark.estimates.items()})
    if collisions := sorted(metadata.keys() & figures.keys()):
        raise ValueError(f"{benchmark.name}: figures cannot be called {', '.join(collisions)}")
    return figures | metadata


def _generation(benchmark: BenchmarkReport) -> dict[str, Any]:
    roles = {
        role: {
            "prompts": list(generation.prompts),
            **{name: getattr(generation.decoding, name) for name in SENT},
            "repeats": generation.repeats,
        }
        for role, generation in benchmark.generation.items()
    }
    return {"generation": roles} if roles else {}


def nested(values: Mapping[FigurePath, Any]) -> dict[str, Any]:
    """Nest values by path. Raises ValueError if one path is the beginning of another."""
    tree: dict[str, Any] = {}
    leaves: set[FigurePath] = set(values)
    for path, value in values.items():
        branch = tree
        for depth, part in enumerate(path[:-1], start=1):
            if path[:depth] in leaves:
                raise ValueError(f"the figure {path} lies below the figure {path[:depth]}")
            branch = branch.setdefault(part, {})
        branch[path[-1]] = value
    return tree
