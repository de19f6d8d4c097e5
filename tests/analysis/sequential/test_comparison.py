"""Comparisons that stop: findings, bounds, and what they need."""

import numpy as np
import pytest

from caliper.analysis.sequential import (
    Finding,
    KnownScores,
    Look,
    Measure,
    SequentialComparison,
    StopCheck,
    StopTarget,
    Unit,
    draw_order,
    spent_alpha,
)

STRATA = ("action", "ocr", "scene")
WEIGHTS = dict.fromkeys(STRATA, 1 / 3)
UNITS = [Unit(index, STRATA[index % 3], f"medium-{index // 3}") for index in range(6000)]
CHECK = StopCheck("average", WEIGHTS)
TARGET = StopTarget(0.01, 0.05, (CHECK,))
Scores = dict[int, float | None]


def verdicts(share: float, seed: int) -> Scores:
    draw = np.random.default_rng(seed)
    return {index: float(right) for index, right in enumerate(draw.random(len(UNITS)) < share)}


def changed(before: Scores, lost: int, won: int) -> Scores:
    """Exactly so many questions lost and won, evenly over the strata."""
    right = [index for index, score in before.items() if score == 1]
    wrong = [index for index, score in before.items() if score == 0]
    draw = np.random.default_rng(7)
    losses, gains = draw.permutation(right)[:lost], draw.permutation(wrong)[:won]
    return before | dict.fromkeys(losses.tolist(), 0.0) | dict.fromkeys(gains.tolist(), 1.0)


def whole(outcomes: Scores, known: KnownScores, target: StopTarget = TARGET) -> Look:
    """The look at all questions: the blocks before are too small to decide anything."""
    order = [index for block in draw_order(UNITS, b"seed") for index in block]
    asked = [index for index in order if index not in known.reused]
    blocks = [asked[:30], asked[30:60], asked[60:]]
    return SequentialComparison(UNITS, blocks, target, known).look(outcomes, 3)


BASE = verdicts(0.7, 1)
EXACT = KnownScores(BASE, deterministic=True)


def compare(
    outcomes: Scores, known: KnownScores = EXACT, target: StopTarget = TARGET, blocks: int = 40
) -> tuple[Look, int]:
    """The first look that decides, or the last, and its block."""
    order = draw_order(UNITS, b"seed")
    comparison = SequentialComparison(UNITS, order, target, known)
    number = 1
    while (look := comparison.look(outcomes, number)).open_strata and number < blocks:
        number += 1
    return look, number


def test_a_large_drop_is_found_early() -> None:
    look, block = compare(changed(BASE, 500, 50))
    assert look.finding is Finding.REGRESSED
    assert block < 15
    assert look.high < -0.01
    assert look.low < look.difference < look.high
    assert look.needed_more is None
    assert not look.open_strata


def test_a_gain_passes_early_and_the_same_only_late() -> None:
    gain, early = compare(changed(BASE, 50, 500))
    same, late = compare(changed(BASE, 200, 200))
    assert gain.finding is same.finding is Finding.PASSED
    assert gain.low > -0.01
    assert early < 6 < late


def test_a_slight_gain_is_improved_and_equivalent() -> None:
    look = whole(changed(BASE, 30, 120), EXACT, StopTarget(0.05, 0.05, (CHECK,)))
    assert look.finding is Finding.IMPROVED
    assert look.low > 0
    assert look.high < 0.05


def test_all_questions_leave_no_doubt_about_these_questions() -> None:
    for lost, finding in ((61, Finding.REGRESSED), (59, Finding.PASSED), (60, Finding.PASSED)):
        look = whole(changed(BASE, lost, 0), EXACT)
        assert look.difference == pytest.approx(-lost / 6000, abs=1e-9)
        assert look.finding is finding


def test_what_is_not_decided_says_about_how_many_more_would() -> None:
    outcomes = changed(BASE, 280, 250)
    first, _ = compare(outcomes, blocks=8)
    assert first.finding is Finding.UNDECIDED
    assert first.open_strata == set(STRATA)
    _, block = compare(outcomes)
    needed = first.needed_more
    assert needed is not None
    assert 0.3 < (needed + 8 * 150) / (block * 150) < 3


def test_the_same_outcomes_give_the_same_looks_however_they_are_asked_for() -> None:
    outcomes = changed(BASE, 260, 250)
    order = draw_order(UNITS, b"seed")
    one, two = (SequentialComparison(UNITS, order, TARGET, EXACT) for _ in range(2))
    assert [one.look(outcomes, block) for block in range(1, 21)][-1] == two.look(outcomes, 20)
    with pytest.raises(ValueError, match="without an outcome"):
        SequentialComparison(UNITS, order, TARGET, EXACT).look({}, 1)


def test_nothing_is_found_before_thirty_questions_of_each_stratum_and_twenty_differences() -> None:
    drop, block = compare(changed(BASE, 3000, 0))
    assert (drop.finding, block) == (Finding.REGRESSED, 1)
    assert drop.checks[0].discordant >= 20
    look, block = compare(changed(BASE, 1000, 0))
    assert look.finding is Finding.REGRESSED
    assert look.checks[0].discordant >= 20


def test_verdicts_that_are_all_the_same_pass_by_the_exact_bound_and_not_at_once() -> None:
    look, block = compare(dict(BASE))
    assert look.finding is Finding.PASSED
    # Without a loss among n of 6,000, sixty are excluded at 5% / 40 looks when n is 627.
    assert block * 150 - 150 < 627 <= block * 150


def test_rare_losses_do_not_pass_while_none_is_seen() -> None:
    """Margin and loss are 1%: no order may pass more often than alpha."""
    outcomes = changed(BASE, 61, 0)
    passed = 0
    for seed in range(20):
        order = draw_order(UNITS, str(seed).encode())
        comparison = SequentialComparison(UNITS, order, TARGET, EXACT)
        looks = (comparison.look(outcomes, block) for block in range(1, 40))
        passed += any(look.finding is Finding.PASSED for look in looks)
    assert passed <= 4


def test_reused_verdicts_need_no_call_and_no_outcome() -> None:
    reused = frozenset(range(3000))
    known = KnownScores(BASE, reused=reused, deterministic=True)
    outcomes = changed(BASE, 400, 0) | {index: BASE[index] for index in reused}
    asked = {index: score for index, score in outcomes.items() if index not in reused}
    look = whole(asked, known)
    true = sum((outcomes[i] or 0) - (BASE[i] or 0) for i in BASE) / 6000
    assert look.difference == pytest.approx(true, abs=1e-9)
    assert look.checks[0].questions == 3000
    assert look.finding is Finding.REGRESSED


def test_questions_without_a_verdict_are_bounded_from_both_sides() -> None:
    order = draw_order(UNITS, b"seed")
    outcomes: Scores = BASE | dict.fromkeys(range(0, 6000, 50))
    comparison = SequentialComparison(UNITS, order, TARGET, EXACT)
    look = comparison.look(outcomes, len(order))
    assert look.low == pytest.approx(-0.02 * 0.7, abs=0.004)
    assert look.high == pytest.approx(0.02 * 0.3, abs=0.004)
    assert look.finding is Finding.UNDECIDED


def test_a_judge_that_flips_leaves_doubt_even_when_everything_is_judged() -> None:
    flips = {index: 1 - (BASE[index] or 0) for index in range(0, 600, 20)}
    repeats: Scores = {index: BASE[index] for index in range(600)} | flips
    noisy = KnownScores(BASE, repeats=repeats)
    order = draw_order(UNITS, b"seed")
    outcomes = changed(BASE, 90, 60)
    sure = SequentialComparison(UNITS, order, TARGET, EXACT).look(outcomes, 40)
    open_ = SequentialComparison(UNITS, order, TARGET, noisy).look(outcomes, 40)
    assert sure.finding is Finding.PASSED
    assert open_.high - open_.low > 0.005
    unknown = SequentialComparison(UNITS, order, TARGET, KnownScores(BASE)).look(outcomes, 40)
    assert unknown.high - unknown.low > 4 * (open_.high - open_.low)
    assert unknown.finding is Finding.UNDECIDED


def test_a_judge_that_has_drifted_decides_nothing() -> None:
    repeats: Scores = dict.fromkeys(range(60), 0.0)
    look, _ = compare(changed(BASE, 3000, 0), KnownScores(BASE, repeats=repeats))
    assert look.finding is Finding.UNDECIDED
    assert "drifted" in look.reason


def test_strata_are_drawn_until_every_check_that_uses_them_is_decided() -> None:
    checks = tuple(StopCheck(name, {name: 1.0}) for name in STRATA)
    outcomes = dict(BASE)
    rng = np.random.default_rng(3)
    for unit in UNITS:
        if unit.stratum == "ocr" and rng.random() < 0.2:
            outcomes[unit.index] = 1 - (BASE[unit.index] or 0)
    order = draw_order(UNITS, b"seed")
    comparison = SequentialComparison(UNITS, order, StopTarget(0.04, 0.05, checks), EXACT)
    number, open_ = 0, frozenset(STRATA)
    while open_ != {"ocr"}:
        assert {unit.stratum for unit in UNITS if comparison.is_drawn(unit.index)} == open_
        number += 1
        open_ = comparison.look(outcomes, number).open_strata
        assert open_
    # Those of the others are no longer needed, and change nothing.
    kept = {unit.index: outcomes[unit.index] for unit in UNITS if unit.stratum == "ocr"}
    after = comparison.look(kept, number + 1)
    assert after.checks[0].finding is Finding.PASSED
    assert after.checks[0].drawn < after.checks[1].drawn


def test_one_of_many_checks_needs_more_to_regress() -> None:
    """Holm: at the same differences, a check beside twelve others stops later."""
    names = [f"check-{number}" for number in range(13)]
    checks = tuple(StopCheck(name, WEIGHTS) for name in names)
    outcomes = changed(BASE, 260, 110)
    _, alone = compare(outcomes)
    _, among = compare(outcomes, target=StopTarget(0.01, 0.05, checks))
    assert alone <= among


@pytest.mark.parametrize("measure", list(Measure))
def test_figures_of_all_questions_are_those_of_the_benchmark(measure: Measure) -> None:
    rng = np.random.default_rng(5)
    sides = [
        {index: float(score) for index, score in enumerate(rng.choice((1, 0, -1), 6000, p=p))}
        for p in ((0.6, 0.3, 0.1), (0.5, 0.3, 0.2))
    ]
    target = StopTarget(0.01, 0.05, (StopCheck("figure", WEIGHTS, measure),))
    rules = [{i: float(s) for i, s in enumerate(rng.choice((1, 0, -1), 6000))} for _ in range(2)]
    look = whole(dict(sides[1]), KnownScores(sides[0], rules, deterministic=True), target)

    def figure(scores: dict[int, float]) -> float:
        parts = []
        for place in range(3):
            of = [scores[index] for index in range(place, 6000, 3)]
            correct, hit = of.count(1), len(of) - of.count(0)
            parts.append(
                {
                    Measure.MEAN: sum(of) / len(of),
                    Measure.RECALL: correct / len(of),
                    Measure.PRECISION: correct / hit,
                    Measure.F1: 2 * correct / (len(of) + hit),
                }[measure]
            )
        return sum(parts) / 3

    assert look.difference == pytest.approx(figure(sides[1]) - figure(sides[0]), abs=1e-9)
    assert look.low == pytest.approx(look.high, abs=1e-6)


def test_rules_that_tell_the_difference_save_questions() -> None:
    outcomes = changed(BASE, 260, 250)
    told = KnownScores(BASE, [dict(BASE), outcomes], deterministic=True)
    noise = KnownScores(BASE, [verdicts(0.5, 8), verdicts(0.5, 9)], deterministic=True)
    _, plain = compare(outcomes)
    _, helped = compare(outcomes, told)
    _, useless = compare(outcomes, noise)
    assert helped < plain / 2
    assert abs(useless - plain) <= 4


def test_findings_about_questions_like_these_take_media_as_units() -> None:
    """All questions are judged: nothing is left to draw of these, but there are other media."""
    outcomes = changed(BASE, 100, 70)
    these, others = (
        whole(outcomes, EXACT, StopTarget(0.01, 0.05, (CHECK,), similar=similar))
        for similar in (False, True)
    )
    assert these.high - these.low < 1e-6
    assert others.high - others.low > 0.01
    assert others.difference == pytest.approx(these.difference, abs=1e-9)


def test_alphas_of_a_suite_add_up_to_its_own() -> None:
    assert sum(spent_alpha(0.05, number) for number in range(1, 100_000)) == pytest.approx(
        0.05, abs=1e-5
    )


def test_alarms_may_need_more_than_passes() -> None:
    """The alphas of a pass and of an alarm are apart: later checkpoints pass as early as before."""
    strict = StopTarget(0.01, 0.05, (CHECK,), alarm_alpha=spent_alpha(0.05, 30))
    worse, better = changed(BASE, 300, 50), changed(BASE, 50, 300)
    (usual, early), (alarm, late) = compare(worse), compare(worse, target=strict)
    assert usual.finding is alarm.finding is Finding.REGRESSED
    assert early < late
    assert alarm.high < -0.01
    look, block = compare(better, target=strict)
    plain, usual_block = compare(better)
    assert (look.finding, look.low, block) == (plain.finding, plain.low, usual_block)


def test_checks_without_questions_are_refused() -> None:
    target = StopTarget(0.01, 0.05, (StopCheck("colour", {"colour": 1.0}),))
    with pytest.raises(ValueError, match="colour"):
        SequentialComparison(UNITS, draw_order(UNITS, b""), target, EXACT)
