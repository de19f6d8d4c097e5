from __future__ import annotations

from fractions import Fraction

import pytest

from caliper.core.outcome import Reason, Scored, Unscored, Verdict


@pytest.mark.parametrize(
    "outcome",
    [
        Scored(Fraction(1, 3)),
        Scored(Fraction(0), mentioned=False),
        Scored(Fraction(-1), labels=7),
        Unscored(Reason.BACKEND),
    ],
)
def test_a_verdict_survives_json(outcome: Scored | Unscored) -> None:
    verdict = Verdict(7, outcome)
    assert Verdict.from_json(verdict.to_json()) == verdict


def test_only_what_is_not_mentioned_says_so() -> None:
    assert Verdict(1, Scored(Fraction(1))).to_json() == {"index": 1, "score": "1"}
