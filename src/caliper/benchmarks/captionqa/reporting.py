"""The figures and tables of CaptionQA."""

from __future__ import annotations

from collections.abc import Mapping

from caliper.benchmarks.base import QuestionText, ReportLayout, Settings
from caliper.benchmarks.captionqa.domains import in_order, title
from caliper.benchmarks.captionqa.metrics import Pairs, gap_figure, over_domains, over_questions
from caliper.benchmarks.captionqa.questions import ChoiceQuestion
from caliper.benchmarks.captionqa.scoring import CAPTION, FULL, IMAGE, TOP
from caliper.benchmarks.captionqa.settings import chosen
from caliper.benchmarks.captionqa.stability import stability
from caliper.core.question import Item, Question, Source
from caliper.core.report import Figure, Path, Table, TableRow
from caliper.core.tally import Sums, Tally

READINGS = {"domains": "mean of the domains", "questions": "mean over questions"}
_COLUMNS = ("score", "accuracy", "cannot", "cannot_of_all", "n_scored")
_HEADS = ("score", "accuracy", "cannot %", "cannot % of all", "n")
_NOTE = (
    "cannot % is the share of the questions that offer the cannot option (the paper's tables);"
    " cannot % of all divides by all questions (the released script)."
)


def describe(item: Item, question: Question[ChoiceQuestion]) -> QuestionText:
    """Return the question in readable form; its dimension is the domain."""
    payload = question.payload
    expected = payload.choices[payload.answer] if payload.answer >= 0 else ""
    on_image = " on the image" if item.source is Source.MEDIA else ""
    return QuestionText(payload.domain + on_image, payload.question, expected, payload.category)


def report(tally: Tally, settings: Settings) -> ReportLayout:
    """Return figures and tables per domain, category and overall, and the utility gap if any."""
    reading = chosen(settings, "overall")
    domains = _totals(tally, CAPTION)
    on_image = _totals(tally, IMAGE)
    figures = [*_both_overall(domains, reading), *_by_domain("domains", domains)]
    for name, kind in (("categories", TOP), ("subcategories", FULL)):
        for cell in sorted(cell for cell in tally if cell.startswith(f"{kind}/")):
            figures += over_questions((name, *cell.split("/", 2)[1:]), (cell,))
    stability_figures, stability_tables = stability(tally, reading)
    figures += stability_figures
    tables = [_main_table(domains, reading), *stability_tables, *_category_tables(tally, domains)]
    if on_image:
        overall = _overall(("qa_on_image", "overall"), on_image, reading)
        figures += [*overall, *_by_domain("qa_on_image", on_image)]
        figures += _gaps(domains, on_image, reading)
        tables.append(_gap_table(domains, on_image, reading))
    return ReportLayout(
        headline=("overall", "score"),
        figures=tuple(figures),
        tables=tuple(tables),
        notes=_notes(domains, reading),
    )


def pools(path: Path, settings: Settings) -> bool:
    """Return whether a figure is over the questions of all domains."""
    if chosen(settings, "overall") == "domains":
        return path[:2] == ("overall_by", "questions")
    # Questions on the image are all asked, whatever is drawn.
    return path[:2] in (("overall_by", "questions"), ("utility_gap", "overall")) or (
        path[0] == "overall"
    )


def _totals(tally: Tally, kind: str) -> dict[str, Sums]:
    """Return the sums of a kind's cells, by cell, in domain order."""
    domains = in_order(_domain(cell) for cell in tally if cell.startswith(f"{kind}/"))
    return {cell: tally.total(cell) for cell in (f"{kind}/{domain}" for domain in domains)}


def _domain(cell: str) -> str:
    return cell.split("/")[1]


def _overall(path: Path, totals: Mapping[str, Sums], reading: str) -> list[Figure]:
    return (
        over_domains(path, totals) if reading == "domains" else over_questions(path, tuple(totals))
    )


def _both_overall(totals: Mapping[str, Sums], reading: str) -> list[Figure]:
    figures = _overall(("overall",), totals, reading)
    for name in READINGS:
        figures += _overall(("overall_by", name), totals, name)
    return figures


def _by_domain(name: str, totals: Mapping[str, Sums]) -> list[Figure]:
    return [figure for cell in totals for figure in over_questions((name, _domain(cell)), (cell,))]


def _pairs(domains: Mapping[str, Sums], on_image: Mapping[str, Sums]) -> Pairs:
    """Return (image cell, caption cell) per domain in which both have scores."""
    pairs = ((cell, f"{CAPTION}/{_domain(cell)}") for cell in on_image)
    return tuple(
        (image, caption)
        for image, caption in pairs
        if on_image[image].get("scored", 0) and domains.get(caption, {}).get("scored", 0)
    )


def _gaps(domains: Mapping[str, Sums], on_image: Mapping[str, Sums], reading: str) -> list[Figure]:
    pairs = _pairs(domains, on_image)
    figures = [gap_figure(("utility_gap", _domain(pair[0])), reading, (pair,)) for pair in pairs]
    return [*figures, gap_figure(("utility_gap", "overall"), reading, pairs)]


def _row(label: str, path: Path) -> TableRow:
    return TableRow(label, tuple((*path, column) for column in _COLUMNS))


def _main_table(totals: Mapping[str, Sums], reading: str) -> Table:
    ordered = sorted(READINGS, key=lambda name: name != reading)
    overall = [_row(f"Overall, {READINGS[name]}", ("overall_by", name)) for name in ordered]
    rows = [_row(title(_domain(cell)), ("domains", _domain(cell))) for cell in totals]
    return Table("CaptionQA", _HEADS, (*overall, *rows), _NOTE, chart=0)


def _category_tables(tally: Tally, totals: Mapping[str, Sums]) -> list[Table]:
    tables = []
    for domain in map(_domain, totals):
        prefix = f"{TOP}/{domain}/"
        tops = sorted(cell.removeprefix(prefix) for cell in tally if cell.startswith(prefix))
        rows = tuple(_row(top, ("categories", domain, top)) for top in tops)
        if rows:
            tables.append(Table(f"{title(domain)} by category", _HEADS, rows, chart=0))
    return tables


def _gap_table(domains: Mapping[str, Sums], on_image: Mapping[str, Sums], reading: str) -> Table:
    pairs = _pairs(domains, on_image)
    rows = [
        TableRow(
            title(domain),
            (
                ("qa_on_image", domain, "score"),
                ("domains", domain, "score"),
                ("utility_gap", domain),
            ),
        )
        for domain in (_domain(image) for image, _ in pairs)
    ]
    overall = TableRow(
        f"Overall, {READINGS[reading]}",
        (("qa_on_image", "overall", "score"), ("overall", "score"), ("utility_gap", "overall")),
    )
    heads = ("on the image", "on the caption", "gap")
    note = "The same questions asked on the image and on the caption (paper 5); gap in points."
    return Table("Utility gap", heads, (overall, *rows), note, chart=2)


def _notes(totals: Mapping[str, Sums], reading: str) -> tuple[str, ...]:
    notes = [f"Overall is the {READINGS[reading]}."]
    empty = [title(_domain(cell)) for cell, sums in totals.items() if not sums.get("scored", 0)]
    if empty:
        notes.append(
            f"No question has a score in {', '.join(empty)}: the mean of the domains is over"
            " the others."
        )
    return tuple(notes)
