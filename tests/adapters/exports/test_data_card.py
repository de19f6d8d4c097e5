from dataclasses import replace

from caliper.adapters.exports.data_card import CardFacts, card_text
from caliper.building.candidates import AssessedCandidate, Candidate, CandidateDecision
from caliper.building.captionqa.kind import CAPTIONQA
from caliper.building.reviews import Review, ReviewVerdict, merge, review_agreement
from caliper.building.steps import Fate, StepResult

HOSTILE = "<script>x</script> | **[a](b)** `c`\n# d"


def asked(question: str) -> Candidate:
    return Candidate.of("cup.jpg", question, (HOSTILE, "blue"), "blue", "Things - Kind")


def review(candidate: Candidate, verdict: str) -> Review:
    texts = (candidate.question, candidate.choices, candidate.answer)
    return Review(candidate.id, ReviewVerdict(verdict), *texts, "", "2026-11-26T06:10:16Z")


def test_a_card_tells_what_became_of_candidates_and_no_text_of_theirs_is_markup() -> None:
    kept, edited, dropped = asked("What is it?"), asked("Which is it?"), asked(HOSTILE)
    change = replace(review(edited, "edit"), question="Which one is it?")
    assessed = [AssessedCandidate(each, CandidateDecision.REVIEW) for each in (kept, edited)]
    reviews = {
        "ana": [review(kept, "accept"), change],
        "ben": [review(kept, "accept"), change],
    }
    fates = (Fate(kept), Fate(edited), Fate(dropped, "equal options", HOSTILE))
    formats = StepResult("2-formats", fates, ("m (tgi, 1)",), {"building/write": "ab12"})
    text = card_text(
        CardFacts(
            kind=CAPTIONQA,
            domain="household",
            categories=["Things - Kind", "Use - Purpose"],
            settings={"seed": 0, "grouping": {"cohesion": 0.85}},
            steps=[formats],
            decisions=merge(assessed, reviews),
            reviewed={kept.id},
            agreement=review_agreement(assessed, reviews),
        )
    )
    for line in (
        "2 multiple-choice questions, 2.00 per picture, for CaptionQA's protocol.",
        "| Use - Purpose | 0 | 0 |",
        "| 2-formats | 3 | 2 | 1 |",
        "- 2-formats: m (tgi, 1)",
        "- prompt building/write: SHA-256 ab12",
        (
            "2 accepted (1 edited), 0 rejected. Left out: 0 that nobody reviewed, 0 disputed. "
            "Of the 2 questions that are here, nobody reviewed 1."
        ),
        "| ana | 1 | 1 | 0 |",
        "- grouping.cohesion: 0.85",
    ):
        assert line in text.splitlines()
    assert "Agreement on 2 questions, with 95% intervals: share 1.00, " in text
    assert not any(mark in text for mark in ("<script>", "**[a]", "`c`", "\n# d"))
