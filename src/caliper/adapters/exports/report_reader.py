"""report.json read back: the report that `json.report_text` wrote."""

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

_ABOUT = frozenset(
    {
        *("title", "headline", "coverage", "settings", "models", "notes", "suspicious"),
        *("tables", "intervals", "generation"),
    }
)
"""What stands beside the figures of a benchmark."""


def read_report(text: str, file: str) -> Report:
    """The report in the text of a report.json; `file` names it in errors.

    Raises NewerSchema, and InvalidInput for what is no report, or one that an older release wrote
    without tables.
    """
    try:
        written = json.loads(text)
        refuse_newer(written.get("schema"), file)
        parts = written["benchmarks"].items()
        return Report(
            name=written["name"],
            state=written["state"],
            benchmarks=tuple(_part(name, part) for name, part in parts),
            spec=written["spec"],
            schema=written["schema"],
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        message = f"this is no report of this release: {error!r}; `caliper report` writes it anew"
        raise InvalidInput(message, file=file) from error


def _part(name: str, part: Mapping[str, Any]) -> BenchmarkReport:
    coverage, suspicious = part["coverage"], part["suspicious"]
    figures = {key: value for key, value in part.items() if key not in _ABOUT}
    return BenchmarkReport(
        name=name,
        title=part["title"],
        headline=tuple(part["headline"]),
        estimates={
            path: Estimate(value, **_at(part["intervals"], path))
            for path, value in _figures(figures)
        },
        tables=tuple(map(_table, part["tables"])),
        coverage=Coverage(coverage["planned"], coverage["scored"], coverage["unscored"]),
        settings=part["settings"],
        models=part["models"],
        notes=tuple(part["notes"]),
        suspicious=Suspicious(**suspicious),
        generation={role: _generation(found) for role, found in part.get("generation", {}).items()},
    )


def _generation(written: Mapping[str, Any]) -> Generation:
    decoding = Decoding(**{name: written[name] for name in SENT})
    return Generation(tuple(written["prompts"]), decoding, written["repeats"])


def _figures(tree: Mapping[str, Any], above: Path = ()) -> Iterator[tuple[Path, Any]]:
    for step, found in tree.items():
        if isinstance(found, Mapping):
            yield from _figures(found, (*above, step))
        else:
            yield (*above, step), found


def _at(intervals: Mapping[str, Any], path: Path) -> Mapping[str, Any]:
    found: Any = intervals
    for step in path:
        found = found.get(step, {})
    return dict(found)


def _table(written: Mapping[str, Any]) -> Table:
    rows = (
        TableRow(
            row["label"], tuple(None if cell is None else tuple(cell) for cell in row["cells"])
        )
        for row in written["rows"]
    )
    return Table(
        written["title"],
        tuple(written["columns"]),
        tuple(rows),
        written["note"],
        written["chart"],
    )
