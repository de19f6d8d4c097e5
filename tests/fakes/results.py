"""Results of a run, as sinks are given them."""

from typing import Any

from tests.fakes import reports
from tests.fakes.runs import spec

from caliper.adapters.exports.json import report_text
from caliper.core.report import Report
from caliper.ports.sinks import Results

ENDED = "2026-11-26T10:00:00+00:00"
FILES = ("report.json", "report.md", "report.html", "verdicts.parquet")


def results(report: Report | None = None, run: str = "0123456789abcdef", **more: Any) -> Results:
    """The results of a run of this report, at a training step."""
    known = report or reports.report()
    text = report_text(known)
    files = dict.fromkeys(FILES, b"the caption of a picture") | {"report.json": text.encode()}
    fields = {"step": 1200, "revision": "5f3c", "tags": ("best",), "suite": "nightly"}
    return Results(
        run,
        spec(),
        known,
        text,
        files.__getitem__,
        lambda: iter(reports.verdicts(4)),
        **{"ended": ENDED, **fields, **more},
    )
