"""The text-only filter: questions that can be answered without the picture (paper 4.3.2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from math import ceil

from caliper.building.candidates import Candidate, spelling_key
from caliper.building.steps import Fate

UNSURE = "too few readable answers without the picture"
"""The flag of a question that would have been dropped if its unreadable replies were right."""
VOTES = 10
"""Answers per question, each to another order of its options (paper 4.3.2)."""
_SHARES = {2: Fraction(1), 3: Fraction(4, 5), 4: Fraction(7, 10)}
_MORE_OPTIONS = Fraction(3, 5)


def threshold(options: int, votes: int) -> int:
    """The number of right answers that make a question answerable without its picture.

    The paper only says "slightly above random chance"; these are the numbers of the released
    script: all of two options, 8 in 10 of three, 7 of four, 6 of five and more.
    """
    return ceil(_SHARES.get(options, _MORE_OPTIONS) * votes)


def is_asked(candidate: Candidate) -> bool:
    """Whether the blind model is asked a question.

    As in the released script, it is not asked questions with the option "No", which a model that
    always says yes would answer.
    """
    return all(spelling_key(choice) != "no" for choice in candidate.choices)


def filter_blind(
    candidates: Sequence[Candidate], answers: Mapping[str, Sequence[str]]
) -> tuple[Fate, ...]:
    """Drop the questions that were answered right too often.

    `answers` has the chosen options by candidate; an unreadable reply is empty, and counts as a
    wrong answer, as in the released script. A question that would be dropped if these were right is
    flagged `UNSURE`.
    """
    return tuple(_fate(candidate, answers.get(candidate.id, ())) for candidate in candidates)


def _fate(candidate: Candidate, chosen: Sequence[str]) -> Fate:
    if not chosen:
        return Fate(candidate)
    right, needed = chosen.count(candidate.answer), threshold(len(candidate.choices), len(chosen))
    detail = f"{right} of {len(chosen)} right without the picture, {needed} suffice"
    if right >= needed:
        return Fate(candidate, "answered without the picture", detail)
    if right + chosen.count("") >= needed:
        candidate = replace(candidate, flags=(*candidate.flags, UNSURE))
    return Fate(candidate, detail=detail)
