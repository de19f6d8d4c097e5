"""How often intervals from labels of a sample hold what people would say of everything."""

from __future__ import annotations

import numpy as np
import pytest
from tests.fakes.labelled_questions import Judged, judged
from tests.fakes.random_runs import at_least

from caliper.analysis.prediction_powered import PeopleEstimate, estimate_by_people
from caliper.analysis.sequential.measure import Measure

PATHS = 200
Case = tuple[Measure, int, int, float]
"""The measure, strata, labels of each, and the share that the judge guesses."""
CASES: list[Case] = [
    (Measure.RECALL, 1, 40, 0.1),
    (Measure.F1, 1, 120, 0.3),
    (Measure.F1, 4, 60, 0.02),
    (Measure.PRECISION, 4, 40, 0.2),
]


def found(made: Judged, case: Case, seed: str) -> PeopleEstimate:
    measure, strata, size, _ = case
    some = made.labelled(measure, size, seed)
    return estimate_by_people(some, [1 / strata] * strata, measure)


@pytest.mark.parametrize("case", CASES)
def test_intervals_hold_the_figure_of_these_questions(case: Case) -> None:
    measure, strata, size, wrong = case
    made = judged(np.random.default_rng([1, strata, size]), 150, strata, wrong)
    truth = made.figure(measure)
    told = [found(made, case, f"path {path}") for path in range(PATHS)]
    assert at_least(sum(one.these[0] <= truth <= one.these[1] for one in told), 0.94, PATHS)
    # Without bias, though the judge is kind and the doubtful were drawn more often.
    errors = np.array([one.value - truth for one in told])
    assert abs(errors.mean()) < 4 * errors.std() / PATHS**0.5 + 0.002
    # The judge helps: with it, errors are smaller than by labels alone.
    assert errors.std() < np.std([one.people for one in told])


@pytest.mark.parametrize("case", CASES[:3])
def test_intervals_hold_the_figure_of_questions_like_these(case: Case) -> None:
    measure, strata, size, wrong = case
    draw = np.random.default_rng([2, strata, size])
    truth = judged(draw, 100_000, strata, wrong).figure(measure)
    covered = 0
    for path in range(PATHS):
        one = found(judged(draw, 120, strata, wrong), case, f"path {path}")
        covered += one.like_these[0] <= truth <= one.like_these[1]
    assert at_least(covered, 0.94, PATHS)
