"""The pages of a server: the runs, a run, its samples, and errors."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

from caliper.adapters.pages.page import SAMPLES, TABLES, render
from caliper.adapters.pages.page_data import page_json
from caliper.adapters.pages.samples import Sample
from caliper.adapters.phrases import readable
from caliper.benchmarks.registry import all_names, benchmark
from caliper.core.report import BenchmarkReport, Estimate, Path, Report, Table, TableRow
from caliper.core.run import FINAL_STATES, WHOLE_STATES
from caliper.pipeline.gateway.gateway import Page as RunsPage
from caliper.pipeline.ledger.declaration import empty_report
from caliper.pipeline.reports.facets import Facet
from caliper.pipeline.reports.run_reader import FILES
from caliper.pipeline.store.run_record import Evaluation

RUNS = ("Runs", "/")
REFRESH = 5
"""Seconds between refreshes of the page of an active run."""

Trail = tuple[tuple[str, str], ...]


def address(path: str, **query: str | Sequence[str]) -> str:
    """A path on this server with a query; empty values are omitted."""
    parameters = {name: value for name, value in query.items() if value}
    # Broken JSON in a dataset may contain lone surrogates.
    encoded = urlencode(parameters, doseq=True, errors="replace")
    return f"{path}?{encoded}" if encoded else path


def trail(run: str = "", name: str = "") -> Trail:
    """The breadcrumbs of a page: the list of runs, and the run if one is named."""
    return (RUNS, (name, f"/runs/{run}")) if run else (RUNS,)


Headlines = Mapping[str, Mapping[str, Estimate]]
"""The headline figures of ended runs, by run id and benchmark."""


def render_runs(
    page: RunsPage, headlines: Headlines, query: tuple[str, str], links: Mapping[str, str]
) -> str:
    """Render the list of runs, newest first.

    `query` are the checkpoint that the list is restricted to, and the token of this page; `links`
    lead to other pages.
    """
    name, token = query
    names = {part.name for run in page.evaluations for part in run.spec.benchmarks}
    return render(
        "runs.html",
        live=True,
        runs=page.evaluations,
        benchmarks={each: benchmark(each).title for each in all_names() if each in names},
        headlines=headlines,
        name=name,
        links=links,
        first=address("/", name=name) if token else "",
        next=address("/", name=name, token=page.next) if page.next else "",
    )


def render_run(evaluation: Evaluation, *, refreshing: bool) -> str:
    """Render a run's progress and its figures so far.

    The page of an active run refreshes itself if `refreshing`.
    """
    active = evaluation.state not in FINAL_STATES
    run = evaluation.spec.run_id
    declaration = empty_report(evaluation.spec)
    parts = [_complete(part, declaration) for part in evaluation.benchmarks]
    return render(
        "run.html",
        scripts=TABLES,
        live=True,
        trail=trail(),
        refresh=REFRESH if active and refreshing else 0,
        switch=address(f"/runs/{run}", refresh="off" if refreshing else ""),
        every=REFRESH,
        going=active,
        run=evaluation,
        whole=evaluation.state in WHOLE_STATES,
        parts=parts,
        spec=declaration.spec,
        samples=f"/runs/{run}/samples",
        files={file: f"/runs/{run}/files/{file}" for file in FILES},
    )


def _complete(part: BenchmarkReport, declaration: Report) -> BenchmarkReport:
    """Fill in what a report received over the wire lacks: tables, models and settings.

    Its counts arrive as floats and become whole numbers.
    """
    if part.tables:
        return part
    declared_part = next(each for each in declaration.benchmarks if each.name == part.name)
    return replace(
        part,
        settings=declared_part.settings,
        models=declared_part.models,
        generation=declared_part.generation,
        tables=_tables(part),
        estimates={path: _whole_count(path, estimate) for path, estimate in part.estimates.items()},
    )


def _whole_count(path: Path, estimate: Estimate) -> Estimate:
    if path[-1].startswith("n_") and estimate.value is not None:
        return Estimate(int(estimate.value))
    return estimate


def _tables(part: BenchmarkReport) -> tuple[Table, ...]:
    """Arrange figures in tables by their paths.

    The last step of a path is the column, the one before it the row, the rest the table.
    """
    tables: dict[tuple[str, ...], dict[str, set[str]]] = {}
    columns: dict[tuple[str, ...], dict[str, None]] = {}
    for path in part.estimates:
        above, row, column = path[:-2], path[-2] if len(path) > 1 else "all", path[-1]
        tables.setdefault(above, {}).setdefault(row, set()).add(column)
        columns.setdefault(above, {})[column] = None
    return tuple(
        Table(
            readable(" ".join(above)) or part.title,
            tuple(map(readable, columns[above])),
            tuple(
                TableRow(
                    readable(row),
                    tuple(
                        ((*above, column) if row == "all" else (*above, row, column))
                        if column in present
                        else None
                        for column in columns[above]
                    ),
                )
                for row, present in rows.items()
            ),
            chart=_chart(part, tuple(columns[above])),
        )
        for above, rows in tables.items()
    )


def _chart(part: BenchmarkReport, columns: Sequence[str]) -> int | None:
    column = part.headline[-1] if part.headline else ""
    return columns.index(column) if len(part.headline) > 1 and column in columns else None


def render_samples(run: tuple[str, str], total: int) -> str:
    """Render the browser of the `total` verdicts of `run` (id, name)."""
    ident, name = run
    return render(
        "samples.html",
        scripts=SAMPLES,
        live=True,
        trail=trail(ident, name),
        name=name,
        source=f"/runs/{ident}/verdicts",
        total=total,
    )


def verdict_page(
    run: str,
    samples: Sequence[Sample],
    pictures: Collection[tuple[str, str]],
    counts: Mapping[Facet, int],
    following: str,
) -> dict[str, Any]:
    """A page of verdicts of `run` for its browser. `pictures` are the (benchmark, media) pairs that
    can be shown.
    """
    return page_json(
        samples,
        {
            (name, media): address(f"/runs/{run}/picture", benchmark=name, media=media)
            for name, media in sorted(pictures)
        },
        counts,
        following,
    )


def render_trouble(title: str, message: str, ways: Trail = (), home: Trail = (RUNS,)) -> str:
    """Render an error page with links that lead on."""
    return render("trouble.html", live=True, trail=home, title=title, message=message, ways=ways)
