"""The figures and tables of CompreCap."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from caliper.benchmarks.base import CAPTION_LENGTH, ReportLayout, Settings, count_figure
from caliper.benchmarks.comprecap.compreqa import KINDS
from caliper.benchmarks.comprecap.questions import HIGHEST
from caliper.benchmarks.comprecap.settings import setting_value
from caliper.benchmarks.stability import SPREADS, Combine
from caliper.core.report import Figure, Kind, Path, Statistic, Table, TableRow
from caliper.core.tally import Amount, Sums, Tally

WEIGHTS: Mapping[str, tuple[Fraction, Fraction, Fraction]] = {
    "text": (Fraction(25, 100), Fraction(35, 100), Fraction(40, 100)),
    "table2": (Fraction(25, 100), Fraction(30, 100), Fraction(45, 100)),
}
"""The weights of S_object, S_attribute and S_relation, as printed in the paper's text and the
code (`text`), and as used for Table 2 (`table2`).
"""

LABELS = {
    "s_object": "S-object (%)",
    "s_attribute": "S-attribute (0-5)",
    "s_relation": "S-relation (0-5)",
    "s_cov": "S-Cov (%)",
    "s_unified": "S-unified (0-100)",
}
_CELL = {"s_attribute": "attribute", "s_relation": "relation", "s_cov": "coverage"}
_SCALE = {"s_object": 100, "s_attribute": 1, "s_relation": 1, "s_cov": 100}
_PARTS = ("s_object", "s_attribute", "s_relation")
REPEATED = ("s_attribute", "s_relation", "s_cov", "s_unified")


def unified(
    s_object: Amount | float, s_attribute: Amount | float, s_relation: Amount | float, weights: str
) -> Fraction:
    """Compute S_unified, 0 to 100 (paper 3.3), a weighted sum of the three scores.

    `s_object` is in percent; the other two are from 0 to 5 and scaled by 20. `weights` is a name
    in `WEIGHTS`.
    """
    parts = (Fraction(s_object), Fraction(s_attribute) * 20, Fraction(s_relation) * 20)
    weighted = (weight * part for weight, part in zip(WEIGHTS[weights], parts, strict=True))
    return sum(weighted, Fraction(0))


def report(tally: Tally, settings: Settings) -> ReportLayout:
    """Return the figures and tables for a tally."""
    repeats = sorted({int(cell.split("/")[1]) for cell in tally if cell.startswith("attribute/")})
    weights = setting_value(settings, "weights")
    kinds = tuple(kind for kind in KINDS if f"compreqa/{kind}" in tally)
    figures = [
        *(_metric(name, repeats, weights, settings) for name in LABELS),
        *_spread(repeats, weights),
        *_counts("objects", ("objects",)),
    ]
    for name in _CELL:
        figures += _counts(name.removeprefix("s_"), _cells(name, repeats))
    for kind in kinds:
        figures += [_accuracy(kind), *_counts(f"compreqa_{kind}", (f"compreqa/{kind}",))]
    tables = [_metrics_table(repeats, weights), _coverage_table()]
    if kinds:
        tables.append(_compreqa_table(kinds))
    notes = (_RELATIONS[setting_value(settings, "relations")],)
    return ReportLayout(("s_unified",), tuple(figures), tuple(tables), notes)


def mean_of(sums: Sums) -> Fraction | None:
    """Return the mean of a cell's values over pictures; None without data."""
    return Fraction(sums["sum"]) / Fraction(sums["n"]) if sums.get("n") else None


def _cells(name: str, repeats: Sequence[int]) -> tuple[str, ...]:
    if name == "s_object":
        return ("objects",)
    if name == "s_unified":
        return tuple(cell for part in _PARTS for cell in _cells(part, repeats))
    return tuple(f"{_CELL[name]}/{repeat}" for repeat in repeats)


def _value(sums: Mapping[str, Sums], name: str, repeat: int, weights: str) -> Fraction | None:
    """Compute a metric from one repeat, in the paper's unit; None without data."""
    if name == "s_unified":
        s_object, s_attribute, s_relation = (_value(sums, part, repeat, weights) for part in _PARTS)
        if s_object is None or s_attribute is None or s_relation is None:
            return None
        return unified(s_object, s_attribute, s_relation, weights)
    cell = "objects" if name == "s_object" else f"{_CELL[name]}/{repeat}"
    mean = mean_of(sums.get(cell, {}))
    return None if mean is None else mean * _SCALE[name]


def _values(
    sums: Mapping[str, Sums], name: str, repeats: Sequence[int], weights: str
) -> list[Fraction]:
    # S_object needs no judge and is available before any repeat.
    used_repeats = (0,) if name == "s_object" else repeats
    values = (_value(sums, name, repeat, weights) for repeat in used_repeats)
    return [value for value in values if value is not None]


def _mean(values: Iterable[float | Fraction | None]) -> float | None:
    numbers = [Fraction(value) for value in values if value is not None]
    return float(sum(numbers, Fraction(0)) / len(numbers)) if numbers else None


def _over_repeats(
    name: str, repeats: Sequence[int], weights: str, combine: Combine = _mean
) -> Statistic:
    return lambda sums: combine(_values(sums, name, repeats, weights))


def _bounds(name: str, settings: Settings) -> tuple[float, float]:
    """Return the bounds of a metric; infinite if the judge's numbers are taken unchecked."""
    if setting_value(settings, "reading") == "released" and name in REPEATED:
        return -math.inf, math.inf
    return (0.0, float(HIGHEST)) if _SCALE.get(name) == 1 else (0.0, 100.0)


def _metric(name: str, repeats: Sequence[int], weights: str, settings: Settings) -> Figure:
    whole = name == "s_unified"
    parts = [_metric(part, repeats, weights, settings) for part in _PARTS] if whole else []
    shares = WEIGHTS[weights] if whole else ()
    # S_object is in percent, the others from 0 to 5.
    units = [
        float(share) * (1 if _SCALE[part] == 100 else 20)
        for part, share in zip(_PARTS, shares, strict=False)
    ]
    return Figure(
        (name,),
        _cells(name, repeats),
        _over_repeats(name, repeats, weights),
        bounds=_bounds(name, settings),
        denominator=("n",),
        parts=tuple(parts),
        weights=tuple(units),
    )


def _spread(repeats: Sequence[int], weights: str) -> list[Figure]:
    if len(repeats) < 2:
        return []
    combinations = (("mean", _mean), *SPREADS)
    return [
        Figure(
            ("repeats", name, word),
            _cells(name, repeats),
            _over_repeats(name, repeats, weights, combine),
            Kind.PLAIN,
        )
        for name in REPEATED
        for word, combine in combinations
    ]


def _counts(name: str, cells: tuple[str, ...]) -> list[Figure]:
    states = ("scored", "unscored")
    return [count_figure(("counts", name, f"n_{state}"), cells, state) for state in states]


def _accuracy(kind: str) -> Figure:
    cell = f"compreqa/{kind}"

    def statistic(sums: Mapping[str, Sums]) -> float | None:
        mean = mean_of(sums.get(cell, {}))
        return None if mean is None else float(mean * 100)

    return Figure(("compreqa", kind), (cell,), statistic, Kind.PROPORTION, ("sum", "n"))


def _metrics_table(repeats: Sequence[int], weights: str) -> Table:
    rows = []
    for name, label in LABELS.items():
        spread_paths: tuple[Path | None, ...] = (
            ("repeats", name, "std"),
            ("repeats", name, "range"),
        )
        if len(repeats) < 2 or name not in REPEATED:
            spread_paths = (None, None)
        rows.append(TableRow(label, ((name,), *spread_paths)))
    rows.append(TableRow("Caption length (words)", (CAPTION_LENGTH, None, None)))
    weight_texts = ", ".join(f"{float(weight):.2f}" for weight in WEIGHTS[weights])
    note = (
        f"Means over pictures and over {max(len(repeats), 1)} repeats of the judging; S-unified "
        f"with the weights {weight_texts} ({weights}) for objects, attributes and relations."
    )
    return Table(
        "CompreCap", ("value", "std over repeats", "range over repeats"), tuple(rows), note
    )


def _coverage_table() -> Table:
    labels = {
        "objects": "pictures, objects",
        "attribute": "instances x repeats",
        "relation": "relations x repeats",
        "cov": "pictures x repeats, S-Cov",
    }
    rows = tuple(
        TableRow(label, (("counts", kind, "n_scored"), ("counts", kind, "n_unscored")))
        for kind, label in labels.items()
    )
    return Table("CompreCap: what was scored", ("scored", "unscored"), rows)


def _compreqa_table(kinds: Sequence[str]) -> Table:
    rows = tuple(
        TableRow(KINDS[kind], (("compreqa", kind), ("counts", f"compreqa_{kind}", "n_scored")))
        for kind in kinds
    )
    return Table("CompreQA", ("accuracy (%)", "scored"), rows, chart=0)


_RELATIONS = {
    "aligned": "S-relation: each relation is compared with its own sentences. The released script "
    "shifts them where an object has no relations, which gives lower figures "
    "(relations = released).",
    "released": "S-relation: relations are paired with sentences as the released script pairs "
    "them, shifted where an object has no relations. This gives lower figures than "
    "relations = aligned.",
}
