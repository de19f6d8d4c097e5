"""The review page: a candidate beside its picture, and what a reviewer says about it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from caliper.adapters.pages.live import address
from caliper.adapters.pages.page import cut, live_policy, render
from caliper.building.candidates import MOST_CHOICES, AssessedCandidate, Candidate
from caliper.building.kinds import BuildKind, CandidateEdit
from caliper.building.review_round import ReviewRound
from caliper.building.reviews import ReviewVerdict
from caliper.core.errors import InvalidInput

_SCRIPT, _SHEET = "review.js", "review.css"
_SPARE = 2
"""Empty fields for options that an edit adds."""


@dataclass(frozen=True, slots=True)
class FilterChoice:
    """A value of a filter, the number of candidates that match it, and whether it is chosen."""

    value: str
    count: int
    chosen: bool


@dataclass(frozen=True, slots=True)
class ReviewEdit:
    """The fields of an edit as a person filled them in; `answer` is the place of a choice.

    Of a candidate without choices, `value` is the answer.
    """

    question: str
    choices: tuple[str, ...]
    answer: int
    value: str = ""

    @property
    def fields(self) -> list[str]:
        """The texts of the fields for options: those filled in, and spare ones."""
        return [*self.choices, *[""] * min(_SPARE, MOST_CHOICES - len(self.choices))]

    def texts(self, candidate: Candidate, editable: Collection[str]) -> CandidateEdit:
        """The edit of a candidate, with its own texts where it is not `editable`.

        Raises InvalidInput if no option is chosen as the right one.
        """
        question = self.question if "question" in editable else candidate.question
        if not candidate.choices:
            return CandidateEdit(question, (), self.value)
        choices = self.choices if "choices" in editable else candidate.choices
        if not 0 <= self.answer < len(choices):
            raise InvalidInput("choose the option that is right")
        return CandidateEdit(question, tuple(filter(None, choices)), choices[self.answer])


@dataclass(frozen=True, slots=True)
class ReviewProblem:
    """Why a verdict was not saved, and the edit that came with it, which must not be lost."""

    verdict: str
    message: str
    edit: ReviewEdit


@dataclass(frozen=True, slots=True)
class ReviewPlace:
    """A place in a round: a candidate (none at its end), and the category that it is filtered by.

    `home` is the address of the page, `saved` the candidate with a verdict just now.
    """

    home: str
    kind: BuildKind
    reviewer: str
    round: ReviewRound
    category: str = ""
    at: str = ""
    saved: str = ""

    def address(self, at: str, saved: str = "") -> str:
        """The address of a question of this round and category."""
        return address(self.home, at=at, category=self.category, saved=saved)


def review_policy() -> str:
    """The content security policy of the page."""
    return live_policy(scripts=(_SCRIPT,), sheet=_SHEET)


def render_review(place: ReviewPlace, problem: ReviewProblem | None = None) -> str:
    """Render the page of a question, or of the end of the round."""
    current, candidates = place.round, place.round.of_category(place.category)
    names = [each.candidate.id for each in candidates]
    number = names.index(place.at) if place.at in names else len(names)
    own, kind = current.own, place.kind
    candidate = _shortened(current.question(place.at)) if place.at else None
    return render(
        "review.html",
        scripts=(_SCRIPT,),
        sheet=_SHEET,
        live=True,
        place=place,
        number=number + 1,
        total=len(names),
        done=len(current.done.intersection(names)),
        back=place.address(names[number - 1]) if number else "",
        forth=place.address(names[number + 1]) if number + 1 < len(names) else "",
        rest=place.address(current.next_open(place.category)),
        categories=[
            FilterChoice(name, count, name == place.category)
            for name, count in sorted(current.categories.items())
        ],
        assessed=candidate,
        heading=kind.heading(candidate.candidate) if candidate else "",
        editable=kind.editable(candidate.candidate) if candidate else (),
        picture=address(f"{place.home}picture", id=place.at),
        own=own.get(place.at),
        others=current.other_verdicts(place.at),
        saved=_saved(place, names),
        latest=current.latest,
        reasons=kind.reasons,
        draft=problem.edit
        if problem and problem.verdict == ReviewVerdict.EDIT
        else _edit_of(current, place.at),
        problem=problem,
    )


def _shortened(candidate: AssessedCandidate) -> AssessedCandidate:
    return replace(candidate, reasons=tuple(map(cut, candidate.reasons)))


def _edit_of(current: ReviewRound, at: str) -> ReviewEdit | None:
    """The fields of an edit: the reviewer's own texts, or else the candidate's."""
    if not at:
        return None
    texts = current.own.get(at) or current.question(at).candidate
    answer = texts.choices.index(texts.answer) if texts.answer in texts.choices else -1
    return ReviewEdit(texts.question, texts.choices, answer, texts.answer)


def _saved(place: ReviewPlace, names: list[str]) -> str:
    """The note about the question just judged: its verdict is saved or undone."""
    if place.saved not in names:
        return ""
    which = f"{place.kind.noun} {names.index(place.saved) + 1}"
    if place.saved not in place.round.done:
        return f"Undone: {which} has no verdict."
    return f"Saved: {place.round.own[place.saved].verdict} {which}."
