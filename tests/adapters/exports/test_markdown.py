import dataclasses
from pathlib import Path

from tests.fakes import reports

from caliper.adapters import caption_warnings
from caliper.adapters.exports.markdown import MarkdownExport, report_text
from caliper.benchmarks.base import LEXICAL_WARNING
from caliper.core.report import Report, Table, TableRow
from caliper.core.suspicion import Suspicious


def test_the_report_reads_from_top_to_bottom(tmp_path: Path) -> None:
    path = MarkdownExport().write(reports.report(), iter(()), tmp_path)
    lines = path.read_text("utf-8").splitlines()
    cell = "40.00 (36.00 to 45.00)"
    expected = [
        "# My checkpoint 7B",
        "Complete: every planned question has an outcome, coverage is over the floor.",
        "## CAPability",
        "average, F1: **61.50 (58.25 to 64.12)**",
        "- Replies were read leniently.",
        "### Tasks",
        "|  | Precision | Recall | F1 | Scored |",
        "| --- | ---: | ---: | ---: | ---: |",
        f"| object\\_number | {cell} | {cell} | {cell} | 100 |",
        "| OCR | no data | 54.25 (50.25 to 59.25) | 54.25 (50.25 to 59.25) | 98 |",
        "Per cent.",
        "### How these figures were made",
        "- Judge: llama (tgi, 0123456789ab)",
        "- Settings: category\\_labels=any, reply\\_reading=lenient",
        "## CaptionQA",
        f"> **Warning.** {LEXICAL_WARNING}",
        f"- Signs: {caption_warnings.injection_note(reports.captionqa().suspicious)}",
        "## Reproduce",
        "- pack.name: caliper",
        "- seed: 0",
    ]
    places = [lines.index(line) for line in expected]
    assert places == sorted(places)


def test_a_partial_report_says_so_first() -> None:
    lines = report_text(reports.report("running")).splitlines()
    assert lines[2].startswith("> **Incomplete: the run is running")


def test_stuffing_is_said_before_every_figure() -> None:
    stuffed = Suspicious(9, 10, {"long": 9}, 9)
    part = dataclasses.replace(reports.capability(), suspicious=stuffed)
    lines = report_text(Report("run", "complete", (part,))).splitlines()
    assert lines[4].startswith("> **Warning.** Signs of stuffing in CAPability: 9 of 10 captions")


def test_names_are_text_and_not_markup() -> None:
    label = "a | b\n# c <img src=x> [d](e) `f`"
    table = Table("T", ("C",), (TableRow(label, (("average", "f1"),)),))
    part = dataclasses.replace(reports.capability(), tables=(table,))
    text = report_text(Report("run", "complete", (part,)))
    assert "| a \\| b \\# c \\<img src=x\\> \\[d\\](e) \\`f\\` | 61.50" in text
