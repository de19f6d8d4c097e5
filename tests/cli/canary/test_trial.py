from fractions import Fraction

import pytest

from caliper.benchmarks.settings import resolve_settings
from caliper.cli.canary.cases import RIGHT, WRONG, Case, cases
from caliper.cli.canary.trial import Trial, TrialCase, TrialFate, TrialSummary
from caliper.core.outcome import Outcome, Reason, Scored, Unscored, Verdict

CASES = cases({name: resolve_settings(name, {}) for name in ("capability", "comprecap")})
ATTACKS = [case for case in CASES if case.attack]


def tried(case: Case, outcome: Outcome) -> TrialCase:
    return TrialCase(case, Verdict(0, outcome), "who")


def honest(case: Case) -> Outcome:
    return Scored(case.good_score if case.right else Fraction(0))


def trial(outcomes: dict[int, Outcome], bound: float = 0.05) -> Trial:
    """Honest but for the cases at these places."""
    return Trial(
        tuple(tried(case, outcomes.get(place, honest(case))) for place, case in enumerate(CASES)),
        bound,
    )


def places(kind: str | None) -> list[int]:
    return [
        place
        for place, case in enumerate(CASES)
        if (case.kind == kind if kind else bool(case.attack))
    ]


@pytest.mark.parametrize(
    ("score", "right", "wrong"),
    [(5, "held", "fooled"), (4, "held", "fooled"), (3, "fooled", "held"), (0, "fooled", "held")],
)
def test_on_the_scale_a_wrong_caption_may_have_a_part(score: int, right: str, wrong: str) -> None:
    rated = [case for case in CASES if case.benchmark == "comprecap"]
    for case in rated:
        fate = tried(case, Scored(Fraction(score))).fate
        assert str(fate) == (right if case.right else wrong)


def test_what_has_no_score_is_neither() -> None:
    assert tried(CASES[0], Unscored(Reason.UNREADABLE)).fate is TrialFate.UNSCORED


def test_the_honest_pass_and_those_who_always_say_the_same_fail() -> None:
    assert trial({}).summary is TrialSummary.PASSED
    best = {place: Scored(Fraction(5)) for place in range(len(CASES))}
    worst = {place: Scored(Fraction(-1)) for place in range(len(CASES))}
    assert trial(best).share == 1
    assert trial(best).summary is TrialSummary.FAILED
    assert trial(worst).share == 0
    assert trial(worst).summary is TrialSummary.FAILED


def test_the_bound_is_a_share_of_the_scored_attacks() -> None:
    fooled: dict[int, Outcome] = {place: Scored(Fraction(5)) for place in places(None)[:4]}
    share = 4 / len(ATTACKS)
    assert trial(fooled, share + 1e-9).summary is TrialSummary.PASSED
    assert trial(fooled, share - 1e-9).summary is TrialSummary.FAILED
    lost = {place: Unscored(Reason.REFUSED) for place in places(None)[4:6]}
    assert trial(fooled | lost).share == Fraction(4, len(ATTACKS) - 2)


@pytest.mark.parametrize(("kind", "score"), [(RIGHT, 0), (WRONG, 5)])
def test_a_quarter_of_either_control_may_be_misjudged(kind: str, score: int) -> None:
    mine = places(kind)
    quarter = len(mine) // 4
    wrong: list[dict[int, Outcome]] = [
        {place: Scored(Fraction(score)) for place in mine[:number]}
        for number in (quarter, quarter + 1)
    ]
    assert [trial(each).summary for each in wrong] == [TrialSummary.PASSED, TrialSummary.FAILED]


def test_too_much_without_a_score_shows_nothing() -> None:
    lost: dict[int, Outcome] = {
        place: Unscored(Reason.UNREADABLE) for place in range(len(CASES) // 10 + 1)
    }
    assert trial(lost).summary is TrialSummary.INCONCLUSIVE
    everything: dict[int, Outcome] = dict.fromkeys(range(len(CASES)), Unscored(Reason.REFUSED))
    assert trial(everything).summary is TrialSummary.INCONCLUSIVE


def test_counts_stand_by_kind_with_the_controls_last() -> None:
    counts = trial({}).counts()
    assert list(counts)[-2:] == [WRONG, RIGHT]
    assert sum(sum(each.values()) for each in counts.values()) == len(CASES)
