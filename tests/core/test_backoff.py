import pytest

from caliper.core.backoff import Backoff

BACKOFF = Backoff(first=1.0, longest=8.0)


def test_waits_double_up_to_the_longest_after_any_number_of_failures() -> None:
    waits = [BACKOFF.wait(failures, draw=0.0) for failures in (1, 2, 3, 4, 5, 5000)]
    assert waits == [1.0, 2.0, 4.0, 8.0, 8.0, 8.0]


@pytest.mark.parametrize(
    ("asked", "waits"), [(None, (2.0, 3.0)), (0.0, (2.0, 3.0)), (20.0, (20.0, 22.0))]
)
def test_callers_who_fail_together_come_back_at_different_times_and_never_early(
    asked: float | None, waits: tuple[float, float]
) -> None:
    assert tuple(BACKOFF.wait(2, draw, asked) for draw in (0.0, 1.0)) == waits
