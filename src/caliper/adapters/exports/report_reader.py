"""Reads report.json as `json.report_text` writes it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from caliper.adapters.exports.json import SENT
from caliper.core.errors import InvalidInput
from caliper.core.question import Decoding
from caliper.core.report import (
    BenchmarkReport,
    Coverage,
    Estimate,
    Generation,
    Path,
    Report,
    Table,
    TableRow,
)
from caliper.core.run import refuse_newer
from caliper.core.suspicion import Suspicious

_METADATA = frozenset(
    {
        *("title", "headline", "coverage", "settings", "models", "notes", "suspicious"),
        *("tables", "intervals", "generation"),
    }
)
"""The keys of a benchmark that are not figures."""


def read_report(text: str, file: str) -> Report:
    """Read a report from the text of report.json; `file` names it in errors.

    Raises NewerSchema, and InvalidInput if the text is not a report or is one without tables,
    from an older release.
    """
    try:
        document = json.loads(text)
        refuse_newer(document.get("schema"), file)
        parts = document["benchmarks"].items()
        return Report(
            name=document["name"],
            state=document["state"],
            benchmarks=tuple(_part(name, part) for name, part in parts),
            spec=document["spec"],
            schema=document["schema"],
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        message = f"not a report of this release: {error!r}; `caliper report` rewrites it"
        raise InvalidInput(message, file=file) from error


def _part(name: str, part: Mapping[str, Any]) -> BenchmarkReport:
    coverage, suspicious = part["coverage"], part["suspicious"]
    figures = {key: value for key, value in part.items() if key not in _METADATA}
    return BenchmarkReport(
        name=name,
        title=part["title"],
        headline=tuple(part["headline"]),
        estimates={
            path: Estimate(value, **_interval(part["intervals"], path))
            for path, value in _figures(figures)
        },
        tables=tuple(map(_table, part["tables"])),
        coverage=Coverage(coverage["planned"], coverage["scored"], coverage["unscored"]),
        settings=part["settings"],
        models=part["models"],
        notes=tuple(part["notes"]),
        suspicious=Suspicious(**suspicious),
        generation={
            role: _generation(generation) for role, generation in part.get("generation", {}).items()
        },
    )


def _generation(fields: Mapping[str, Any]) -> Generation:
    decoding = Decoding(**{name: fields[name] for name in SENT})
    return Generation(tuple(fields["prompts"]), decoding, fields["repeats"])


def _figures(tree: Mapping[str, Any], above: Path = ()) -> Iterator[tuple[Path, Any]]:
    for step, branch in tree.items():
        if isinstance(branch, Mapping):
            yield from _figures(branch, (*above, step))
        else:
            yield (*above, step), branch


def _interval(intervals: Mapping[str, Any], path: Path) -> Mapping[str, Any]:
    branch: Any = intervals
    for step in path:
        branch = branch.get(step, {})
    return dict(branch)


def _table(fields: Mapping[str, Any]) -> Table:
    rows = (
        TableRow(
            row["label"], tuple(None if cell is None else tuple(cell) for cell in row["cells"])
        )
        for row in fields["rows"]
    )
    return Table(
        fields["title"], tuple(fields["columns"]), tuple(rows), fields["note"], fields["chart"]
    )
