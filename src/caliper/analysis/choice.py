"""Choosing a reader or judge (CaptionQA, paper 3.5): several of them on the same captions.

Shows how the choice of the instrument changes the figures, and how far its verdicts agree with
those of the first one. Only human labels can show which is right (see `agreement`).
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
    """Replies per second of the run, and tokens per reply (None if the server counts none): for a
    whole run, on whatever machine it ran.
    """

    replies: float
    tokens: float | None


@dataclass(frozen=True, slots=True)
class JudgeCandidate:
    """One run's reader or judge: its name `name`, and its part of the report.

    `differences` are its figures minus those of the first candidate, paired on the same media;
    `agreement` is that of its verdicts with the first's. The first has neither. `pace` is None if
    unknown. `blank` is how often it says that it cannot answer when the captions are empty
    (faithfulness), None if unknown.
    """

    run: str
    name: str
    part: BenchmarkReport
    differences: Mapping[Path, Difference] = field(default_factory=dict)
    agreement: Agreement | None = None
    pace: Throughput | None = None
    blank: Estimate | None = None

    def estimate(self, path: Path) -> Estimate:
        """A figure; an estimate without data if the run does not have it."""
        return self.part.estimates.get(path, Estimate(None))


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """The candidates of one benchmark; the others are compared with the first.

    `paths` are the headline, then the figures of its row, then, if questions were repeated, their
    standard deviations over the repeats (stability).
    """

    benchmark: str
    title: str
    paths: tuple[Path, ...]
    candidates: tuple[JudgeCandidate, ...]


def choice(candidates: Sequence[JudgeCandidate]) -> ModelChoice:
    """Compare the candidates of one benchmark, at least one, in their order."""
    first = candidates[0].part
    paths: dict[Path, None] = {first.headline: None}
    for candidate in candidates:
        paths.update(dict.fromkeys(_row_figures(candidate.part)))
    return ModelChoice(first.name, first.title, tuple(paths), tuple(candidates))


def _row_figures(part: BenchmarkReport) -> list[Path]:
    """The figures of the headline's row: shares and scores, no counts; deviations come last."""
    row = part.headline[:-1]
    paths = [path for path in part.estimates if path[:-1] == row]
    # A count has no interval, and a figure of a single medium has none either.
    figures = [path for path in paths if part.estimates[path].method]
    deviations = [path for path in paths if path[-1].startswith(_STD)]
    return [*figures, *deviations]
