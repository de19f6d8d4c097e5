"""Judge drift: does a judge still give the same verdicts on the same anchors?

Anchors are known captions with known verdicts, the same in every run. If their verdicts differ
between two runs, the judge has changed, and a difference of figures may be due to the judge
instead of the checkpoint.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from caliper.analysis.significance import mcnemar


@dataclass(frozen=True, slots=True)
class AnchorVerdict:
    """The `expected` verdict of one anchor, and the `actual` one; None for no verdict."""

    expected: str
    actual: str | None

    @property
    def is_correct(self) -> bool:
        return self.actual == self.expected


@dataclass(frozen=True, slots=True)
class AnchorJudgement:
    """All anchors of a benchmark, judged once. `anchors` is the digest of their texts."""

    judge: str
    anchors: str
    verdicts: Mapping[str, AnchorVerdict]

    @property
    def scored_count(self) -> int:
        """The number of anchors with a verdict."""
        return sum(verdict.actual is not None for verdict in self.verdicts.values())

    @property
    def correct_count(self) -> int:
        """The number of anchors with the expected verdict."""
        return sum(verdict.is_correct for verdict in self.verdicts.values())

    @property
    def agreement(self) -> float | None:
        """The share of verdicts that are as expected; None without verdicts."""
        return self.correct_count / self.scored_count if self.scored_count else None

    def to_json(self) -> dict[str, Any]:
        """A JSON object; `from_json` reads it back to an equal judgement."""
        agreement = self.agreement
        return {
            "judge": self.judge,
            "anchors": self.anchors,
            "agreement": None if agreement is None else round(agreement, 6),
            "agreed": self.correct_count,
            "scored": self.scored_count,
            "unscored": len(self.verdicts) - self.scored_count,
            "verdicts": {
                name: {"expected": verdict.expected, "given": verdict.actual}
                for name, verdict in self.verdicts.items()
            },
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """The judgement that `to_json` wrote. Raises ValueError for anything else."""
        try:
            verdicts = {
                str(name): AnchorVerdict(verdict["expected"], verdict["given"])
                for name, verdict in data["verdicts"].items()
            }
            return cls(data["judge"], data["anchors"], verdicts)
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"not judged anchors: {error!r}") from error


@dataclass(frozen=True, slots=True)
class Drift:
    """The difference between two judgements of the same anchors.

    `paired` counts the anchors with a verdict in both. `changed` are those whose verdict changed.
    `p` is McNemar's exact p-value for the agreement of an unchanged judge.
    """

    paired: int
    changed: tuple[str, ...]
    p: float


def drift(first: AnchorJudgement, second: AnchorJudgement) -> Drift | None:
    """The drift between two judgements; None if their anchors differ."""
    if first.anchors != second.anchors:
        return None
    pairs = {
        name: (verdict, second.verdicts[name])
        for name, verdict in first.verdicts.items()
        if name in second.verdicts
        and verdict.actual is not None
        and second.verdicts[name].actual is not None
    }
    lost = sum(before.is_correct and not after.is_correct for before, after in pairs.values())
    won = sum(after.is_correct and not before.is_correct for before, after in pairs.values())
    return Drift(
        paired=len(pairs),
        changed=tuple(
            name for name, (before, after) in pairs.items() if before.actual != after.actual
        ),
        p=mcnemar(lost, won),
    )
