"""Outlets and report files for benches: events are ignored, and any complaint is an error."""

from __future__ import annotations

from caliper.core.messages import RunEvent
from caliper.pipeline.aggregation.outlets import Outlets, Trouble
from caliper.pipeline.ledger.run_ledger import RunLedger
from caliper.pipeline.reports.report_files import ReportFiles
from caliper.pipeline.store.plan import Captions
from caliper.ports.storage import ReportSink


def outlets() -> Outlets:
    """Outlets that ignore events and raise on warnings."""
    return Outlets(_announce, _warn)


def report_files(*sinks: ReportSink) -> ReportFiles:
    """Report files of these sinks, for runs without captions."""
    return ReportFiles(_no_captions, lambda _, __: sinks)


def complain(text: str) -> None:
    """Raises AssertionError: a complaint invalidates the measurement."""
    raise AssertionError(text)


async def _announce(_: RunEvent) -> None:
    """Ignore the event."""


def _warn(kind: Trouble, text: str) -> None:
    complain(f"{kind}: {text}")


async def _no_captions(_: RunLedger) -> Captions:
    return {}
