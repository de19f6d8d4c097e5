"""Whether a judge still says what it said: two sittings over the same anchors.

Anchors are known captions with known verdicts, the same in every run. Where their verdicts
differ between two runs, the judge has changed, and so much of a difference of figures may be
the judge's instead of the checkpoint's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from caliper.analysis.significance import mcnemar


@dataclass(frozen=True, slots=True)
class AnchorVerdict:
    """One anchor: the verdict that it deserves, and the one that it got; None for no verdict."""

    expected: str
    given: str | None

    @property
    def agreed(self) -> bool:
        return self.given == self.expected


@dataclass(frozen=True, slots=True)
class Sitting:
    """All anchors of a benchmark, judged once. `anchors` is the digest of the set's texts."""

    judge: str
    anchors: str
    verdicts: Mapping[str, AnchorVerdict]

    @property
    def scored(self) -> int:
        """How many anchors got a verdict."""
        return sum(judged.given is not None for judged in self.verdicts.values())

    @property
    def agreed(self) -> int:
        """How many got the one that they deserve."""
        return sum(judged.agreed for judged in self.verdicts.values())

    @property
    def agreement(self) -> float | None:
        """The share of those with a verdict that got the deserved one; None without any."""
        return self.agreed / self.scored if self.scored else None

    def to_json(self) -> dict[str, Any]:
        """A JSON object; `from_json` reads it back to an equal sitting."""
        agreement = self.agreement
        return {
            "judge": self.judge,
            "anchors": self.anchors,
            "agreement": None if agreement is None else round(agreement, 6),
            "agreed": self.agreed,
            "scored": self.scored,
            "unscored": len(self.verdicts) - self.scored,
            "verdicts": {
                name: {"expected": judged.expected, "given": judged.given}
                for name, judged in self.verdicts.items()
            },
        }

    @classmethod
    def from_json(cls, written: Mapping[str, Any]) -> Self:
        """The sitting that `to_json` wrote. Raises ValueError for anything else."""
        try:
            verdicts = {
                str(name): AnchorVerdict(judged["expected"], judged["given"])
                for name, judged in written["verdicts"].items()
            }
            return cls(written["judge"], written["anchors"], verdicts)
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"not judged anchors: {error!r}") from error


@dataclass(frozen=True, slots=True)
class Drift:
    """How two sittings over the same anchors differ.

    `first` and `second` are how many of the `paired` anchors, those with a verdict in both,
    got the deserved one. `changed` are the anchors whose verdict is another one. `p` is
    McNemar's exact: how often a judge that has not changed differs so much in its agreement.
    """

    first: int
    second: int
    paired: int
    changed: tuple[str, ...]
    p: float


def drift(first: Sitting, second: Sitting) -> Drift | None:
    """What changed between two sittings; None where their anchors are not the same."""
    if first.anchors != second.anchors:
        return None
    pairs = {
        name: (judged, second.verdicts[name])
        for name, judged in first.verdicts.items()
        if name in second.verdicts
        and judged.given is not None
        and second.verdicts[name].given is not None
    }
    lost = sum(before.agreed and not after.agreed for before, after in pairs.values())
    won = sum(after.agreed and not before.agreed for before, after in pairs.values())
    return Drift(
        first=sum(before.agreed for before, _ in pairs.values()),
        second=sum(after.agreed for _, after in pairs.values()),
        paired=len(pairs),
        changed=tuple(
            name for name, (before, after) in pairs.items() if before.given != after.given
        ),
        p=mcnemar(lost, won),
    )
