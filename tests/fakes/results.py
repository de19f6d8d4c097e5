"""Results of a run, as sinks are given them."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.fakes import reports
from tests.fakes.kept_runs import KEPT
from tests.fakes.runs import spec

from caliper.adapters.exports.json import report_text
from caliper.adapters.files import encode_text
from caliper.core.report import Report
from caliper.local.directory import RunDirectory
from caliper.local.exports import local_results
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


async def kept_results(run: str, *, with_verdicts: bool = False) -> Results:
    """The results of a run in tests/kept."""
    return replace(await local_results(RunDirectory(KEPT / run)), with_verdicts=with_verdicts)


def in_state(results: Results, state: str) -> Results:
    """The same results, of a run in another state."""
    return replace(results, report=replace(results.report, state=state))


def fetched(results: Results, benchmark: str, name: str) -> Results:
    """The same results, of data of a benchmark that were fetched by this name."""
    named = {**results.report.spec, "data_names": {benchmark: name}}
    return replace(results, report=replace(results.report, spec=named))


def files_in(folder: Path) -> dict[str, bytes]:
    """The files that a sink wrote below a folder, by relative path."""
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in folder.rglob("*")
        if file.is_file()
    }
