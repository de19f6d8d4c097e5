"""report.md: the report as text, for reading and for pasting into a discussion."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from caliper.adapters import phrases
from caliper.adapters.caption_warnings import stuffing_warnings
from caliper.adapters.files import write_text
from caliper.adapters.provenance import TITLE, facts
from caliper.core.report import BenchmarkReport, Report, Table, VerdictRow, leaves


class MarkdownExport:
    """Writes report.md."""

    def write(self, report: Report, _: Iterator[VerdictRow], directory: Path) -> Path:
        return write_text(directory / "report.md", report_text(report))


def report_text(report: Report) -> str:
    """The text of report.md."""
    blocks = [f"# {plain(report.name)}", phrases.state(report)]
    if report.partial:
        blocks[1] = f"> **{blocks[1]}**"
    blocks.extend(f"> **Warning.** {plain(note)}" for note in stuffing_warnings(report))
    if reuse := phrases.reuse(report.reuse):
        blocks.append(plain(reuse))
    for benchmark in report.benchmarks:
        blocks.extend(_benchmark(benchmark, report.spec))
    if report.spec:
        blocks += ["## Reproduce", _pairs(sorted(leaves(report.spec)))]
    return "\n\n".join(blocks) + "\n"


def _benchmark(benchmark: BenchmarkReport, spec: Mapping[str, Any]) -> Iterator[str]:
    yield f"## {plain(benchmark.title)}"
    yield _headline(benchmark)
    loud, quiet = phrases.notes(benchmark)
    for note in loud:
        yield f"> **Warning.** {plain(note)}"
    if quiet:
        yield "\n".join(f"- {plain(note)}" for note in quiet)
    for table in benchmark.tables:
        yield f"### {plain(table.title)}"
        yield _table(benchmark, table)
        if table.note:
            yield plain(table.note)
    yield f"### {TITLE}"
    yield _pairs((fact.label, fact.text) for fact in facts(benchmark, spec))


def _headline(benchmark: BenchmarkReport) -> str:
    name = phrases.label(benchmark, benchmark.headline)
    text = f"{plain(name)}: **{phrases.with_interval(phrases.headline(benchmark))}**"
    return ", ".join(filter(None, (text, plain(phrases.remarks(benchmark)))))


def _table(benchmark: BenchmarkReport, table: Table) -> str:
    figures = {path: phrases.with_interval(each) for path, each in benchmark.estimates.items()}
    rows = [
        (row.label, *(figures.get(path, "") if path else "" for path in row.cells))
        for row in table.rows
    ]
    return grid(("", *table.columns), rows)


def grid(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    """A Markdown table; all columns but the first are right-aligned."""
    rule = ("---", *("---:" for _ in head[1:]))
    lines = (head, rule, *rows)
    return "\n".join("| " + " | ".join(map(_cell, line)) + " |" for line in lines)


def _pairs(pairs: Iterable[tuple[str, str]]) -> str:
    return "\n".join(f"- {plain(name)}: {plain(text)}" for name, text in pairs)


def plain(text: str) -> str:
    """The text on one line, with all markup escaped."""
    line = " ".join(text.split())
    return "".join(f"\\{letter}" if letter in "\\`*_[]<>#|" else letter for letter in line)


def _cell(text: str) -> str:
    return text if text in ("", "---", "---:") else plain(text)
