from dataclasses import replace

import pytest

from caliper.analysis.compare import Difference
from caliper.analysis.gate import Check, Decision, GateSide, Policy, Tier, gate
from caliper.benchmarks.base import Better

WHOLE = GateSide(complete=True, coverage={"capability": 1.0, "captionqa": 0.995})
F1 = ("average", "f1")
CHECK = Check("capability", "average.f1", max_drop=1.0)


def difference(value: float, error: float | None = 0.5, **changes: object) -> Difference:
    low, high = (value - 1.0, value + 1.0)
    made = Difference(
        60.0, 60.0 + value, value, low, high, "jackknife", 200, 200, error, degrees=199
    )
    return replace(made, **changes)


def decided(
    found: Difference | None, *checks: Check, base: GateSide = WHOLE, candidate: GateSide = WHOLE
) -> tuple[Decision, str]:
    """The gate's decision, and the reason of its first finding."""
    figures = {} if found is None else {F1: found}
    gated = gate(Policy(checks or (CHECK,)), {"capability": figures}, base, candidate)
    return gated.decision, gated.findings[0].reason


@pytest.mark.parametrize(
    ("value", "decision"),
    [
        (2.0, Decision.PASSED),
        (0.0, Decision.PASSED),
        (-1.0, Decision.INCONCLUSIVE),
        (-1.5, Decision.INCONCLUSIVE),
        (-3.0, Decision.REGRESSION),
    ],
)
def test_a_drop_against_what_is_allowed(value: float, decision: Decision) -> None:
    assert decided(difference(value))[0] is decision


def test_the_stricter_of_two_margins_counts() -> None:
    both = replace(CHECK, max_drop=5.0, max_relative_drop=0.01)
    gated = gate(Policy((both,)), {"capability": {F1: difference(0.0)}}, WHOLE, WHOLE)
    assert gated.findings[0].margin == pytest.approx(0.6)
    assert decided(difference(-3.0), replace(both, max_relative_drop=0.2))[0] is Decision.PASSED


def test_without_a_margin_nothing_may_be_lost() -> None:
    strict = Check("capability", "average.f1")
    assert decided(difference(0.0), strict)[0] is Decision.INCONCLUSIVE
    assert decided(difference(2.0), strict)[0] is Decision.PASSED
    assert decided(difference(-2.0), strict)[0] is Decision.REGRESSION


def alike(value: float, media: int) -> Difference:
    return difference(value, None, method="exact", alike=float(media), most=100.0)


@pytest.mark.parametrize(
    ("value", "media", "level", "decision"),
    [
        # That one of a hundred pictures in twenty is worse has to be ruled out: .99^n < level.
        (0.0, 299, 0.05, Decision.PASSED),
        (0.0, 298, 0.05, Decision.INCONCLUSIVE),
        (0.0, 299, 0.01, Decision.INCONCLUSIVE),
        (0.0, 459, 0.01, Decision.PASSED),
        # All of them from right to wrong: (101 / 200)^n < level.
        (-100.0, 5, 0.05, Decision.REGRESSION),
        (-100.0, 4, 0.05, Decision.INCONCLUSIVE),
        (-100.0, 5, 0.01, Decision.INCONCLUSIVE),
        (100.0, 5, 0.05, Decision.PASSED),
    ],
)
def test_where_all_media_tell_the_same_the_level_counts_exactly(
    value: float, media: int, level: float, decision: Decision
) -> None:
    figures = {"capability": {F1: alike(value, media)}}
    assert gate(Policy((CHECK,), level), figures, WHOLE, WHOLE).decision is decision


def test_where_all_media_tell_the_same_checks_are_looked_at_together() -> None:
    many = Check("capability", "tasks.*.f1", max_drop=1.0)
    figures = {("tasks", "scene", "f1"): alike(-100.0, 5)}
    alone = gate(Policy((many,)), {"capability": figures}, WHOLE, WHOLE)
    assert alone.decision is Decision.REGRESSION
    figures |= {("tasks", task, "f1"): alike(0.0, 400) for task in ("ocr", "style", "event")}
    together = gate(Policy((many,)), {"capability": figures}, WHOLE, WHOLE)
    assert together.decision is Decision.INCONCLUSIVE
    assert together.findings[0].decision is Decision.INCONCLUSIVE


def test_without_a_spread_or_an_end_nothing_is_decided() -> None:
    bare = difference(0.0, None, low=None, high=None, method="")
    assert decided(bare) == (Decision.INCONCLUSIVE, "the difference has no interval")


CANNOT = ("overall", "cannot")


@pytest.mark.parametrize(
    ("value", "decision"), [(-3.0, Decision.PASSED), (3.0, Decision.REGRESSION)]
)
def test_of_what_is_better_when_lower_a_rise_is_the_loss(value: float, decision: Decision) -> None:
    check = Check("captionqa", "overall.cannot", max_drop=1.0)
    gated = gate(Policy((check,)), {"captionqa": {CANNOT: difference(value)}}, WHOLE, WHOLE)
    assert gated.decision is decision
    assert gated.findings[0].better is Better.LESS
    unclear = gate(Policy((check,)), {"captionqa": {CANNOT: difference(0.5)}}, WHOLE, WHOLE)
    assert unclear.findings[0].reason == "a rise of more than 1 is not ruled out"


def test_a_wildcard_stands_for_no_count_and_no_spread() -> None:
    counts = {
        ("overall", name): difference(-900.0, None, p=None, method="")
        for name in ("n_scored", "n_unscored", "std_score", "range_score")
    }
    figures = {**counts, ("overall", "score"): difference(2.0), CANNOT: difference(-2.0)}
    check = Check("captionqa", "overall.*", max_drop=1.0)
    gated = gate(Policy((check,)), {"captionqa": figures}, WHOLE, WHOLE)
    assert [one.figure for one in gated.findings] == ["overall.score", "overall.cannot"]
    assert gated.decision is Decision.PASSED
    named = replace(check, figure="overall.n_scored")
    gated = gate(Policy((named,)), {"captionqa": figures}, WHOLE, WHOLE)
    assert gated.decision is Decision.INCONCLUSIVE
    assert gated.findings[0].reason == "neither a higher nor a lower value is better"


def test_too_little_to_decide_on() -> None:
    few = replace(CHECK, min_pairs=201)
    assert decided(difference(-9.0), few) == (
        Decision.INCONCLUSIVE, "200 pairs, fewer than 201"
    )  # fmt: skip
    partial = replace(WHOLE, complete=False)
    assert decided(difference(9.0), candidate=partial)[1] == "the candidate is not complete"
    poor = replace(WHOLE, coverage={"capability": 0.9})
    assert decided(difference(9.0), base=poor)[1] == "the base covers 90.0%, less than 99.0%"
    short = replace(WHOLE, coverage={"capability": 0.98996})
    told = decided(difference(9.0), candidate=short)[1]
    assert told == "the candidate covers 98.996%, less than 99.000%"


def test_every_figure_needs_scores_of_its_own_questions() -> None:
    """One hundredth of a benchmark may be an eighth of a task."""
    task = ("tasks", "OCR", "f1")
    thin = replace(WHOLE, shares={"capability": {"tasks.OCR.f1": 0.87}})
    figures = {"capability": {F1: difference(9.0), task: difference(9.0)}}
    for tier, decision in (
        (Tier.CRITICAL, Decision.INCONCLUSIVE),
        (Tier.SUPPORTING, Decision.INCONCLUSIVE),
        (Tier.ADVISORY, Decision.PASSED),
    ):
        policy = Policy((CHECK, Check("capability", "tasks.OCR.f1", tier)))
        gated = gate(policy, figures, WHOLE, thin)
        assert gated.decision is decision
        assert [(one.decision, one.reason) for one in gated.findings] == [
            (Decision.PASSED, ""),
            (
                Decision.INCONCLUSIVE,
                "the candidate covers 87.0% of its questions, less than 99.0%",
            ),
        ]
    assert gate(policy, figures, thin, WHOLE).findings[1].reason.startswith("the base covers 87.0%")
    loose = replace(policy, min_coverage=0.8)
    assert gate(loose, figures, WHOLE, thin).findings[1].decision is Decision.PASSED


def test_every_benchmark_that_the_candidate_lacks_is_a_critical_finding_by_name() -> None:
    base = GateSide(complete=True, coverage={"comprecap": 1.0, "capability": 1.0, "captionqa": 1.0})
    candidate = GateSide(complete=True, coverage={"capability": 1.0})
    found = gate(Policy((CHECK,)), {"capability": {F1: difference(9.0)}}, base, candidate)
    assert found.decision is Decision.INCONCLUSIVE
    assert [(one.check, one.figure, one.reason) for one in found.findings[1:]] == [
        (Check(name, "(any figure)", Tier.CRITICAL), "(any figure)", f"the candidate has no {name}")
        for name in ("captionqa", "comprecap")
    ]
    # What a check names is told once, and what the candidate alone has is no loss.
    named = Policy((CHECK, Check("captionqa", "overall.score"), Check("comprecap", "s_cov")))
    assert len(gate(named, {"capability": {F1: difference(9.0)}}, base, candidate).findings) == 3
    other_way = gate(Policy((CHECK,)), {"capability": {F1: difference(9.0)}}, candidate, base)
    assert [one.decision for one in other_way.findings] == [Decision.PASSED]


def test_captions_that_list_everything_decide_nothing() -> None:
    stuffed = replace(WHOLE, stuffed={"capability": 0.5})
    why = "50.0% of the captions of the candidate show signs of stuffing"
    for drop in (9.0, -9.0):
        assert decided(difference(drop), candidate=stuffed) == (Decision.INCONCLUSIVE, why)
    assert decided(difference(9.0), base=stuffed)[1] == why.replace("candidate", "base")
    elsewhere = replace(WHOLE, stuffed={"captionqa": 0.5})
    assert decided(difference(9.0), candidate=elsewhere)[0] is Decision.PASSED


def test_what_is_missing_never_passes() -> None:
    for side in ({"base": GateSide(True, {})}, {"candidate": GateSide(True, {})}):
        assert decided(difference(9.0), **side)[0] is Decision.INCONCLUSIVE
    assert decided(None) == (Decision.INCONCLUSIVE, "no such figure in both runs")
    supporting = replace(CHECK, figure="tasks.smell.f1", tier=Tier.SUPPORTING)
    assert decided(difference(9.0), CHECK, supporting)[0] is Decision.INCONCLUSIVE
    for tier in Tier:
        other = Check("comprecap", "s_unified", tier)
        assert decided(difference(9.0), CHECK, other)[0] is Decision.INCONCLUSIVE


def test_coverage_is_required_of_supporting_checks_too() -> None:
    thin = replace(WHOLE, coverage={"capability": 1.0, "captionqa": 0.2})
    score = ("overall", "score")
    figures = {"capability": {F1: difference(9.0)}, "captionqa": {score: difference(9.0)}}
    for tier, expected in {
        Tier.SUPPORTING: Decision.INCONCLUSIVE,
        Tier.ADVISORY: Decision.PASSED,
    }.items():
        check = Check("captionqa", "overall.score", tier)
        gated = gate(Policy((CHECK, check)), figures, WHOLE, thin)
        assert gated.decision is expected


def test_what_follows_depends_on_the_tier() -> None:
    tiers = {tier: replace(CHECK, figure="tasks.*.f1", tier=tier) for tier in Tier}
    figures = {F1: difference(0.0), ("tasks", "scene", "f1"): difference(-9.0)}
    for tier, expected in {
        Tier.CRITICAL: Decision.REGRESSION,
        Tier.SUPPORTING: Decision.REGRESSION,
        Tier.ADVISORY: Decision.PASSED,
    }.items():
        gated = gate(Policy((CHECK, tiers[tier])), {"capability": figures}, WHOLE, WHOLE)
        assert gated.decision is expected
        assert gated.findings[1].decision is Decision.REGRESSION
    figures["tasks", "scene", "f1"] = difference(-1.0)
    for tier, expected in {
        Tier.CRITICAL: Decision.INCONCLUSIVE,
        Tier.SUPPORTING: Decision.PASSED,
        Tier.ADVISORY: Decision.PASSED,
    }.items():
        gated = gate(Policy((CHECK, tiers[tier])), {"capability": figures}, WHOLE, WHOLE)
        assert gated.decision is expected


def test_a_policy_of_wishes_alone_decides_nothing() -> None:
    advisory = replace(CHECK, tier=Tier.ADVISORY)
    assert decided(difference(9.0), advisory)[0] is Decision.INCONCLUSIVE


def test_many_checks_are_looked_at_together() -> None:
    """A drop that is clear by itself is not, as one of thirteen."""
    slight = difference(-2.0, 0.5)
    figures = {("tasks", f"t{number}", "f1"): difference(0.0) for number in range(12)}
    alone = gate(Policy((CHECK,)), {"capability": {F1: slight}}, WHOLE, WHOLE)
    assert alone.decision is Decision.REGRESSION
    many = Check("capability", "tasks.*.f1", max_drop=1.0)
    figures = {**figures, ("tasks", "last", "f1"): slight}
    together = gate(Policy((many,)), {"capability": figures}, WHOLE, WHOLE)
    assert together.findings[-1].decision is Decision.INCONCLUSIVE
    assert together.decision is Decision.INCONCLUSIVE
