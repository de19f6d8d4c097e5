"""The figures that people quote first, of runs that ended: without opening the runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from caliper.core.errors import InvalidInput
from caliper.core.report import Estimate
from caliper.pipeline.reports.report_files import REPORT
from caliper.pipeline.store.runs import read_json, run_store
from caliper.ports.storage import ObjectStore


async def headlines(store: ObjectStore, run: str) -> dict[str, Estimate]:
    """The headline figure of each benchmark, as the stored report tells them; none where no report
    was written.

    Raises InvalidInput for a report that is none, StoreUnavailable.
    """
    file = f"report/{REPORT}"
    written = await read_json(run_store(store, run), file)
    if written is None:
        return {}
    try:
        return {name: _headline(part) for name, part in written["benchmarks"].items()}
    except (KeyError, TypeError, AttributeError) as error:
        raise InvalidInput(f"not a report: {error!r}", file=file) from error


def _headline(part: Mapping[str, Any]) -> Estimate:
    found: Any = part
    bounds: Any = part["intervals"]
    for step in part["headline"]:
        found, bounds = found.get(step) if found else None, bounds.get(step, {})
    return Estimate(found, bounds.get("low"), bounds.get("high"), bounds.get("method", ""))
