"""People's verdicts on candidate questions, and the decisions of several reviewers together.

A reviewer's verdicts are lines of `reviews/NAME.jsonl`:

    {"id": "4f1c...", "verdict": "edit", "question": "...", "choices": ["...", "..."],
     "answer": "...", "reason": "", "time": "2026-11-26T06:10:16Z", "round": 1}

The last line of an id counts. The verdict `undo` withdraws the line of that id before it. In
round 2 reviewers see each other's verdicts, so agreement is measured in round 1 only.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from caliper.analysis.agreement import Agreement, RatedQuestion, measure_agreement
from caliper.building.candidates import AssessedCandidate, Candidate, CandidateDecision
from caliper.core.rows import Row


class ReviewVerdict(StrEnum):
    """A reviewer's verdict on a candidate."""

    ACCEPT = "accept"
    EDIT = "edit"
    REJECT = "reject"
    UNDO = "undo"


@dataclass(frozen=True, slots=True)
class Review:
    """A line of a reviewer, with the texts that it judges, or the new ones of an edit."""

    id: str
    verdict: ReviewVerdict
    question: str
    choices: tuple[str, ...]
    answer: str
    reason: str
    time: str
    round: int = 1


class ReviewState(StrEnum):
    """The state of a candidate after the reviews; reviewers may disagree, or be missing."""

    ACCEPT = "accept"
    REJECT = "reject"
    DISPUTED = "disputed"
    PENDING = "pending"


@dataclass(frozen=True, slots=True)
class ReviewDecision:
    """The decision about a candidate, and the verdict of each reviewer that led to it.

    `candidate` has the texts of the edit that prevailed, if `edit`, and the id from before it.
    """

    candidate: Candidate
    state: ReviewState
    edit: bool
    reviews: Mapping[str, Review]


def read_reviews(rows: Iterable[Row]) -> list[Review]:
    """All lines of a reviewer. Raises InvalidInput naming file, line and field."""
    return [_review(row) for row in rows]


def _review(row: Row) -> Review:
    verdict, number = row.fields.get("verdict"), row.fields.get("round", 1)
    if verdict not in list(ReviewVerdict):
        known = ", ".join(ReviewVerdict)
        raise row.error("verdict", f"expected one of {known}, found {verdict!r:.60}")
    if number not in (1, 2):
        raise row.error("round", f"expected 1 or 2, found {number!r:.60}")
    choices = row.fields.get("choices")
    if not isinstance(choices, list) or not all(isinstance(each, str) for each in choices):
        raise row.error("choices", f"expected a list of texts, found {choices!r:.60}")
    review = Review(
        id=row.text("id"),
        verdict=ReviewVerdict(verdict),
        question=row.text("question"),
        choices=tuple(choices),
        answer=row.text("answer"),
        reason=_note(row, "reason"),
        time=_note(row, "time"),
        round=int(number),
    )
    if review.verdict is ReviewVerdict.EDIT and choices and review.answer not in choices:
        raise row.error("answer", "the answer is not one of the choices")
    return review


def _note(row: Row, name: str) -> str:
    value = row.fields.get(name, "")
    if not isinstance(value, str):
        raise row.error(name, f"expected text, found {value!r:.60}")
    return value


def standing_reviews(reviews: Iterable[Review]) -> list[Review]:
    """The lines that no `undo` withdrew, in their order."""
    standing: list[Review] = []
    for review in reviews:
        if review.verdict is not ReviewVerdict.UNDO:
            standing.append(review)
            continue
        for place in reversed(range(len(standing))):
            if standing[place].id == review.id:
                del standing[place]
                break
    return standing


def last_reviews(reviews: Iterable[Review], rounds: int = 2) -> dict[str, Review]:
    """The line that counts of each id, among those of the first `rounds`."""
    return {review.id: review for review in standing_reviews(reviews) if review.round <= rounds}


def merge(
    assessed: Iterable[AssessedCandidate],
    reviews: Mapping[str, Iterable[Review]],
    rounds: int = 2,
) -> list[ReviewDecision]:
    """The decision about each candidate, from the lines of each reviewer.

    More than half of its reviewers decide; edits with the same texts are one opinion, and an edit
    that changes nothing accepts. Otherwise it is disputed. Without a review the decision is the
    validators', or pending if they left it to people. Reviews of other ids do not count. A question
    that an edit makes equal to an accepted one is rejected.
    """
    by_reviewer = {name: last_reviews(reviews[name], rounds) for name in sorted(reviews)}
    decisions = [
        _decision(
            each,
            {
                name: last[each.candidate.id]
                for name, last in by_reviewer.items()
                if each.candidate.id in last
            },
        )
        for each in assessed
    ]
    return _without_copies(decisions)


def accepted_candidates(decisions: Iterable[ReviewDecision]) -> list[Candidate]:
    """The accepted candidates, with the texts of edits."""
    return [each.candidate for each in decisions if each.state is ReviewState.ACCEPT]


def _without_copies(decisions: Iterable[ReviewDecision]) -> list[ReviewDecision]:
    accepted: set[tuple[str, ...]] = set()
    distinct = []
    for each in decisions:
        candidate = each.candidate
        texts = (candidate.image, candidate.category, *_texts(candidate))
        # A candidate without options is an element of the picture, and two may have equal texts.
        counts = each.state is ReviewState.ACCEPT and bool(candidate.choices)
        copies = counts and texts in accepted
        if counts:
            accepted.add(texts)
        distinct.append(replace(each, state=ReviewState.REJECT, edit=False) if copies else each)
    return distinct


def _decision(assessed: AssessedCandidate, reviews: Mapping[str, Review]) -> ReviewDecision:
    candidate = assessed.candidate
    if not reviews:
        state = {
            CandidateDecision.ACCEPT: ReviewState.ACCEPT,
            CandidateDecision.REVIEW: ReviewState.PENDING,
            CandidateDecision.REJECT: ReviewState.REJECT,
        }[assessed.decision]
        return ReviewDecision(candidate, state, edit=False, reviews={})
    opinions = {name: _opinion(candidate, review) for name, review in reviews.items()}
    (opinion, votes), *_ = Counter(opinions.values()).most_common()
    if 2 * votes <= len(reviews):
        return ReviewDecision(candidate, ReviewState.DISPUTED, edit=False, reviews=reviews)
    verdict, *texts = opinion
    if verdict == ReviewVerdict.REJECT:
        return ReviewDecision(candidate, ReviewState.REJECT, edit=False, reviews=reviews)
    if texts:
        first = next(reviews[name] for name, each in opinions.items() if each == opinion)
        candidate = replace(
            candidate, question=first.question, choices=first.choices, answer=first.answer
        )
    return ReviewDecision(candidate, ReviewState.ACCEPT, edit=bool(texts), reviews=reviews)


def review_verdict(candidate: Candidate, review: Review) -> ReviewVerdict:
    """The verdict of a review; an edit that changes nothing accepts."""
    return ReviewVerdict(_opinion(candidate, review)[0])


def _opinion(candidate: Candidate, review: Review) -> tuple[str, ...]:
    """The verdict, and the texts of an edit, whatever the order of their options."""
    if review.verdict is not ReviewVerdict.EDIT:
        return (review.verdict.value,)
    texts = _texts(review)
    if texts == _texts(candidate):
        return (ReviewVerdict.ACCEPT.value,)
    return (ReviewVerdict.EDIT.value, *texts)


def _texts(texts: Candidate | Review) -> tuple[str, ...]:
    return (_same(texts.question), _same(texts.answer), *sorted(map(_same, texts.choices)))


def _same(text: str) -> str:
    """The text with one encoding of accents, and single spaces."""
    return " ".join(unicodedata.normalize("NFC", text).split())


@dataclass(frozen=True, slots=True)
class ReviewAgreement:
    """The agreement of reviewers over all candidates, and per category."""

    whole: Agreement
    categories: Mapping[str, Agreement]


def review_agreement(
    assessed: Iterable[AssessedCandidate], reviews: Mapping[str, Iterable[Review]]
) -> ReviewAgreement:
    """The agreement of the verdicts of round 1.

    Accept, edit and reject are the labels: two edits agree, whatever their texts. Raises ValueError
    for fewer than two reviewers.
    """
    last = [last_reviews(reviews[name], rounds=1) for name in sorted(reviews)]
    questions: list[RatedQuestion] = []
    by_category: dict[str, list[RatedQuestion]] = {}
    for candidate in (each.candidate for each in assessed):
        labels = tuple(
            review_verdict(candidate, own[candidate.id]).value if candidate.id in own else None
            for own in last
        )
        questions.append(RatedQuestion(candidate.image, labels))
        by_category.setdefault(candidate.category, []).append(questions[-1])
    return ReviewAgreement(
        measure_agreement(questions),
        {name: measure_agreement(part) for name, part in sorted(by_category.items())},
    )
