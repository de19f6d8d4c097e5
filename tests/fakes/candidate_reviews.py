"""Candidate questions and people's verdicts about them."""

from __future__ import annotations

from pathlib import Path

from caliper.adapters.files import write_text
from caliper.building.candidates import (
    AssessedCandidate,
    Candidate,
    CandidateDecision,
    assessed_lines,
)
from caliper.building.reviews import Review, ReviewVerdict

CATEGORIES = ("Attribute - Color", "Object Existence - Object presence")


def candidate(place: int = 0, question: str = "") -> Candidate:
    """A candidate whose right option is the first; two are of one picture."""
    return Candidate.of(
        f"picture{place // 2}.jpg",
        question or f"What is it, number {place}?",
        (f"a cat {place}", f"a dog {place}", "neither"),
        f"a cat {place}",
        CATEGORIES[place % 2],
    )


def assessed(
    count: int, decision: CandidateDecision = CandidateDecision.REVIEW
) -> list[AssessedCandidate]:
    """Candidates that were left to people."""
    return [
        AssessedCandidate(candidate(place), decision, ("one of two",)) for place in range(count)
    ]


def review(
    about: Candidate,
    verdict: ReviewVerdict = ReviewVerdict.ACCEPT,
    question: str = "",
    number: int = 1,
) -> Review:
    """A verdict; of an edit with another question."""
    reason = "several options are right" if verdict is ReviewVerdict.REJECT else ""
    asked = question or about.question
    return Review(
        about.id, verdict, asked, about.choices, about.answer, reason, "2026-11-26", number
    )


def build_directory(folder: Path, questions: list[AssessedCandidate]) -> Path:
    """A build directory with these questions."""
    write_text(folder / "candidates.jsonl", assessed_lines(questions))
    return folder
