"""Stability over repeats of the reading, per domain and overall (paper 3.5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from caliper.benchmarks.captionqa.domains import in_order, title
from caliper.benchmarks.captionqa.metrics import METRICS, OVERALL, ShareMetric
from caliper.benchmarks.stability import SPREADS, Combine
from caliper.core.report import Figure, Kind, Path, Table, TableRow
from caliper.core.tally import Sums, Tally

REPEAT = "repeat"
"""The kind of a cell for one repeat of a domain: "repeat/domain/number"."""
_TABLE_METRICS = ("score", "accuracy", "cannot")


def cell_of(domain: str, repeat: int) -> str:
    """Return the name of the cell for one repeat of a domain."""
    return f"{REPEAT}/{domain}/{repeat}"


def stability(tally: Tally, reading: str) -> tuple[list[Figure], list[Table]]:
    """Return figures and tables of range and standard deviation over repeats.

    They cover every metric, by domain and overall; empty if questions were asked once. `reading`
    selects how the overall is computed.
    """
    repeats = sorted({int(cell.split("/")[2]) for cell in tally if cell.startswith(f"{REPEAT}/")})
    if len(repeats) < 2:
        return [], []
    names = (cell.split("/")[1] for cell in tally if cell.startswith(f"{REPEAT}/"))
    domains = [domain for domain in in_order(names) if cell_of(domain, repeats[0]) in tally]
    columns: dict[Path, tuple[str, list[str]]] = {("overall",): (reading, domains)}
    columns |= {("domains", domain): ("questions", [domain]) for domain in domains}
    figures = []
    for path, (combination, members) in columns.items():
        for metric in METRICS:
            # As in the overall: domains without data are left out of a mean.
            present = [name for name in members if _has_data(tally, metric, name, repeats)]
            cells = [tuple(cell_of(name, repeat) for name in present) for repeat in repeats]
            for name, combine in SPREADS:
                place = (*path, f"{name}_{metric.name}")
                statistic = partial(over_repeats, metric, combine, combination, cells)
                # Not a smooth function of its clusters, so the jackknife does not apply.
                all_cells = tuple(cell for some in cells for cell in some)
                figures.append(Figure(place, all_cells, statistic, Kind.PLAIN))
    return figures, [_table(tuple(columns), len(repeats))]


def over_repeats(
    metric: ShareMetric,
    combine: Combine,
    reading: str,
    repeats: list[tuple[str, ...]],
    sums: Mapping[str, Sums],
) -> float | None:
    """Compute a metric over the cells of each repeat, and combine the results."""
    return combine(OVERALL[reading](metric, cells, sums) for cells in repeats)


def _has_data(tally: Tally, metric: ShareMetric, domain: str, repeats: Sequence[int]) -> bool:
    cells = (cell_of(domain, repeat) for repeat in repeats)
    return any(tally.total(cell).get(metric.whole, 0) for cell in cells)


def _table(columns: tuple[Path, ...], repeats: int) -> Table:
    names = [f"{name}_{metric}" for metric in _TABLE_METRICS for name, _ in SPREADS]
    heads = tuple(f"{metric}, {name}" for metric in _TABLE_METRICS for name, _ in SPREADS)
    rows = tuple(
        TableRow(title(path[-1]) if len(path) > 1 else "Overall", tuple((*path, n) for n in names))
        for path in columns
    )
    note = (
        "Greatest less least, and standard deviation (n - 1), of the figures of the single "
        "repeats, in points (paper 3.5)."
    )
    return Table(f"Stability over {repeats} repeats (points)", heads, rows, note)
