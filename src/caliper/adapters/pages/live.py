"""The pages of a server: runs, one run, its samples, and what went wrong."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlencode

from caliper.adapters.pages.page import cut, render
from caliper.benchmarks.registry import benchmark, benchmark_names
from caliper.core.report import BenchmarkReport, Estimate, Path, Report, Table, TableRow, VerdictRow
from caliper.core.run import OVER, RunState
from caliper.pipeline.gateway.gateway import Page as RunsPage
from caliper.pipeline.ledger.declaration import declared
from caliper.pipeline.reports.facets import Facet
from caliper.pipeline.reports.run_reader import FILES, VerdictQuery
from caliper.pipeline.store.run_record import Evaluation

RUNS = ("Runs", "/")
REFRESH = 5
"""Seconds until the page of a run that goes on is fetched again."""
PICTURES = 4
"""The most pictures of a sample that are shown."""
# Longest question, explanation or reply, and what is shown of a caption until it is asked for
# whole, in characters.
_GLANCE = 420
_FILTERS = ("benchmark", "dimension", "outcome")

Trail = tuple[tuple[str, str], ...]


def address(path: str, **query: str | Sequence[str]) -> str:
    """A path of this server with a query; what is empty is left out."""
    given = {name: value for name, value in query.items() if value}
    # Somebody's broken JSON may have lone surrogates.
    asked = urlencode(given, doseq=True, errors="replace")
    return f"{path}?{asked}" if asked else path


def trail(run: str = "", name: str = "") -> Trail:
    """The way to a page: the list of runs, and a run if one is named."""
    return (RUNS, (name, f"/runs/{run}")) if run else (RUNS,)


Headlines = Mapping[str, Mapping[str, Estimate]]
"""The headline figures of runs that are over, by run id and benchmark."""


def render_runs(found: RunsPage, headlines: Headlines, name: str, token: str) -> str:
    """Runs, the newest first, to look at and to compare; `name` is that of the one checkpoint
    that is listed, `token` that of this page.
    """
    ran = {part.name for each in found.evaluations for part in each.spec.benchmarks}
    return render(
        "runs.html",
        live=True,
        runs=found.evaluations,
        benchmarks={each: benchmark(each).title for each in benchmark_names() if each in ran},
        headlines=headlines,
        name=name,
        first=address("/", name=name) if token else "",
        next=address("/", name=name, token=found.next) if found.next else "",
    )


@dataclass(frozen=True, slots=True)
class BenchmarkProgress:
    """How far a benchmark is: how many of how many have an outcome."""

    title: str
    known: int
    planned: int


def render_run(found: Evaluation, *, refreshing: bool) -> str:
    """Where a run stands, with its figures so far. While it goes on the page is fetched again
    by itself, unless that was stopped.
    """
    going = found.state not in OVER
    run = found.spec.run_id
    said = declared(found.spec)
    parts = [_complete(part, said) for part in found.benchmarks]
    return render(
        "run.html",
        live=True,
        trail=trail(),
        refresh=REFRESH if going and refreshing else 0,
        switch=address(f"/runs/{run}", refresh="off" if refreshing else ""),
        every=REFRESH,
        going=going,
        run=found,
        whole=found.state is RunState.COMPLETE,
        progress=[_progress(part) for part in parts],
        parts=parts,
        spec=said.spec,
        samples=f"/runs/{run}/samples",
        files={file: f"/runs/{run}/files/{file}" for file in FILES},
    )


def _progress(part: BenchmarkReport) -> BenchmarkProgress:
    known = part.coverage.scored + sum(part.coverage.unscored.values())
    return BenchmarkProgress(part.title, known, part.coverage.planned)


def _complete(part: BenchmarkReport, said: Report) -> BenchmarkReport:
    """A part with models and settings, and with tables: figures that came over the wire have
    none, and their counts are no whole numbers.
    """
    if part.tables:
        return part
    known = next(each for each in said.benchmarks if each.name == part.name)
    return replace(
        part,
        settings=known.settings,
        models=known.models,
        generation=known.generation,
        tables=_tables(part),
        estimates={path: _counted(path, found) for path, found in part.estimates.items()},
    )


def _counted(path: Path, found: Estimate) -> Estimate:
    if path[-1].startswith("n_") and found.value is not None:
        return Estimate(int(found.value))
    return found


def _tables(part: BenchmarkReport) -> tuple[Table, ...]:
    """Figures as tables, by their paths: the last word is the column, the one before it the row,
    and what stands before them makes the table.
    """
    tables: dict[tuple[str, ...], dict[str, set[str]]] = {}
    columns: dict[tuple[str, ...], dict[str, None]] = {}
    for path in part.estimates:
        above, row, column = path[:-2], path[-2] if len(path) > 1 else "all", path[-1]
        tables.setdefault(above, {}).setdefault(row, set()).add(column)
        columns.setdefault(above, {})[column] = None
    return tuple(
        Table(
            _said(" ".join(above)) or part.title,
            tuple(map(_said, columns[above])),
            tuple(
                TableRow(
                    _said(row),
                    tuple(
                        ((*above, column) if row == "all" else (*above, row, column))
                        if column in there
                        else None
                        for column in columns[above]
                    ),
                )
                for row, there in rows.items()
            ),
            chart=_chart(part, tuple(columns[above])),
        )
        for above, rows in tables.items()
    )


def _chart(part: BenchmarkReport, columns: Sequence[str]) -> int | None:
    column = part.headline[-1] if part.headline else ""
    return columns.index(column) if len(part.headline) > 1 and column in columns else None


def _said(name: str) -> str:
    return name.replace("_", " ")


@dataclass(frozen=True, slots=True)
class FilterChoice:
    """A value that a filter may take, how many verdicts it leaves, and whether it is taken."""

    value: str
    count: int
    chosen: bool


@dataclass(frozen=True, slots=True)
class Card:
    """A verdict as it is shown: `glance` is the beginning of a caption that is long."""

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
    """A page of verdicts, what there is of each kind, and the token of the next page. Captions go
    by (benchmark, sample); `pictures` are the (benchmark, media) that can be shown.
    """

    rows: Sequence[VerdictRow]
    captions: Mapping[tuple[str, str], str]
    pictures: Collection[tuple[str, str]]
    counts: Mapping[Facet, int]
    next: str


def render_samples(run: tuple[str, str], wanted: VerdictQuery, found: VerdictPage) -> str:
    """Verdicts of a run (its id and name) with pictures, captions and filters."""
    ident, name = run
    path = f"/runs/{ident}/samples"
    asked = dict(zip(_FILTERS, wanted.filters, strict=True))
    return render(
        "samples.html",
        live=True,
        trail=trail(ident, name),
        name=name,
        path=path,
        filters={each: choices(found.counts, wanted, place) for place, each in enumerate(_FILTERS)},
        filtered=any(wanted.filters),
        cards=[_card(ident, row, found) for row in found.rows],
        matching=sum(count for facet, count in found.counts.items() if wanted.takes(facet)),
        all=sum(found.counts.values()),
        first=address(path, **asked) if wanted.token else "",
        next=address(path, **asked, token=found.next) if found.next else "",
    )


def choices(counted: Mapping[Facet, int], wanted: VerdictQuery, place: int) -> list[FilterChoice]:
    """The values of one filter that the other filters leave, with how many there are; a value
    that was chosen is among them even if none is left.
    """
    chosen = wanted.filters[place]
    filters = ("" if at == place else value for at, value in enumerate(wanted.filters))
    name, dimension, outcome = filters
    others = VerdictQuery(name, dimension, outcome)
    counts = {chosen: 0} if chosen else {}
    for facet, count in counted.items():
        if others.takes(facet):
            counts[facet[place]] = counts.get(facet[place], 0) + count
    return [FilterChoice(value, counts[value], value == chosen) for value in sorted(counts)]


def _card(run: str, row: VerdictRow, found: VerdictPage) -> Card:
    caption = found.captions.get((row.benchmark, row.sample), "")
    pictures = tuple(
        address(f"/runs/{run}/picture", benchmark=row.benchmark, media=media)
        for media in row.media[:PICTURES]
        if (row.benchmark, media) in found.pictures
    )
    row = replace(
        row,
        question=cut(row.question),
        expected=cut(row.expected),
        explanation=cut(row.explanation),
        reply=cut(row.reply),
    )
    begun = caption[:_GLANCE].rpartition(" ")[0] or caption[:_GLANCE]
    glance = f"{begun} ..." if len(caption) > _GLANCE else ""
    return Card(row, caption, glance, pictures)


def render_trouble(title: str, message: str, ways: Trail = ()) -> str:
    """What went wrong, and where to go from here."""
    return render("trouble.html", live=True, trail=trail(), title=title, message=message, ways=ways)
