"""Headline figures of finished runs, read from their stored reports without opening the runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from caliper.core.errors import InvalidInput
from caliper.core.report import Estimate
from caliper.pipeline.reports.report_files import REPORT
from caliper.pipeline.store.runs import read_json, run_store
from caliper.ports.storage import ObjectStore


async def headlines(store: ObjectStore, run: str) -> dict[str, Estimate]:
    """The headline figure of each benchmark in the stored report; empty without a report.

    Raises InvalidInput for a malformed report, StoreUnavailable.
    """
    file = f"report/{REPORT}"
    report = await read_json(run_store(store, run), file)
    if report is None:
        return {}
    try:
        return {name: _headline(part) for name, part in report["benchmarks"].items()}
    except (KeyError, TypeError, AttributeError) as error:
        raise InvalidInput(f"not a report: {error!r}", file=file) from error


def _headline(part: Mapping[str, Any]) -> Estimate:
    value: Any = part
    bounds: Any = part["intervals"]
    for step in part["headline"]:
        value, bounds = value.get(step) if value else None, bounds.get(step, {})
    return Estimate(value, bounds.get("low"), bounds.get("high"), bounds.get("method", ""))
