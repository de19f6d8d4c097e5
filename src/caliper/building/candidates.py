"""Candidates of a benchmark that is being built, and the file of those to be reviewed."""

from __future__ import annotations

import json
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum

from caliper.core.keys import digest
from caliper.core.rows import Row

MOST_CHOICES, LONGEST_TEXT = 26, 2_000
"""Options have letters, and no question of the published data is longer."""


class CandidateDecision(StrEnum):
    """The validators' decision: accept a candidate, leave it to people, or reject it."""

    ACCEPT = "accept"
    REVIEW = "review"
    REJECT = "reject"


@dataclass(frozen=True, slots=True)
class Candidate:
    """A multiple-choice question about a picture, or a statement about an element of it.

    `image` is the picture's path in the folder of pictures, `answer` the text of the right choice,
    and `category` its taxonomy node, "Top - Sub". `flags` are remarks of earlier steps. Without
    `choices`, `question` names the element and `answer` is any text. `given` is the id in the
    file that supplied it, for people; `id` follows from its texts.
    """

    id: str
    image: str
    question: str
    choices: tuple[str, ...]
    answer: str
    category: str
    flags: tuple[str, ...] = ()
    given: str = ""

    @classmethod
    def of(
        cls, image: str, question: str, choices: Sequence[str], answer: str, category: str
    ) -> Candidate:
        """A candidate with the id that its picture, question, choices and answer imply."""
        name = candidate_id(image, question, choices, answer)
        return cls(name, image, question, tuple(choices), answer, category)


@dataclass(frozen=True, slots=True)
class AssessedCandidate:
    """A candidate with the decision of the validators, and why."""

    candidate: Candidate
    decision: CandidateDecision
    reasons: tuple[str, ...] = ()


def candidate_id(image: str, question: str, choices: Sequence[str], answer: str) -> str:
    """The id of a candidate: 16 hexadecimal digits. A verdict covers everything that a reviewer
    reads, so a question with another answer is another candidate.
    """
    return digest(["candidate", image, question, list(choices), answer])[:16]


def spelling_key(text: str) -> str:
    """The form of a text for comparisons: without case, outer punctuation and repeated spaces."""
    return " ".join(text.casefold().split()).strip(" .,;:!?\"'")


def assessed_lines(assessed: Iterable[AssessedCandidate]) -> str:
    """Candidates and their decisions as JSON Lines, for `read_assessed`."""
    fields = (
        asdict(each.candidate) | {"decision": each.decision, "reasons": each.reasons}
        for each in assessed
    )
    return "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in fields)


def read_candidates(
    rows: Iterable[Row], images: Container[str] | None = None
) -> Iterator[Candidate]:
    """Candidates from rows with the fields of `Candidate`; `id`, which becomes `given`, and
    `flags` may be left out.

    Raises InvalidInput naming file, line and field, also for a candidate that appears twice, and
    for one whose picture is not among `images`, unless they are None.
    """
    for row, candidate in _unique(rows):
        if not candidate.choices:
            raise row.error("choices", _few_choices(0))
        if images is not None and candidate.image not in images:
            raise row.error("image", f"no such picture: {candidate.image!r:.80}")
        yield replace(candidate, given=row.fields.get("id") or "")


def read_assessed(rows: Iterable[Row]) -> list[AssessedCandidate]:
    """Candidates with their decisions. Raises InvalidInput naming file, line and field."""
    assessed = []
    for row, candidate in _unique(rows):
        decision = row.fields.get("decision")
        if decision not in (CandidateDecision.ACCEPT, CandidateDecision.REVIEW):
            raise row.error("decision", f"expected accept or review, found {decision!r:.60}")
        reasons = _texts(row, "reasons")
        assessed.append(AssessedCandidate(candidate, CandidateDecision(decision), reasons))
    return assessed


def _unique(rows: Iterable[Row]) -> Iterator[tuple[Row, Candidate]]:
    seen: set[str] = set()
    for row in rows:
        candidate = candidate_of(row)
        if candidate.id in seen:
            raise row.error("id", f"the candidate {candidate.id} appears twice")
        seen.add(candidate.id)
        yield row, candidate


def candidate_of(row: Row) -> Candidate:
    """The candidate in a row. Raises InvalidInput naming file, line and field."""
    image, question, answer = (_short(row, name) for name in ("image", "question", "answer"))
    choices = _texts(row, "choices")
    if choices and not 2 <= len(choices) <= MOST_CHOICES:
        raise row.error("choices", _few_choices(len(choices)))
    name = row.fields.get("id")
    if name is not None and not isinstance(name, str):
        raise row.error("id", f"expected text, found {name!r:.60}")
    return Candidate(
        id=name or candidate_id(image, question, choices, answer),
        image=image,
        question=question,
        choices=choices,
        answer=answer,
        category=_short(row, "category"),
        flags=_texts(row, "flags"),
        given=str(row.fields.get("given", "")),
    )


def _few_choices(count: int) -> str:
    return f"expected 2 to {MOST_CHOICES} choices, found {count}"


def _short(row: Row, name: str) -> str:
    text = row.text(name)
    if len(text) > LONGEST_TEXT:
        raise row.error(name, f"longer than {LONGEST_TEXT:,} characters")
    return text


def _texts(row: Row, name: str) -> tuple[str, ...]:
    values = row.fields.get(name, [])
    if not isinstance(values, list | tuple):
        raise row.error(name, f"expected a list of texts, found {values!r:.60}")
    for place, value in enumerate(values):
        if not isinstance(value, str) or len(value) > LONGEST_TEXT:
            raise row.error(f"{name}[{place}]", f"expected a text, found {value!r:.60}")
    return tuple(values)
