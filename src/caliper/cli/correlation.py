"""`caliper correlation`: whether metrics rank models like people do."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from caliper.adapters.datasets.csvrows import CsvTable, read_csv
from caliper.adapters.files import write_text
from caliper.adapters.metric_tables import correlation_section, scores_table
from caliper.adapters.pages.analyses import render_analyses
from caliper.adapters.text_tables import TableSection
from caliper.analysis.correlation import CorrelationEstimate, estimate_correlation
from caliper.analysis.leaderboard import Column, all_columns, headline_columns
from caliper.cli.comparison import Anyway, check_comparable
from caliper.cli.console import ERR, write_json
from caliper.cli.exits import Exit
from caliper.cli.flags import Json, Page
from caliper.cli.options import command_taking
from caliper.cli.tables import print_sections
from caliper.core.errors import InvalidInput
from caliper.core.report import Report
from caliper.core.rows import Row
from caliper.local.directory import find_run
from caliper.local.reports import read_report

Runs = Annotated[
    list[str],
    typer.Argument(
        metavar="RUN...",
        help="Run directories, names below runs/, or run ids, one per model.",
    ),
]
People = Annotated[
    Path,
    typer.Option(
        "--people",
        metavar="PATH",
        help="CSV with the columns model (a run's label) and score.",
    ),
]
Scores = Annotated[
    str, typer.Option("--column", help="The column of --people that holds the scores.")
]
Metric = Annotated[
    str | None, typer.Option("--metric", help="The metric of CAPability's or CaptionQA's columns.")
]
MODEL = "model"


HELP = """Correlate metrics with people's scores over models (CompreCap, Table 3).

Pearson's r, Kendall's tau-b and tau-c, and Spearman's rho for every column of the leaderboard, with
95% intervals from five models on. Exit code 3: fewer than three models, or all values are equal.
"""


@dataclass(frozen=True, slots=True)
class CorrelationOptions:
    """The arguments and options of `correlation`."""

    runs: Runs
    people: People
    column: Scores = "score"
    metric: Metric = None
    anyway: Anyway = False
    html: Page = None
    json: Json = False


def _correlation(options: CorrelationOptions) -> int:
    scores = read_scores(options.people, options.column)
    reports = [asyncio.run(read_report(find_run(name))) for name in options.runs]
    names = [report.name for report in reports]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InvalidInput(f"two runs of the model {twice}", field="RUN")
    for report in reports[1:]:
        check_comparable(reports[0], report, anyway=options.anyway)
    scored = [report for report in reports if report.name in scores]
    for name in names:
        if name not in scores:
            ERR.print(f"[yellow]Warning:[/yellow] no score of {escape(name)}", soft_wrap=True)
    if not scored:
        models = ", ".join(sorted(scores)[:10]) or "none"
        raise InvalidInput(
            f"no run of a scored model: {models}", file=str(options.people), field=MODEL
        )
    estimates = {one: _correlate(one, scored, scores) for one in _columns(scored, options.metric)}
    section = _section(estimates, scored, scores)
    if options.html is not None:
        names = [report.name for report in scored]
        write_text(options.html, render_analyses("Correlation with people", [section], names))
    if options.json:
        write_json(_as_json(estimates), sort_keys=True)
    else:
        print_sections([section])
    conclusive = any(one.pearson.value is not None for one in estimates.values())
    return Exit.DONE if conclusive else Exit.INCONCLUSIVE


def _columns(reports: Sequence[Report], metric: str | None) -> Iterable[Column]:
    """The columns of the leaderboards of all benchmarks, in the order of the first run."""
    headlines = headline_columns(reports) if metric is None else ()
    columns: dict[tuple[str, tuple[str, ...]], Column] = {}
    for column in (*headlines, *all_columns(reports, metric)):
        columns.setdefault((column.benchmark, column.path), column)
    return columns.values()


def _correlate(
    column: Column, reports: Sequence[Report], scores: Mapping[str, float]
) -> CorrelationEstimate:
    values = {
        report.name: value for report in reports if (value := _value(report, column)) is not None
    }
    return estimate_correlation(list(values.values()), [scores[name] for name in values])


def _value(report: Report, column: Column) -> float | None:
    for part in report.benchmarks:
        if part.name == column.benchmark and column.path in part.estimates:
            return part.estimates[column.path].value
    return None


def _section(
    estimates: Mapping[Column, CorrelationEstimate],
    reports: Sequence[Report],
    scores: Mapping[str, float],
) -> TableSection:
    names = {column: f"{column.benchmark} {'.'.join(column.path)}" for column in estimates}
    metrics = {
        report.name: {
            name: value
            for column, name in names.items()
            if (value := _value(report, column)) is not None
        }
        for report in reports
    }
    human = {report.name: scores[report.name] for report in reports}
    whole = next(iter(names.values()), "")
    by_name = {names[column]: estimate for column, estimate in estimates.items()}
    shown = scores_table("Scores", human, metrics, whole)
    return correlation_section(by_name, "models", [shown])


def _as_json(estimates: Mapping[Column, CorrelationEstimate]) -> dict[str, dict[str, object]]:
    values: dict[str, dict[str, object]] = {}
    for column, estimate in estimates.items():
        values.setdefault(column.benchmark, {})[".".join(column.path)] = asdict(estimate)
    return values


def read_scores(path: Path, column: str) -> dict[str, float]:
    """The scores in a column of a CSV file, by model. Other columns are ignored.

        model,score
        my-checkpoint-a,3.42

    `model` is the label of a run. Raises InvalidInput naming file, line and field.
    """
    table = read_csv(path)
    table.require(MODEL, column)
    return {model: score_of(row, column) for row, model in model_rows(table)}


def model_rows(table: CsvTable) -> Iterator[tuple[Row, str]]:
    """The rows, and the models that they name. Raises InvalidInput naming file, line and field."""
    table.require(MODEL)
    seen: set[str] = set()
    for row in table.rows:
        model = (row.fields[MODEL] or "").strip()
        if not model or model in seen:
            problem = "the model appears twice" if model else "expected a model's label"
            raise row.error(MODEL, problem)
        seen.add(model)
        yield row, model


def score_of(row: Row, column: str) -> float:
    """The number in a column. Raises InvalidInput naming file, line and field."""
    text = row.fields[column]
    try:
        number = float(text or "")
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise row.error(column, f"expected a number, found {text!r:.40}")
    return number


correlation = command_taking(_correlation, CorrelationOptions, help_text=HELP)
