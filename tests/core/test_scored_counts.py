from __future__ import annotations

from fractions import Fraction

import pytest

from caliper.core.outcome import Reason, Scored, Unscored, Verdict


@pytest.mark.parametrize(
    "outcome",
    [
        Scored(Fraction(1, 3)),
        Scored(Fraction(0), (("silent", 1), ("words", 12))),
        Unscored(Reason.BACKEND),
    ],
)
def test_a_verdict_survives_json_with_its_counts(outcome: Scored | Unscored) -> None:
    verdict = Verdict(7, outcome)
    assert Verdict.from_json(verdict.to_json()) == verdict


def test_a_score_without_counts_is_written_as_before() -> None:
    assert Verdict(1, Scored(Fraction(1))).to_json() == {"index": 1, "score": "1"}
