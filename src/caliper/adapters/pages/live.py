"""The pages of a server: the runs, a run, its samples, and errors."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlencode

from caliper.adapters.pages.page import cut, render
from caliper.benchmarks.registry import all_names, benchmark
from caliper.core.report import BenchmarkReport, Estimate, Path, Report, Table, TableRow, VerdictRow
from caliper.core.run import FINAL_STATES, WHOLE_STATES
from caliper.pipeline.gateway.gateway import Page as RunsPage
from caliper.pipeline.ledger.declaration import empty_report
from caliper.pipeline.reports.facets import Facet
from caliper.pipeline.reports.run_reader import FILES, VerdictQuery
from caliper.pipeline.store.run_record import Evaluation

RUNS = ("Runs", "/")
REFRESH = 5
"""Seconds between refreshes of the page of an active run."""
PICTURES = 4
"""The most pictures shown per sample."""
# Characters of a long caption that are shown before it is expanded.
_GLANCE = 420
_FILTERS = ("benchmark", "dimension", "outcome")

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


def render_runs(page: RunsPage, headlines: Headlines, name: str, token: str) -> str:
    """Render the list of runs, newest first.

    `name` restricts the list to one checkpoint; `token` is that of this page.
    """
    names = {part.name for run in page.evaluations for part in run.spec.benchmarks}
    return render(
        "runs.html",
        live=True,
        runs=page.evaluations,
        benchmarks={each: benchmark(each).title for each in all_names() if each in names},
        headlines=headlines,
        name=name,
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
            _words(" ".join(above)) or part.title,
            tuple(map(_words, columns[above])),
            tuple(
                TableRow(
                    _words(row),
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


def _words(name: str) -> str:
    return name.replace("_", " ")


@dataclass(frozen=True, slots=True)
class FilterChoice:
    """A value of a filter, the number of verdicts that match it, and whether it is chosen."""

    value: str
    count: int
    chosen: bool


@dataclass(frozen=True, slots=True)
class Card:
    """A verdict as displayed; `glance` is the beginning of a long caption, else empty."""

    row: VerdictRow
    caption: str
    glance: str
    pictures: tuple[str, ...]

    @property
    def tone(self) -> str:
        if self.row.score is None:
            return "missing"
        return {"correct": "good", "wrong": "bad"}.get(self.row.outcome, "middle")


@dataclass(frozen=True, slots=True)
class VerdictPage:
    """A page of verdicts, the number of verdicts per facet, and the token of the next page.

    `captions` are keyed by (benchmark, sample); `pictures` are the (benchmark, media) pairs that
    can be shown.
    """

    rows: Sequence[VerdictRow]
    captions: Mapping[tuple[str, str], str]
    pictures: Collection[tuple[str, str]]
    counts: Mapping[Facet, int]
    next: str


def render_samples(run: tuple[str, str], query: VerdictQuery, page: VerdictPage) -> str:
    """Render verdicts of `run` (id, name) with pictures, captions and filters."""
    ident, name = run
    path = f"/runs/{ident}/samples"
    parameters = dict(zip(_FILTERS, query.filters, strict=True))
    return render(
        "samples.html",
        live=True,
        trail=trail(ident, name),
        name=name,
        path=path,
        filters={each: choices(page.counts, query, place) for place, each in enumerate(_FILTERS)},
        filtered=any(query.filters),
        cards=[_card(ident, row, page) for row in page.rows],
        matching=sum(count for facet, count in page.counts.items() if query.matches(facet)),
        all=sum(page.counts.values()),
        first=address(path, **parameters) if query.token else "",
        next=address(path, **parameters, token=page.next) if page.next else "",
    )


def choices(facets: Mapping[Facet, int], query: VerdictQuery, place: int) -> list[FilterChoice]:
    """The values of the filter at `place` with their counts, given the other filters.

    The chosen value is included even if its count is 0.
    """
    chosen = query.filters[place]
    filters = ("" if at == place else value for at, value in enumerate(query.filters))
    name, dimension, outcome = filters
    others = VerdictQuery(name, dimension, outcome)
    counts = {chosen: 0} if chosen else {}
    for facet, count in facets.items():
        if others.matches(facet):
            counts[facet[place]] = counts.get(facet[place], 0) + count
    return [FilterChoice(value, counts[value], value == chosen) for value in sorted(counts)]


def _card(run: str, row: VerdictRow, page: VerdictPage) -> Card:
    caption = page.captions.get((row.benchmark, row.sample), "")
    pictures = tuple(
        address(f"/runs/{run}/picture", benchmark=row.benchmark, media=media)
        for media in row.media[:PICTURES]
        if (row.benchmark, media) in page.pictures
    )
    row = replace(
        row,
        question=cut(row.question),
        expected=cut(row.expected),
        explanation=cut(row.explanation),
        reply=cut(row.reply),
    )
    beginning = caption[:_GLANCE].rpartition(" ")[0] or caption[:_GLANCE]
    glance = f"{beginning} ..." if len(caption) > _GLANCE else ""
    return Card(row, caption, glance, pictures)


def render_trouble(title: str, message: str, ways: Trail = (), home: Trail = (RUNS,)) -> str:
    """Render an error page with links that lead on."""
    return render("trouble.html", live=True, trail=home, title=title, message=message, ways=ways)
