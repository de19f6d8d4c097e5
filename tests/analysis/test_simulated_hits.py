"""Few mentions among many media: how often intervals hold the true value. 200 draws per case;
`python -m bench coverage` makes a table of more.
"""

import numpy as np
import pytest
from tests.fakes.few_hits import AVERAGED, Task, coverage, coverage_of_average
from tests.fakes.random_runs import at_least

DRAWS = 200


@pytest.mark.parametrize("hits", [2, 5, 20, 100])
@pytest.mark.parametrize("metric", ["precision", "f1"])
def test_intervals_of_few_hits_hold_the_true_value(hits: int, metric: str) -> None:
    found = coverage(np.random.default_rng(hits), Task(hits / 900, 0.9), metric, DRAWS)
    # Wilson's own coverage of a handful of hits varies around 95%.
    assert at_least(found.alone.held, 0.92, found.alone.draws)
    assert at_least(found.apart.held, 0.94, found.apart.draws)
    assert found.clear <= 0.09 * found.apart.draws


def test_an_average_over_tasks_of_few_hits_holds_the_true_value() -> None:
    found = coverage_of_average(np.random.default_rng(5), AVERAGED, "precision", 60)
    assert at_least(found.alone.held, 0.94, found.alone.draws)
    assert at_least(found.apart.held, 0.94, found.apart.draws)
