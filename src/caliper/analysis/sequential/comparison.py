"""A candidate compared with its baseline while verdicts come in.

After every block, each check is tested again: the bound holds at all looks. A regression is the
least p-value of all looks, adjusted over all checks (Holm, see `significance`); a pass is not
adjusted, since all checks have to pass. A stratum is drawn until all checks that use it are
decided.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from caliper.analysis.draw_order import Unit
from caliper.analysis.sequential.check_path import (
    CheckLook,
    CheckPath,
    Finding,
    StopTarget,
)
from caliper.analysis.sequential.strata import DRIFT_LEVEL, KnownScores
from caliper.analysis.significance import holm

_PASSES = frozenset({Finding.PASSED, Finding.IMPROVED})


@dataclass(frozen=True, slots=True)
class Look:
    """The state after a block.

    `difference`, `low`, `high` and `needed_more` are those of the check that decides: one that
    regressed, else the undecided one that needs the most, else the first. `open_strata` are drawn
    further. `reason` says why nothing can be decided, such as a judge that has drifted.
    """

    finding: Finding
    difference: float
    low: float
    high: float
    needed_more: int | None
    checks: tuple[CheckLook, ...]
    open_strata: frozenset[str]
    reason: str = ""


def spent_alpha(alpha: float, number: int) -> float:
    """The alpha of comparison `number`, from 1, of a suite that raises any false alarm with
    probability `alpha` at most: 6 alpha / (pi number)^2, which add up to alpha.
    """
    return 6 * alpha / (math.pi * number) ** 2


class SequentialComparison:
    """A comparison of one candidate with its baseline. The same outcomes give the same looks."""

    def __init__(
        self,
        units: Sequence[Unit],
        blocks: Sequence[Sequence[int]],
        target: StopTarget,
        known: KnownScores,
    ) -> None:
        """`blocks` are those of `draw_order`. Raises ValueError for a target without checks, or
        with strata that have no question.
        """
        strata = {unit.index: unit.stratum for unit in units}
        named = {name for check in target.checks for name in check.weights}
        if not named or not named <= set(strata.values()):
            raise ValueError(f"no questions of {', '.join(sorted(named)) or 'any check'}")
        self._target, self._blocks, self._strata = target, blocks, strata
        self._paths = [CheckPath(units, target, check, known) for check in target.checks]
        self._reused = known.reused
        drift = known.drift()
        self._reason = f"the judge has drifted (p = {drift:.4f})" if drift < DRIFT_LEVEL else ""
        self._looks: list[Look] = []

    def look(self, outcomes: Mapping[int, float | None], blocks_done: int) -> Look:
        """The look after the first `blocks_done` blocks, from 1.

        `outcomes` are the candidate's scores by index, None for a question without one. Questions
        of strata that an earlier look no longer drew are not needed, and ignored. Raises ValueError
        if another outcome of these blocks is missing.
        """
        while len(self._looks) < blocks_done:
            self._looks.append(self._next(outcomes))
        return self._looks[blocks_done - 1]

    def is_drawn(self, index: int) -> bool:
        """Whether the next block asks a question: any of the first, then those of open strata."""
        return not self._looks or self._strata[index] in self._looks[-1].open_strata

    def _next(self, outcomes: Mapping[int, float | None]) -> Look:
        number = len(self._looks)
        indexes = [
            index
            for index in self._blocks[number]
            if self.is_drawn(index) and index not in self._reused
        ]
        missing = [index for index in indexes if index not in outcomes]
        if missing:
            raise ValueError(f"block {number} has {len(missing)} questions without an outcome")
        for path in self._paths:
            path.add(number, {index: outcomes[index] for index in indexes})
        looks = [path.look(len(self._blocks)) for path in self._paths]
        if not self._reason:
            self._decide()
        return self._summary(looks)

    def _decide(self) -> None:
        adjusted = holm([path.p_values.regressed for path in self._paths])
        for path, p in zip(self._paths, adjusted, strict=True):
            (alpha, alarm_alpha), values = self._target.alphas, path.p_values
            if path.finding is Finding.UNDECIDED and p is not None and p < alarm_alpha:
                path.finding = Finding.REGRESSED
            elif path.finding in {Finding.UNDECIDED, *_PASSES} and values.passed < alpha:
                slight = values.gain < alpha and values.within < alpha
                path.finding = Finding.IMPROVED if slight else Finding.PASSED

    def _summary(self, looks: Sequence[CheckLook]) -> Look:
        checks = tuple(
            replace(
                look,
                finding=path.finding,
                needed_more=look.needed_more if path.finding is Finding.UNDECIDED else None,
            )
            for path, look in zip(self._paths, looks, strict=True)
        )
        findings = {check.finding for check in checks}
        if Finding.REGRESSED in findings:
            finding = Finding.REGRESSED
        elif Finding.UNDECIDED in findings:
            finding = Finding.UNDECIDED
        else:
            finding = Finding.PASSED if Finding.PASSED in findings else Finding.IMPROVED
        deciding = max(
            (check for check in checks if _weighs(check, finding)),
            key=lambda check: check.needed_more if check.needed_more is not None else math.inf,
        )
        open_strata = frozenset[str]()
        if finding is Finding.UNDECIDED:
            open_strata = frozenset(
                name
                for path in self._paths
                if path.finding is Finding.UNDECIDED
                for name in path.check.weights
            )
        return Look(
            finding,
            deciding.difference,
            deciding.low,
            deciding.high,
            deciding.needed_more,
            checks,
            open_strata,
            self._reason,
        )


def _weighs(check: CheckLook, finding: Finding) -> bool:
    return check.finding is finding or (finding in _PASSES and check.finding in _PASSES)
