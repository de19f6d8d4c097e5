"""Format rules, which every question must obey before a model is asked about it.

The released pipeline drops candidates by option prefixes, answers that are not an option and key
words; the detailed rules are Caliper's.
"""

from __future__ import annotations

import re
import string
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from caliper.building.candidates import MOST_CHOICES, Candidate, spelling_key
from caliper.building.steps import Fate

# No digit follows the mark of a number: "1:30" is a time, and "1.5" a quantity.
_PREFIX = re.compile(r"\s*\(?([A-Za-z]|[0-9]{1,2}(?=.\D))[).:]\s*(?=\S)")
_LABEL = re.compile(r"\(?([A-Za-z]|[0-9]{1,2})[).:]?")
_META = re.compile(
    r"(?:all|none|neither|both|any) of (?:the above|these|them|the other options)"
    r"|(?:both )?[a-d] (?:and|or) [a-d]"
    r"|(?:cannot|can't|can not) (?:be )?(?:tell|told|determined?|answered?|seen|say)\b.*"
    r"|(?:unknown|unclear|not (?:sure|visible|shown|specified|mentioned)|undetermined)",
    re.IGNORECASE,
)
_SETUP = re.compile(
    r"\b(?:captions?|taxonomy|the (?:description|options?|choices|text) (?:above|below)"
    r"|multiple[- ]choice|according to the (?:description|text above))\b",
    re.IGNORECASE,
)
_YES_NO = frozenset({"yes", "no"})
_SHORTEST_GIVE_AWAY = 3


def check_formats(candidates: Iterable[Candidate], categories: Collection[str]) -> tuple[Fate, ...]:
    """Make the repairs that are beyond doubt, and drop the rest, with the reason.

    `categories` are those of the taxonomy.
    """
    seen: set[str] = set()
    fates = []
    for candidate in candidates:
        fate = _fate(candidate, categories)
        if not fate.dropped and fate.candidate.id in seen:
            fate = replace(fate, dropped="same question twice")
        seen.add(fate.candidate.id)
        fates.append(fate)
    return tuple(fates)


def _fate(candidate: Candidate, categories: Collection[str]) -> Fate:
    tidy = tidied(candidate)
    reason, detail = fault(tidy, categories)
    return Fate(tidy, reason, detail)


def tidied(candidate: Candidate) -> Candidate:
    """The candidate with white space normalized, without letters before its options, and with the
    text of the option that its answer stands for, if any.
    """
    spaced = tuple(" ".join(choice.split()) for choice in candidate.choices)
    choices = strip_prefixes(spaced)
    answer = _answer(" ".join(candidate.answer.split()), spaced, choices)
    question = " ".join(candidate.question.split())
    category = candidate.category.strip()
    tidy = Candidate.of(candidate.image, question, choices, answer, category)
    return replace(tidy, flags=candidate.flags, given=candidate.given)


def strip_prefixes(choices: Sequence[str]) -> tuple[str, ...]:
    """The choices without "A.", "(B)" or "3)" before them, if all are numbered so."""
    matches = [_PREFIX.match(choice) for choice in choices]
    labels = [match[1].upper() for match in matches if match]
    size = len(choices)
    numbered = labels in (
        list(string.ascii_uppercase[:size]),
        [str(place + 1) for place in range(size)],
    )
    if not choices or not numbered:
        return tuple(choices)
    return tuple(
        choice[match.end() :] for choice, match in zip(choices, matches, strict=True) if match
    )


def _answer(answer: str, spaced: Sequence[str], choices: Sequence[str]) -> str:
    """The choice that an answer names by its text, its text with a prefix, or its letter; else the
    answer itself. If choices are numbers or letters, such an answer is never a position.
    """
    for texts in (choices, spaced):
        places = [
            place for place, text in enumerate(texts) if spelling_key(text) == spelling_key(answer)
        ]
        if len(places) == 1:
            return choices[places[0]]
    label = _LABEL.fullmatch(answer)
    if label and not any(map(_LABEL.fullmatch, choices)):
        mark = label[1].upper()
        place = int(mark) - 1 if mark.isdigit() else string.ascii_uppercase.index(mark)
        if 0 <= place < len(choices):
            return choices[place]
    return answer


def fault(candidate: Candidate, categories: Collection[str] | None = None) -> tuple[str, str]:
    """The first rule that a candidate breaks, and a detail; empty if it breaks none.

    The category is checked only if `categories` are not None.
    """
    choices, question = candidate.choices, candidate.question
    keys = [spelling_key(choice) for choice in choices]
    meta = next((choice for choice in choices if _META.fullmatch(spelling_key(choice))), "")
    setup = _SETUP.search(question)
    rules = (
        (len(question.split()) >= 2, "no question", question),
        (
            2 <= len(choices) <= MOST_CHOICES and all(keys),
            "number of options",
            f"{len(choices)} options",
        ),
        (len(set(keys)) == len(keys), "equal options", "; ".join(choices)),
        (candidate.answer in choices, "answer is not an option", candidate.answer),
        (not meta, "option about the options", meta),
        (setup is None, "question about the test", setup[0] if setup else ""),
        (not _gives_away(candidate), "answer in the question", candidate.answer),
        (
            categories is None or candidate.category in categories,
            "category not in the taxonomy",
            candidate.category,
        ),
    )
    for holds, reason, detail in rules:
        if not holds:
            return reason, detail
    return "", ""


def _gives_away(candidate: Candidate) -> bool:
    """Whether the question has the words of the answer, and those of no other option."""
    if {spelling_key(choice) for choice in candidate.choices} <= _YES_NO:
        return False
    named = [choice for choice in candidate.choices if _occurs(choice, candidate.question)]
    return named == [candidate.answer]


def _occurs(choice: str, question: str) -> bool:
    words = spelling_key(choice)
    if len(words) < _SHORTEST_GIVE_AWAY:
        return False
    return re.search(rf"(?<!\w){re.escape(words)}(?!\w)", question.casefold()) is not None
