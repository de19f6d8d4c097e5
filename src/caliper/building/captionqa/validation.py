"""Validators that look at the picture decide which questions people review (paper 4.4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from caliper.building.candidates import Candidate, CandidateDecision
from caliper.building.captionqa.blind import UNSURE
from caliper.building.steps import Fate

FLAGS = (
    "The question is ambiguous, or more than one option is correct",
    "The image does not show what the question asks about",
    "A description of the image could not be expected to answer the question",
    "None of the options above is correct",
)
"""The meta-flags that a validator may choose instead of an option, as shown: the paper's
Ambiguous_Question, Unanswerable_From_Image, Not_Suitable_For_Caption_Eval and None_Of_The_Above.
"""
UNSEEN = "no validator has looked at it"

Choices = Mapping[str, Mapping[str, str]]
"""The chosen options or flags by validator and candidate; empty if unreadable."""


def decide(
    candidates: Sequence[Candidate], chosen: Choices, *, reject: bool = False
) -> tuple[Fate, ...]:
    """Accept the questions that all validators answer as written; people review the others, and
    those whose blind answers prove nothing.

    With `reject`, those for which all validators choose the same flag are dropped. In the paper,
    people look at them and may repair them.
    """
    return tuple(_decide(candidate, chosen, reject=reject) for candidate in candidates)


def _decide(candidate: Candidate, chosen: Choices, *, reject: bool) -> Fate:
    picks = {name: picked.get(candidate.id, "") for name, picked in chosen.items()}
    if not picks:
        return Fate(candidate, decision=CandidateDecision.REVIEW, reasons=(UNSEEN,))
    if all(pick == candidate.answer for pick in picks.values()):
        if UNSURE in candidate.flags:
            return Fate(candidate, decision=CandidateDecision.REVIEW, reasons=(UNSURE,))
        return Fate(candidate, decision=CandidateDecision.ACCEPT)
    reasons = tuple(
        f"{name}: {_pick_text(pick)}" for name, pick in picks.items() if pick != candidate.answer
    )
    flags = set(picks.values()) & set(FLAGS)
    if reject and len(set(picks.values())) == 1 and flags:
        return Fate(
            candidate, "same flag of all validators", flags.pop(), CandidateDecision.REJECT, reasons
        )
    return Fate(candidate, decision=CandidateDecision.REVIEW, reasons=reasons)


def _pick_text(pick: str) -> str:
    if not pick:
        return "no readable answer"
    return pick if pick in FLAGS else f"answers {pick}"
