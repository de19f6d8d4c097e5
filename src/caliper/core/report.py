"""The report of a run as values: figures with intervals, tables of figures, coverage.

Benchmarks define the figures (`Figure`) and the tables that show them (`Table`); analysis
estimates them; exporters and pages render the result without knowing any benchmark.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from caliper.core.question import Decoding
from caliper.core.suspicion import Suspicious
from caliper.core.tally import Sums

Path = tuple[str, ...]
Statistic = Callable[[Mapping[str, Sums]], float | None]


class Kind(StrEnum):
    """How a figure's uncertainty is estimated."""

    PROPORTION = "proportion"  # a share of questions: `shares` names its two sums
    RATIO = "ratio"  # anything else: the jackknife over clusters
    COUNT = "count"  # a whole number, without an interval
    PLAIN = "plain"  # a number without an interval, such as a spread over repeats


@dataclass(frozen=True, slots=True)
class Figure:
    """One number of a benchmark's report, before it is computed.

    `path` is its place in report.json below the benchmark. `statistic` takes the sums of `cells`
    by cell name and returns the value in the paper's unit (percent where the paper prints
    percent), or None without data. For a PROPORTION, `shares` names the two sums (part, whole),
    added up over all `cells`; the value is their quotient times `scale`. `bounds` are the least
    and greatest possible values.

    For any other figure, `denominator` names the sums that add up to its divisor: only clusters
    that have some of them count as observations. `parts` are the same figure per dimension, and
    `weights` how much one unit of each part adds to this figure; both are empty if the questions
    of all dimensions are pooled. The statistic uses only the cells that it is given, so it can be
    computed over some of the dimensions.
    """

    path: Path
    cells: tuple[str, ...]
    statistic: Statistic
    kind: Kind = Kind.RATIO
    shares: tuple[str, str] | None = None
    scale: float = 100.0
    bounds: tuple[float, float] = (0.0, 100.0)
    denominator: tuple[str, ...] = ()
    parts: tuple[Figure, ...] = ()
    weights: tuple[float, ...] = ()

    @property
    def divisor(self) -> tuple[str, ...]:
        """The names of the sums in the denominator."""
        return self.denominator if self.shares is None else self.shares[1:]

    @property
    def dimension(self) -> str:
        """The figure's name as a part of another: its task, domain or metric."""
        return self.path[:2][-1]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A computed figure. `low` and `high` are its 95% interval; None without data.

    `method` names the interval's: wilson, cluster, jackknife, or empty for a count.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    method: str = ""


@dataclass(frozen=True, slots=True)
class TableRow:
    """A label and one figure's path per column (None leaves the cell empty)."""

    label: str
    cells: tuple[Path | None, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A table of figures. `columns` are the headings; `chart` is the index of the column that a
    bar chart draws, if any.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[TableRow, ...]
    note: str = ""
    chart: int | None = None


@dataclass(frozen=True, slots=True)
class Coverage:
    """The number of planned (question, repeat) pairs, and of those with a score.

    `unscored` counts by reason. `askable` excludes pairs with bad ground truth, and those that a
    run judged in part did not draw.
    """

    planned: int
    scored: int
    unscored: Mapping[str, int] = field(default_factory=dict)

    @property
    def known(self) -> int:
        """The number with an outcome."""
        return self.scored + sum(self.unscored.values())

    @property
    def undrawn(self) -> int:
        """The number that a run judged in part does not ask."""
        return self.unscored.get("not_drawn", 0)

    @property
    def askable(self) -> int:
        return self.planned - self.unscored.get("bad_ground_truth", 0) - self.undrawn

    @property
    def share(self) -> float:
        """Scored over askable; 1.0 if nothing is askable."""
        return self.scored / self.askable if self.askable else 1.0

    @property
    def reasons(self) -> str:
        """Why askable pairs have no score, each reason with its count: `1 backend, 29 no_reply`."""
        return ", ".join(
            f"{count:,} {reason}"
            for reason, count in sorted(self.unscored.items())
            if reason not in ("bad_ground_truth", "not_drawn")
        )


@dataclass(frozen=True, slots=True)
class Generation:
    """How a model generated its replies: the names of its prompts, its decoding (with the seed of
    the first reply), and the number of replies per question.
    """

    prompts: tuple[str, ...]
    decoding: Decoding
    repeats: int = 1


@dataclass(frozen=True, slots=True)
class JudgeCheck:
    """How many anchors (captions with known verdicts) were judged correctly: `agreed` of `scored`;
    `unscored` got no verdict.
    """

    agreed: int
    scored: int
    unscored: int = 0


@dataclass(frozen=True, slots=True)
class BenchmarkReport:
    """One benchmark's part of a report. `headline` is the path of the figure people quote first.

    `models` names the models that judged, read, tagged and embedded; `settings` are the protocol
    choices. `notes` are sentences to show beside the figures (a lexical judge, a chosen reading).
    `suspicious` counts captions that look written for the judge; it changes no figure.
    `generation` has an entry per role that used a chat model; recorded replies and rules have
    none. `check` is the judge check of this run, and `lacking` are the planned dimensions, such as
    tasks, that the headline averages over and that have no score yet: both are shown to people,
    but are not part of report.json.
    """

    name: str
    title: str
    headline: Path
    estimates: Mapping[Path, Estimate]
    tables: tuple[Table, ...]
    coverage: Coverage
    settings: Mapping[str, str] = field(default_factory=dict)
    models: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    suspicious: Suspicious = field(default_factory=Suspicious)
    generation: Mapping[str, Generation] = field(default_factory=dict)
    check: JudgeCheck | None = None
    lacking: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reuse:
    """How many model-written captions, and how many verdicts, reuse replies of earlier runs."""

    captions: int = 0
    of_captions: int = 0
    verdicts: int = 0
    of_verdicts: int = 0


@dataclass(frozen=True, slots=True)
class Report:
    """The results of a run. They depend only on the resolved spec, the plan and the outcomes,
    except for `reuse`: shown to people, not part of report.json, None if nothing was reused.

    `state` is a run state (`complete` or `decided`, or `finished` below the coverage floor; any
    other state makes it a partial report). `spec` is the part of the resolved spec that is needed
    to reproduce the run.
    """

    name: str
    state: str
    benchmarks: tuple[BenchmarkReport, ...]
    spec: Mapping[str, Any] = field(default_factory=dict)
    schema: int = 1
    reuse: Reuse | None = None

    @property
    def partial(self) -> bool:
        return self.state not in ("complete", "decided")

    @property
    def share(self) -> float:
        """The lowest coverage share of any benchmark."""
        return min((part.coverage.share for part in self.benchmarks), default=0.0)


@dataclass(frozen=True, slots=True)
class VerdictRow:
    """One verdict in readable form: a row of verdicts.jsonl and .parquet.

    `dimension` is the task, domain or kind of the question. `outcome` is the word for the
    score (correct, wrong, not mentioned ...) or `unscored`; `reason` says why there is no score.
    `category`, which no file has, is a finer kind of the benchmark.
    """

    index: int
    benchmark: str
    dimension: str
    item: str
    sample: str
    cluster: str
    media: tuple[str, ...]
    question_id: str
    question: str
    expected: str
    repeat: int
    outcome: str
    score: float | None
    reason: str
    explanation: str
    reply: str
    repaired: bool
    judge: str
    category: str = field(default="", compare=False)


def leaves(value: Any, path: Path = ()) -> Iterator[tuple[str, str]]:
    """(dotted path, text) of every value in nested mappings; a list counts as one value.

    Values other than text are written as in JSON and YAML: null, true, [1, 2].
    """
    if isinstance(value, Mapping):
        for key in value:
            yield from leaves(value[key], (*path, str(key)))
    else:
        yield ".".join(path), value if isinstance(value, str) else json.dumps(value)
