"""Results of a run, as sinks are given them."""

from typing import Any

from tests.fakes import reports
from tests.fakes.runs import spec

from caliper.adapters.exports.json import report_text
from caliper.adapters.files import encode_text
from caliper.core.report import Report
from caliper.ports.sinks import Results

ENDED = "2026-11-26T10:00:00+00:00"
CAPTION = b"the caption of a picture"


def results(report: Report | None = None, run: str = "0123456789abcdef", **more: Any) -> Results:
    """The results of a run of this report, at a training step."""
    known = report or reports.report()
    text = report_text(known)
    own = {"report.json": encode_text(text), "report.md": b"# figures"}
    files = own | dict.fromkeys(("report.html", "verdicts.parquet"), CAPTION)
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
