"""Reading the questions that a model writes about a picture."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from caliper.benchmarks.replies import answer_text, strip_code_fence
from caliper.building.candidates import LONGEST_TEXT, MOST_CHOICES, Candidate

REPLY_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "questions": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "question": {"type": "string"},
                    "choices": {"type": "array", "items": {"type": "string"}},
                    "answer": {"type": "string"},
                },
                "required": ["question", "choices", "answer"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["questions"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class WrittenCandidates:
    """The candidates of one reply, and the number of its other entries: unusable or too many."""

    candidates: tuple[Candidate, ...]
    unusable: int = 0


CandidateReader = Callable[[str, str, str, int], WrittenCandidates | None]
"""Reads a reply about a medium and a category, up to a number of candidates."""


def read_questions(reply: str, image: str, category: str, most: int) -> WrittenCandidates | None:
    """Read at most `most` questions of a reply; None if it is unreadable.

    An empty list is a valid answer: the picture may show nothing of a category.
    """
    entries = reply_entries(reply, "questions", "question")
    if entries is None:
        return None
    questions = [_candidate(entry, image, category) for entry in entries]
    candidates = tuple(candidate for candidate in questions if candidate is not None)[:most]
    return WrittenCandidates(candidates, len(entries) - len(candidates))


def reply_entries(reply: str, listed: str, mark: str) -> list[Any] | None:
    """The entries of a reply: a list, an object that holds it as `listed`, or one entry alone,
    which has the field `mark`. None if there is none.
    """
    text = strip_code_fence(answer_text(reply))
    starts = [place for place in (text.find("{"), text.find("[")) if place >= 0]
    if not starts:
        return None
    try:
        value, _ = json.JSONDecoder().raw_decode(text, min(starts))
    except (ValueError, RecursionError):
        return None
    if isinstance(value, Mapping):
        value = [value] if mark in value else value.get(listed)
    return value if isinstance(value, list) else None


def _candidate(entry: Any, image: str, category: str) -> Candidate | None:
    if not isinstance(entry, Mapping):
        return None
    choices = entry.get("choices", entry.get("options"))
    texts = (entry.get("question"), entry.get("answer"))
    if not isinstance(choices, list) or not 2 <= len(choices) <= MOST_CHOICES:
        return None
    if not all(_is_text(text) for text in (*texts, *choices)):
        return None
    return Candidate.of(image, str(texts[0]), list(map(str, choices)), str(texts[1]), category)


def _is_text(value: Any) -> bool:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return True
    return isinstance(value, str) and bool(value.strip()) and len(value) <= LONGEST_TEXT
