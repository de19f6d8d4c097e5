"""The trend of a suite as CSV: a row per checkpoint and figure, by training step."""

from __future__ import annotations

from collections.abc import Sequence

from caliper.adapters.exports.csv_text import csv_text
from caliper.core.checkpoints import CheckpointEntry

_COLUMNS = (
    *("step", "checkpoint", "revision", "state", "complete", "judged", "baseline"),
    *("benchmark", "figure", "value", "low", "high"),
)


def trend_csv(entries: Sequence[CheckpointEntry]) -> str:
    """Every figure of the entries with its interval, in full precision."""
    rows: list[tuple[object, ...]] = []
    for entry in entries:
        point = entry.checkpoint
        about = (point.step, point.name, point.revision, entry.state, entry.is_complete)
        judged = (entry.extent, entry.baseline)
        rows += [
            (*about, *judged, each.benchmark, each.path, each.value, each.low, each.high)
            for each in entry.figures
        ]
    return csv_text([_COLUMNS, *rows])
