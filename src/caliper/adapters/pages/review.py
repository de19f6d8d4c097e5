"""The review page: a candidate question beside its picture, and what a reviewer says about it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from caliper.adapters.pages.live import FilterChoice, address
from caliper.adapters.pages.page import cut, live_policy, render
from caliper.building.candidates import MOST_CHOICES, AssessedCandidate
from caliper.building.review_round import ReviewRound
from caliper.building.reviews import REASONS, ReviewVerdict

_SCRIPT, _SHEET = "review.js", "review.css"
_SPARE = 2
"""Empty fields for options that an edit adds."""


@dataclass(frozen=True, slots=True)
class ReviewEdit:
    """The fields of an edit as a person filled them in; `answer` is the place of a choice."""

    question: str
    choices: tuple[str, ...]
    answer: int

    @property
    def fields(self) -> list[str]:
        """The texts of the fields for options: those filled in, and spare ones."""
        return [*self.choices, *[""] * min(_SPARE, MOST_CHOICES - len(self.choices))]


@dataclass(frozen=True, slots=True)
class ReviewProblem:
    """Why a verdict was not saved, and the edit that came with it, which must not be lost."""

    verdict: str
    message: str
    edit: ReviewEdit


@dataclass(frozen=True, slots=True)
class ReviewPlace:
    """A place in a round: a question (none at its end), and the category that it is filtered by.

    `home` is the address of the page, `saved` the question with a verdict just now.
    """

    home: str
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
    return live_policy(script=_SCRIPT, sheet=_SHEET)


def render_review(place: ReviewPlace, problem: ReviewProblem | None = None) -> str:
    """Render the page of a question, or of the end of the round."""
    current, shown = place.round, place.round.of_category(place.category)
    names = [each.candidate.id for each in shown]
    number = names.index(place.at) if place.at in names else len(names)
    own = current.own
    return render(
        "review.html",
        script=_SCRIPT,
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
        asked=_shown(current.question(place.at)) if place.at else None,
        picture=address(f"{place.home}picture", id=place.at),
        own=own.get(place.at),
        others=current.other_verdicts(place.at),
        saved=_saved(place, names),
        latest=current.latest,
        reasons=REASONS,
        draft=problem.edit
        if problem and problem.verdict == ReviewVerdict.EDIT
        else _edit_of(current, place.at),
        problem=problem,
    )


def _shown(asked: AssessedCandidate) -> AssessedCandidate:
    return replace(asked, reasons=tuple(map(cut, asked.reasons)))


def _edit_of(current: ReviewRound, at: str) -> ReviewEdit | None:
    """The fields of an edit: the reviewer's own texts, or else the candidate's."""
    if not at:
        return None
    texts = current.own.get(at) or current.question(at).candidate
    answer = texts.choices.index(texts.answer) if texts.answer in texts.choices else -1
    return ReviewEdit(texts.question, texts.choices, answer)


def _saved(place: ReviewPlace, names: list[str]) -> str:
    """What the reviewer's file now has of the question just judged."""
    if place.saved not in names:
        return ""
    which = f"question {names.index(place.saved) + 1}"
    if place.saved not in place.round.done:
        return f"Undone: {which} has no verdict."
    return f"Saved: {place.round.own[place.saved].verdict} {which}."
