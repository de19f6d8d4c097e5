"""A reviewer's round: its questions in order, and the reviewer's progress."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from caliper.building.candidates import AssessedCandidate, CandidateDecision
from caliper.building.reviews import (
    Review,
    ReviewState,
    last_reviews,
    merge,
    standing_reviews,
)
from caliper.core.errors import NotFound


def first_round(
    assessed: Iterable[AssessedCandidate], *, every: bool
) -> tuple[AssessedCandidate, ...]:
    """The questions that were left to people; with `every`, those that were accepted too."""
    return tuple(each for each in assessed if every or each.decision is CandidateDecision.REVIEW)


def second_round(
    assessed: Iterable[AssessedCandidate], reviews: Mapping[str, Iterable[Review]]
) -> tuple[AssessedCandidate, ...]:
    """The questions that round 1 left disputed, whatever their verdicts in round 2."""
    questions = tuple(assessed)
    decisions = merge(questions, reviews, rounds=1)
    return tuple(
        each
        for each, decision in zip(questions, decisions, strict=True)
        if decision.state is ReviewState.DISPUTED
    )


@dataclass(frozen=True, slots=True)
class ReviewRound:
    """The questions of round `number`, and all lines of the reviewer so far.

    `others` are the valid verdicts of other reviewers, by name and id, in round 2.
    """

    number: int
    questions: Sequence[AssessedCandidate]
    lines: Sequence[Review] = ()
    others: Mapping[str, Mapping[str, Review]] = field(default_factory=dict)

    def with_lines(self, lines: Sequence[Review]) -> ReviewRound:
        """The round with these lines."""
        return replace(self, lines=lines)

    @property
    def own(self) -> dict[str, Review]:
        """The valid verdict on each question, also from the round before."""
        return last_reviews(self.lines)

    @property
    def done(self) -> frozenset[str]:
        """The questions with a verdict of this round, or of a later one."""
        names = {each.candidate.id for each in self.questions}
        return frozenset(
            name for name, each in self.own.items() if each.round >= self.number and name in names
        )

    @property
    def latest(self) -> Review | None:
        """The verdict that an undo would withdraw."""
        done = self.done
        standing = (each for each in reversed(standing_reviews(self.lines)) if each.id in done)
        return next(standing, None)

    @property
    def categories(self) -> Counter[str]:
        """The number of questions of each category."""
        return Counter(each.candidate.category for each in self.questions)

    def of_category(self, category: str) -> list[AssessedCandidate]:
        """The questions of a category; of all, if it is empty."""
        return [each for each in self.questions if category in ("", each.candidate.category)]

    def question(self, name: str) -> AssessedCandidate:
        """The question with an id. Raises NotFound."""
        for each in self.questions:
            if each.candidate.id == name:
                return each
        raise NotFound(f"no question {name!r:.40} in this round")

    def next_open(self, category: str, after: str = "") -> str:
        """The id of the next question without a verdict, from the one `after` on and then from the
        start; empty if there is none.
        """
        names = [each.candidate.id for each in self.of_category(category)]
        start = names.index(after) + 1 if after in names else 0
        done = self.done
        return next((name for name in names[start:] + names[:start] if name not in done), "")

    def line_round(self, name: str) -> int:
        """The round of a new line: 2 once the reviewer has seen other people's verdicts."""
        own = self.own.get(name)
        return max(self.number, own.round if own else 1)

    def other_verdicts(self, name: str) -> list[tuple[str, Review]]:
        """The verdicts of other reviewers, for one who has given a verdict; else nothing."""
        if name not in self.own:
            return []
        return [(who, last[name]) for who, last in self.others.items() if name in last]
