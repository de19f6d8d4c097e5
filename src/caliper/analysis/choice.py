"""Choosing a reader or judge (CaptionQA, paper 3.5): the same captions, read by several.

What the choice of the instrument does to the figures, beside how far it gives the same verdicts
as the first one. None of it says which is right: labels of people do (see `agreement`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from caliper.analysis.agreement import Agreement
from caliper.analysis.compare import Difference
from caliper.core.report import BenchmarkReport, Estimate, Path

_STD = "std_"


@dataclass(frozen=True, slots=True)
class Throughput:
    """Throughput: replies a second of the run, and tokens a reply (None where the server counts
    none). It is that of a whole run on whatever machine it ran.
    """

    replies: float
    tokens: float | None


@dataclass(frozen=True, slots=True)
class Candidate:
    """One run's reader or judge: `who` it is, and its part of the report.

    `differences` are its figures minus those of the first candidate, paired on the same media;
    `agreement` is that of its verdicts with the first's. The first has neither. `pace` is None
    where it is not known; so is `blank`, how often it says that a caption does not tell, where
    captions tell nothing (faithfulness).
    """

    run: str
    who: str
    part: BenchmarkReport
    differences: Mapping[Path, Difference] = field(default_factory=dict)
    agreement: Agreement | None = None
    pace: Throughput | None = None
    blank: Estimate | None = None

    def estimate(self, path: Path) -> Estimate:
        """A figure; one without data where the run has none such."""
        return self.part.estimates.get(path, Estimate(None))


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """The candidates of one benchmark, the first being what the others are set against.

    `paths` are the figures beside the headline, that one first: those of its row, and where
    questions were asked several times their standard deviation over the repeats (stability).
    """

    benchmark: str
    title: str
    paths: tuple[Path, ...]
    candidates: tuple[Candidate, ...]


def choice(candidates: Sequence[Candidate]) -> ModelChoice:
    """The candidates of one benchmark, at least one, in their order."""
    first = candidates[0].part
    paths: dict[Path, None] = {first.headline: None}
    for candidate in candidates:
        paths.update(dict.fromkeys(_beside(candidate.part)))
    return ModelChoice(first.name, first.title, tuple(paths), tuple(candidates))


def _beside(part: BenchmarkReport) -> list[Path]:
    """The figures beside the headline: shares and scores, no counts; deviations come last."""
    row = part.headline[:-1]
    beside = [path for path in part.estimates if path[:-1] == row]
    # A count has no interval, and a figure of a single medium has none either.
    figures = [path for path in beside if part.estimates[path].method]
    apart = [path for path in beside if path[-1].startswith(_STD)]
    return [*figures, *apart]
