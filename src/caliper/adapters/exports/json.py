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

Figures have full precision and the unit of the papers; those without an interval are not
under `intervals`; `tables` say how the benchmark itself sets them out; `stuffed` is left out where
it is 0, `generation` where no chat model was asked. The bytes depend on the
report's values only.
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
"""What of a decoding is told."""


class JsonExport:
    """Writes report.json: sorted keys, indented by 2, a newline at the end."""

    def write(
        self,
        report: Report,
        verdicts: Iterator[VerdictRow],  # noqa: ARG002 - the port hands every sink the same
        directory: Path,
    ) -> Path:
        """Write the report and return the file. Raises StoreFull."""
        return write_text(directory / "report.json", report_text(report))


def report_text(report: Report) -> str:
    """The text of report.json. Raises ValueError for NaN, infinities and colliding paths."""
    told = {
        "schema": report.schema,
        "name": report.name,
        "state": report.state,
        "partial": report.partial,
        "spec": report.spec,
        "benchmarks": {benchmark.name: _told(benchmark) for benchmark in report.benchmarks},
    }
    return json.dumps(told, sort_keys=True, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _told(benchmark: BenchmarkReport) -> dict[str, Any]:
    coverage = benchmark.coverage
    about = {
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
                path: {"low": found.low, "high": found.high, "method": found.method}
                for path, found in benchmark.estimates.items()
                if found.low is not None
            }
        ),
    }
    figures = nested({path: found.value for path, found in benchmark.estimates.items()})
    if taken := sorted(about.keys() & figures.keys()):
        raise ValueError(f"{benchmark.name}: figures cannot be called {', '.join(taken)}")
    return figures | about


def _generation(benchmark: BenchmarkReport) -> dict[str, Any]:
    told = {
        role: {
            "prompts": list(found.prompts),
            **{name: getattr(found.decoding, name) for name in SENT},
            "repeats": found.repeats,
        }
        for role, found in benchmark.generation.items()
    }
    return {"generation": told} if told else {}


def nested(values: Mapping[FigurePath, Any]) -> dict[str, Any]:
    """Values by path as nested objects. Raises ValueError when a path goes through a value."""
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
