"""What several reviewers amount to, and how far they agree."""

import json
from collections import Counter
from dataclasses import asdict, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fakes.candidate_reviews import assessed, candidate, review

from caliper.building.candidates import AssessedCandidate, CandidateDecision
from caliper.building.captionqa.kind import edit_question
from caliper.building.kinds import CandidateEdit
from caliper.building.reviews import (
    Review,
    ReviewDecision,
    ReviewState,
    ReviewVerdict,
    last_reviews,
    merge,
    read_reviews,
    review_agreement,
    standing_reviews,
)
from caliper.core.errors import InvalidInput
from caliper.core.rows import Row

ACCEPT, EDIT, REJECT, UNDO = ReviewVerdict
ASKED = candidate()
OPINIONS = st.sampled_from(
    [review(ASKED), review(ASKED, REJECT), review(ASKED, EDIT, "A?"), review(ASKED, EDIT, "B?")]
)
PEOPLE = st.dictionaries(st.sampled_from("abcdefg"), OPINIONS, max_size=7)
LINES = st.lists(
    st.builds(
        lambda place, verdict, number: review(candidate(place), verdict, "Else?", number),
        st.integers(0, 3),
        st.sampled_from(ReviewVerdict),
        st.sampled_from([1, 2]),
    )
)


def decide(
    opinions: dict[str, Review], decision: CandidateDecision = CandidateDecision.REVIEW
) -> ReviewDecision:
    (merged,) = merge(
        [AssessedCandidate(ASKED, decision)], {name: [each] for name, each in opinions.items()}
    )
    return merged


def people(*opinions: Review) -> dict[str, Review]:
    return {f"reviewer{place}": opinion for place, opinion in enumerate(opinions)}


@given(PEOPLE, st.randoms())
def test_the_order_and_names_of_reviewers_do_not_matter(
    opinions: dict[str, Review], chance: Any
) -> None:
    names = list(opinions)
    chance.shuffle(names)
    first = decide(opinions)
    other = decide({f"x{name}": opinions[name] for name in names})
    assert (first.candidate, first.state, first.edit) == (other.candidate, other.state, other.edit)


def test_an_edit_makes_no_second_copy_of_a_question() -> None:
    first, other = candidate(0), candidate(2)
    second = replace(candidate(1), category=first.category)
    asked = [AssessedCandidate(each, CandidateDecision.ACCEPT) for each in (first, second, other)]
    copies = [replace(review(first, EDIT), id=each.id) for each in (second, other)]
    states = [each.state for each in merge(asked, {"ana": copies})]
    # About another picture it is another question.
    assert states == [ReviewState.ACCEPT, ReviewState.REJECT, ReviewState.ACCEPT]
    # Elements without options may look alike.
    alike = [replace(each, choices=()) for each in (first, replace(first, id="another"))]
    asked = [AssessedCandidate(each, CandidateDecision.ACCEPT) for each in alike]
    assert [each.state for each in merge(asked, {})] == [ReviewState.ACCEPT] * 2


@given(PEOPLE)
def test_more_than_half_decides_and_nothing_less(opinions: dict[str, Review]) -> None:
    merged = decide(opinions)
    votes = Counter((each.verdict, each.question) for each in opinions.values())
    if not opinions:
        assert merged.state is ReviewState.PENDING
        return
    ((verdict, question), most), *_ = votes.most_common()
    if 2 * most > len(opinions):
        assert merged.state == (ReviewState.REJECT if verdict is REJECT else ReviewState.ACCEPT)
        assert merged.edit is (verdict is EDIT)
        assert verdict is REJECT or merged.candidate.question == question
    else:
        assert merged.state is ReviewState.DISPUTED
        assert merged.candidate == ASKED


@given(PEOPLE)
def test_one_more_who_agrees_changes_no_decision(opinions: dict[str, Review]) -> None:
    merged = decide(opinions)
    if merged.state in (ReviewState.ACCEPT, ReviewState.REJECT):
        winner = next(
            each
            for each in opinions.values()
            if (each.verdict is REJECT) == (merged.state is ReviewState.REJECT)
            and (merged.state is ReviewState.REJECT or each.question == merged.candidate.question)
        )
        again = decide(opinions | {"z": winner})
        assert (again.state, again.candidate) == (merged.state, merged.candidate)


@given(LINES)
def test_undo_takes_back_the_line_of_its_id_before_it(lines: list[Review]) -> None:
    stacks: dict[str, list[Review]] = {}
    for line in lines:
        stack = stacks.setdefault(line.id, [])
        if line.verdict is not UNDO:
            stack.append(line)
        elif stack:
            stack.pop()
    assert last_reviews(lines) == {name: stack[-1] for name, stack in stacks.items() if stack}
    assert len(standing_reviews(lines)) == sum(map(len, stacks.values()))


def test_without_reviews_the_validators_decide() -> None:
    assert decide({}, CandidateDecision.ACCEPT).state is ReviewState.ACCEPT
    assert decide({}, CandidateDecision.REVIEW).state is ReviewState.PENDING
    assert (
        decide(people(review(ASKED, REJECT)), CandidateDecision.ACCEPT).state is ReviewState.REJECT
    )


def test_edits_with_the_same_texts_are_one_opinion() -> None:
    edit = review(ASKED, EDIT, "Is it a caf\u00e9 ?")
    turned = replace(edit, question="Is it a  cafe\u0301 ?", choices=edit.choices[::-1])
    merged = decide(people(edit, turned, review(ASKED, REJECT)))
    assert (merged.state, merged.edit) == (ReviewState.ACCEPT, True)
    assert merged.candidate == replace(ASKED, question=edit.question)
    other = replace(edit, answer=edit.choices[1])
    assert decide(people(edit, other)).state is ReviewState.DISPUTED


def test_an_edit_that_changes_nothing_accepts() -> None:
    merged = decide(people(review(ASKED), review(ASKED, EDIT)))
    assert (merged.state, merged.edit, merged.candidate) == (ReviewState.ACCEPT, False, ASKED)


def test_agreement_is_that_of_round_one() -> None:
    questions = assessed(4)
    asked = [each.candidate for each in questions]
    first = [review(each) for each in asked]
    second = [review(asked[0], REJECT), *first[1:3]]
    settled = [*second, review(asked[0], number=2)]
    found = review_agreement(questions, {"a": first, "b": settled})
    assert found.whole.questions == 3
    assert found.whole.confusion == ((2, 1), (0, 0))
    assert found.whole.cohen is not None
    by_category = {name: part.questions for name, part in found.categories.items()}
    assert by_category == {asked[0].category: 2, asked[1].category: 1}
    states = [each.state for each in merge(questions, {"a": first, "b": settled})]
    assert states == [ReviewState.ACCEPT] * 4
    before = merge(questions, {"a": first, "b": settled}, rounds=1)
    assert [each.state for each in before[:2]] == [ReviewState.DISPUTED, ReviewState.ACCEPT]


def row(**changed: Any) -> Row:
    fields = json.loads(json.dumps(asdict(review(ASKED, EDIT, "Else?"))))
    return Row("ana.jsonl", 7, fields | changed)


def test_lines_are_read_as_they_were_written() -> None:
    assert read_reviews([row()]) == [review(ASKED, EDIT, "Else?")]


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("verdict", "maybe", "expected one of accept, edit, reject, undo, found 'maybe'"),
        ("round", 3, "expected 1 or 2, found 3"),
        ("id", None, "missing"),
        ("choices", "a", "expected a list of texts, found 'a'"),
        ("answer", "a horse", "the answer is not one of the choices"),
        ("reason", 1, "expected text, found 1"),
    ],
)
def test_a_wrong_line_is_named(field: str, value: object, told: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        read_reviews([row(**{field: value})])
    assert str(caught.value) == f"ana.jsonl:7: {field}: {told}"


def test_edits_are_tidy_and_keep_the_id() -> None:
    texts = edit_question(
        ASKED, CandidateEdit(" Who\n is it? ", ("A. a cat", "B. a dog"), "B. a dog")
    )
    assert texts == replace(
        ASKED, question="Who is it?", choices=("a cat", "a dog"), answer="a dog"
    )


@pytest.mark.parametrize(
    ("question", "choices", "answer", "told"),
    [
        ("", ("a", "b"), "a", "no question"),
        ("What is it?", ("a",), "a", "number of options: 1 options"),
        ("What is it?", ("a", "b" * 3000), "a", "a text is longer than 2,000 characters"),
        ("What is it?", ("a cat", "A  Cat."), "a cat", "equal options: a cat; A Cat."),
        ("What is it?", ("a cat", "a dog"), "a horse", "answer is not an option: a horse"),
        ("Is the cat a cat?", ("a cat", "a dog"), "a cat", "answer in the question: a cat"),
    ],
)
def test_edits_keep_the_rules_of_formats(
    question: str, choices: tuple[str, ...], answer: str, told: str
) -> None:
    with pytest.raises(InvalidInput) as caught:
        edit_question(ASKED, CandidateEdit(question, choices, answer))
    assert str(caught.value) == told
