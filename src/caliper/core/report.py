"""The report of a run as values: figures with intervals, tables over them, coverage.

Benchmarks say which figures there are (`Figure`) and how tables show them (`Table`);
analysis estimates them; exporters and pages render the outcome and know no benchmark.
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

    `path` is where it stands in report.json below the benchmark. `statistic` takes the
    sums of `cells` by cell name and returns the value in the paper's unit (percent where
    the paper prints percent), or None when there is no data. For a PROPORTION `shares`
    names the sums whose quotient it is (part, whole), over all `cells` added up, and the
    value is that quotient times `scale`. `bounds` are the least and greatest possible value.

    `denominator` names the sums that any other figure is divided by, added up: only clusters that
    have some of them are observations of it. `parts` are the same figure of each dimension that
    this one is taken over, `weights` how much of it a unit of each part is; there are none where
    the questions of all dimensions are pooled. The statistic takes the cells that it is given: it
    can be had over some of the dimensions.
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
        """The sums that the value is divided by."""
        return self.denominator if self.shares is None else self.shares[1:]

    @property
    def dimension(self) -> str:
        """What the figure is called as a part of another: its task, domain or metric."""
        return self.path[:2][-1]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A computed figure. `low` and `high` bound it at 95%; None where there is no data.

    `method` is the interval's: wilson, cluster, jackknife, or empty for a count.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    method: str = ""


@dataclass(frozen=True, slots=True)
class TableRow:
    """A label and one figure's path a column (None leaves the cell empty)."""

    label: str
    cells: tuple[Path | None, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A table over figures. `columns` name the cells of its rows; `chart` is the place of the
    cell that a bar chart draws, if any.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[TableRow, ...]
    note: str = ""
    chart: int | None = None


@dataclass(frozen=True, slots=True)
class Coverage:
    """How many of the planned (question, repeat) pairs have a score.

    `askable` leaves out those whose ground truth is bad; `unscored` counts by reason.
    """

    planned: int
    scored: int
    unscored: Mapping[str, int] = field(default_factory=dict)

    @property
    def known(self) -> int:
        """How many have an outcome."""
        return self.scored + sum(self.unscored.values())

    @property
    def askable(self) -> int:
        return self.planned - self.unscored.get("bad_ground_truth", 0)

    @property
    def share(self) -> float:
        """Scored over askable, 1.0 when nothing was askable."""
        return self.scored / self.askable if self.askable else 1.0


@dataclass(frozen=True, slots=True)
class Generation:
    """How a model generated its replies: the names of its prompts, its decoding with the seed of
    the first reply, and how many replies each question got.
    """

    prompts: tuple[str, ...]
    decoding: Decoding
    repeats: int = 1


@dataclass(frozen=True, slots=True)
class JudgeCheck:
    """How many of the anchors, captions with known verdicts, were judged correctly: `agreed` of
    `scored`; `unscored` got no verdict.
    """

    agreed: int
    scored: int
    unscored: int = 0


@dataclass(frozen=True, slots=True)
class BenchmarkReport:
    """One benchmark's part. `headline` is the path of the figure people quote first.

    `models` names who judged, read, tagged and embedded; `settings` the protocol choices.
    `notes` are sentences that belong beside the figures (a lexical judge, a chosen reading).
    `suspicious` counts captions that look as if they were written for the judge; it changes no
    figure. `generation` has an entry per role in which a chat model was asked: recorded replies
    and rules have none. `check` is that of the judge in this run; people are shown it, and
    report.json leaves it out.
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


@dataclass(frozen=True, slots=True)
class Reuse:
    """How many of the captions that a model wrote, and of the verdicts, rest on replies that
    earlier runs asked for.
    """

    captions: int = 0
    of_captions: int = 0
    verdicts: int = 0
    of_verdicts: int = 0


@dataclass(frozen=True, slots=True)
class Report:
    """What a run found. Depends on the resolved spec, the plan and the outcomes only, but for
    `reuse`, which people are shown and report.json leaves out; None where nothing was reused.

    `state` is a run state (`complete`, or `finished` under the coverage floor; any other
    state makes it a partial report). `spec` is the part of the resolved spec that a reader
    needs to repeat the run.
    """

    name: str
    state: str
    benchmarks: tuple[BenchmarkReport, ...]
    spec: Mapping[str, Any] = field(default_factory=dict)
    schema: int = 1
    reuse: Reuse | None = None

    @property
    def partial(self) -> bool:
        return self.state != "complete"

    @property
    def share(self) -> float:
        """The least share of askable questions with a score, over the benchmarks."""
        return min((part.coverage.share for part in self.benchmarks), default=0.0)


@dataclass(frozen=True, slots=True)
class VerdictRow:
    """One verdict, told for people and tables: a row of verdicts.jsonl and .parquet.

    `dimension` is the task, category or kind of the question, `outcome` the word for the
    score (correct, wrong, not mentioned ...) or `unscored`, `reason` why there is none.
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


def leaves(value: Any, path: Path = ()) -> Iterator[tuple[str, str]]:
    """(dotted path, text) of every value in nested mappings; a list counts as one value.

    What is no text is written as JSON and YAML write it: null, true, [1, 2].
    """
    if isinstance(value, Mapping):
        for key in value:
            yield from leaves(value[key], (*path, str(key)))
    else:
        yield ".".join(path), value if isinstance(value, str) else json.dumps(value)
