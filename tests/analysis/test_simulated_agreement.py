"""Raters whose true agreement is known: how often the intervals hold it.

docs/comparing.md has one of the cases beside the intervals of a bootstrap.
"""

import numpy as np
import pytest
from tests.fakes.random_runs import at_least
from tests.fakes.raters import accuracy_of, two_raters

from caliper.analysis.agreement import Coefficient, agreement_of

KAPPAS = (0.0, 0.5, 0.9, 0.98, 1.0)
SETS = {20: 500, 100: 400, 500: 150}
"""How many are drawn, by their questions; large ones take their time."""


def held(found: Coefficient, truth: float) -> bool:
    return found.low - 1e-6 <= truth <= found.high + 1e-6


@pytest.mark.parametrize("clustered", [False, True])
@pytest.mark.parametrize("questions", SETS)
@pytest.mark.parametrize("kappa", KAPPAS)
def test_intervals_of_agreement_hold_the_true_one(
    kappa: float, questions: int, clustered: bool
) -> None:
    draw = np.random.default_rng([round(100 * kappa), questions, clustered])
    told = [
        agreement_of(two_raters(draw, questions, kappa, clustered=clustered))
        for _ in range(SETS[questions])
    ]
    # Where everybody gave one label to everything there is no kappa.
    known = [one for one in told if one.cohen is not None and one.cohen.value is not None]
    assert len(known) > 0.95 * SETS[questions]
    # Right in the limit only: a point is allowed for, and five with about five media.
    least = 0.9 if clustered and questions == 20 else 0.94
    for name, truth in (("cohen", kappa), ("alpha", kappa), ("accuracy", accuracy_of(kappa))):
        covered = sum(held(getattr(one, name), truth) for one in known)
        assert at_least(covered, least, len(known)), name
    assert all(one.cohen.low < one.cohen.high for one in known)


def test_many_questions_leave_little_doubt() -> None:
    draw = np.random.default_rng(7)
    for kappa, widest in ((0.0, 0.16), (0.5, 0.16), (0.9, 0.1), (0.98, 0.06), (1.0, 0.02)):
        found = agreement_of(two_raters(draw, 500, kappa, clustered=False)).cohen
        assert 0 < found.high - found.low < widest
