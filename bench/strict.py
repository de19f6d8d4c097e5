"""An aggregator's surroundings for measuring: nobody listens, and any complaint ends it."""

from __future__ import annotations

from caliper.core.messages import RunEvent
from caliper.pipeline.aggregation.outlets import Outlets, Trouble
from caliper.pipeline.ledger.run_ledger import RunLedger
from caliper.pipeline.reports.report_files import ReportFiles
from caliper.pipeline.store.plan import Captions
from caliper.ports.storage import ReportSink


def outlets() -> Outlets:
    """Where the aggregator tells what it found."""
    return Outlets(_announce, _warn)


def report_files(*sinks: ReportSink) -> ReportFiles:
    """What a report is written as, of runs whose captions nobody has."""
    return ReportFiles(_no_captions, lambda _, __: sinks)


def complain(text: str) -> None:
    """Raises AssertionError: what gauges complain of spoils a measurement."""
    raise AssertionError(text)


async def _announce(_: RunEvent) -> None:
    """Nobody listens."""


def _warn(kind: Trouble, text: str) -> None:
    complain(f"{kind}: {text}")


async def _no_captions(_: RunLedger) -> Captions:
    return {}
