"""Agreement between raters, against printed examples and against plain counting."""

import random

import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from caliper.analysis.agreement import Agreement, RatedQuestion, measure_agreement
from caliper.analysis.intervals import wilson

LABELS = st.one_of(st.none(), st.sampled_from(["1", "0", "-1"]))


def rated(*verdicts: tuple[str | None, ...]) -> list[RatedQuestion]:
    """Every question about a medium of its own."""
    return [RatedQuestion(f"m{place}", labels) for place, labels in enumerate(verdicts)]


def counted(table: dict[tuple[str, str], int]) -> list[RatedQuestion]:
    return rated(*(labels for labels, times in table.items() for _ in range(times)))


def test_cohen_as_in_a_printed_example() -> None:
    """50 applications: 20 yes-yes, 15 no-no, 5 and 10 apart: kappa .4."""
    found = measure_agreement(
        counted({("y", "y"): 20, ("y", "n"): 5, ("n", "y"): 10, ("n", "n"): 15})
    )
    assert found.cohen is not None
    assert found.cohen.value == pytest.approx(0.4)
    assert found.accuracy.value == pytest.approx(0.7)
    assert found.labels == ("n", "y")
    assert found.confusion == ((15, 10), (5, 20))


def test_fleiss_as_he_printed_it() -> None:
    """Ten subjects, fourteen raters, five categories: kappa .210."""
    table = [
        (0, 0, 0, 0, 14), (0, 2, 6, 4, 2), (0, 0, 3, 5, 6), (0, 3, 9, 2, 0), (2, 2, 8, 1, 1),
        (7, 7, 0, 0, 0), (3, 2, 6, 3, 0), (2, 5, 3, 2, 2), (6, 5, 2, 1, 0), (0, 2, 2, 3, 7),
    ]  # fmt: skip
    verdicts = [
        tuple(str(category) for category, times in enumerate(row) for _ in range(times))
        for row in table
    ]
    found = measure_agreement(rated(*verdicts))
    assert found.fleiss.value == pytest.approx(0.20993, abs=1e-5)
    assert found.cohen is None


def test_alpha_as_krippendorff_printed_it() -> None:
    """Four observers, twelve units, some verdicts missing; nominal alpha .743."""
    observers = (
        "1 2 3 3 2 1 4 1 2 . . .",
        "1 2 3 3 2 2 4 1 2 5 . 3",
        ". 3 3 3 2 3 4 2 2 5 1 .",
        "1 2 3 3 2 4 4 1 2 5 1 .",
    )
    rows = zip(*(line.split() for line in observers), strict=True)
    found = measure_agreement(rated(*(tuple(None if v == "." else v for v in row) for row in rows)))
    assert found.alpha.value == pytest.approx(0.743, abs=5e-4)
    assert found.questions == 11


@pytest.mark.parametrize(("questions", "agreed"), [(10, 7), (40, 39), (300, 150)])
def test_the_interval_of_a_share_of_independent_questions_is_wilsons(
    questions: int, agreed: int
) -> None:
    found = measure_agreement(
        counted({("y", "y"): agreed, ("y", "n"): questions - agreed})
    ).accuracy
    expected = scipy.stats.binomtest(agreed, questions).proportion_ci(method="wilson")
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=1e-6)


def test_the_interval_of_kappa_counts_what_its_variance_by_the_jackknife_is_worth() -> None:
    """Kappa .4 of 50: observed .7, chance .5; variance, interval by hand over its formulas."""
    table = {("y", "y"): 20, ("y", "n"): 5, ("n", "y"): 10, ("n", "n"): 15}
    without = {
        one: _kappa({key: times - (key == one) for key, times in table.items()}) for one in table
    }
    mean = sum(times * without[one] for one, times in table.items()) / 50
    spread = sum(times * (without[one] - mean) ** 2 for one, times in table.items())
    seen = 0.7 * 0.3 / 0.5**2 / ((49 / 50) ** 2 * spread)
    low, high = ((bound - 0.5) / 0.5 for bound in wilson(0.7, seen))
    found = measure_agreement(counted(table)).cohen
    assert found is not None
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-6)


def _kappa(table: dict[tuple[str, str], int]) -> float:
    total = sum(table.values())
    observed = sum(times for (one, other), times in table.items() if one == other) / total
    chance = sum(
        sum(times for key, times in table.items() if key[0] == label)
        * sum(times for key, times in table.items() if key[1] == label)
        for label in "yn"
    )
    return (observed - chance / total**2) / (1 - chance / total**2)


def test_verdicts_about_one_medium_hang_together() -> None:
    draw = random.Random(1)
    alone = [
        RatedQuestion(f"m{place}", ("1", "1" if draw.random() < 0.8 else "0"))
        for place in range(150)
    ] + [RatedQuestion(f"m{place}", ("0", "0")) for place in range(150, 300)]
    together = [
        RatedQuestion(f"m{place // 30}", question.labels) for place, question in enumerate(alone)
    ]
    wide, narrow = measure_agreement(together), measure_agreement(alone)
    for found in (wide, narrow):
        assert found.cohen is not None
        assert found.cohen.low < found.cohen.value < found.cohen.high
    assert narrow.cohen.value == wide.cohen.value
    assert _width(wide) > _width(narrow)
    assert measure_agreement(alone[::-1]) == narrow


def _width(found: Agreement) -> float:
    return found.cohen.high - found.cohen.low


def test_what_cannot_be_said_is_not_said() -> None:
    same = measure_agreement(rated(("1", "1"), ("1", "1")))
    assert same.accuracy.value == 1.0
    assert (same.cohen.value, same.fleiss.value, same.alpha.value) == (None, None, None)
    nothing = measure_agreement(rated(("1", None), (None, None)))
    assert (nothing.questions, nothing.accuracy.value, nothing.cohen) == (0, None, None)
    one = measure_agreement(
        [
            RatedQuestion("m", ("1", "1")),
            RatedQuestion("m", ("0", "0")),
            RatedQuestion("m", ("0", "1")),
        ]
    )
    assert one.cohen.value is not None
    assert one.cohen.low is None
    for wrong in ([RatedQuestion("m", ("1",))], rated(("1", "1"), ("1", "1", "1"))):
        with pytest.raises(ValueError, match="raters"):
            measure_agreement(wrong)


@given(st.lists(st.tuples(LABELS, LABELS, LABELS), max_size=12))
def test_whatever_raters_say(verdicts: list[tuple[str | None, ...]]) -> None:
    found = measure_agreement(rated(*verdicts))
    turned = measure_agreement(rated(*(labels[::-1] for labels in verdicts)))
    assert found == turned
    for one in (found.accuracy, found.fleiss, found.alpha):
        if one.value is not None and one.low is not None and one.high is not None:
            assert -1 <= one.low <= one.value <= one.high <= 1
