"""Where a reviewer stands in a round."""

import pytest
from tests.fakes.candidate_reviews import CATEGORIES, assessed, review

from caliper.building.candidates import CandidateDecision
from caliper.building.review_round import ReviewRound, first_round, second_round
from caliper.building.reviews import ReviewVerdict
from caliper.core.errors import NotFound

QUESTIONS = assessed(4)
ASKED = [each.candidate for each in QUESTIONS]
IDS = [each.id for each in ASKED]


def test_the_next_question_is_looked_for_from_the_start_as_well() -> None:
    begun = ReviewRound(1, QUESTIONS, [review(ASKED[3])])
    assert begun.next_open("", after=IDS[3]) == IDS[0]
    assert begun.next_open("", after=IDS[0]) == IDS[1]
    assert begun.next_open(CATEGORIES[1], after=IDS[3]) == IDS[1]
    assert begun.with_lines([review(each) for each in ASKED]).next_open("") == ""
    with pytest.raises(NotFound, match="no question 'x' in this round"):
        begun.question("x")


def test_who_has_seen_the_others_has_seen_them() -> None:
    lines = [review(ASKED[0]), review(ASKED[0], number=2), review(ASKED[1])]
    again = ReviewRound(1, QUESTIONS, lines)
    assert [again.line_round(each) for each in IDS] == [2, 1, 1, 1]
    assert [ReviewRound(2, QUESTIONS, lines).line_round(each) for each in IDS] == [2] * 4


def test_a_round_counts_its_own_verdicts() -> None:
    lines = [review(ASKED[0]), review(ASKED[1], number=2), review(assessed(9)[8].candidate)]
    assert ReviewRound(1, QUESTIONS, lines).done == {IDS[0], IDS[1]}
    second = ReviewRound(2, QUESTIONS, lines)
    assert second.done == {IDS[1]}
    assert second.latest == lines[1]
    assert ReviewRound(2, QUESTIONS, lines[:1]).latest is None


def test_rounds_ask_what_was_left_to_people_or_is_disputed() -> None:
    mixed = [*QUESTIONS[:2], *assessed(4, CandidateDecision.ACCEPT)[2:]]
    assert first_round(mixed, every=False) == tuple(mixed[:2])
    assert first_round(mixed, every=True) == tuple(mixed)
    bob = [review(each, ReviewVerdict.REJECT) for each in ASKED]
    reviews = {"ana": [review(ASKED[0]), review(ASKED[2])], "bob": bob}
    disputed = (mixed[0], mixed[2])
    assert second_round(mixed, reviews) == disputed
    # A round stays the same while it goes on.
    reviews["ana"].append(review(ASKED[0], ReviewVerdict.REJECT, number=2))
    assert second_round(mixed, reviews) == disputed
