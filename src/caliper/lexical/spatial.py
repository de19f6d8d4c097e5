"""spatial_relation: does the caption put two things where the annotation puts them?

protocols.md 1: 1 right, -1 wrong, 0 if the relation or the objects are absent.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from functools import lru_cache

from caliper.lexical.finding import RIGHT, SILENT, WRONG, Finding
from caliper.lexical.mentions import Phrase, mentions, phrase
from caliper.lexical.text import Parsed, words_of
from caliper.lexical.vocabulary import word_set
from caliper.lexical.words import PERSONS, PRONOUNS

_RELATIONS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("left", ("left",)),
    ("right", ("right",)),
    ("above", ("above", "over", "atop", "overhead", "top")),
    ("below", ("below", "under", "underneath", "beneath", "bottom")),
    ("front", ("front", "before", "foreground")),
    ("behind", ("behind", "back", "background")),
    ("inside", ("inside", "within", "into")),
    ("outside", ("outside",)),
)
_FAMILY = {word: name for name, words in _RELATIONS for word in words}
_OPPOSITE = {
    "left": "right", "right": "left", "above": "below", "below": "above",
    "front": "behind", "behind": "front", "inside": "outside", "outside": "inside",
}  # fmt: skip
# "His left hand" is no place.
_BODY = word_set(
    """hand hands arm arms leg legs eye eyes ear ears shoulder wrist foot knee cheek turn lapel"""
)
_CUTS = word_set("""
    left right above over atop below under underneath beneath front behind inside within outside
    on in near beside next by at against around between along across with adjacent close
    surrounding surrounded facing toward towards holding wearing carrying riding sitting standing
    lying leaning hanging placed located positioned attached mounted resting parked through into
    onto off to of is are was were has touching using covering
""")


@dataclass(frozen=True, slots=True)
class Relation:
    """An annotated relation: its two things, and the family of its side word ("" for "on")."""

    subject: Phrase
    target: Phrase
    side: str


@lru_cache(maxsize=2048)
def relation(sentence: str) -> Relation:
    """Take "The mirror is to the left of the table" apart. The target may be empty."""
    words = words_of(sentence)
    first = next((at for at, word in enumerate(words) if at and word in _CUTS), len(words))
    last = next((at for at in range(len(words) - 1, first - 1, -1) if words[at] in _CUTS), first)
    side = next((_FAMILY[word] for word in words[first : last + 1] if word in _FAMILY), "")
    return Relation(phrase(" ".join(words[:first])), phrase(" ".join(words[last + 1 :])), side)


def _heads(parsed: Parsed, wanted: Phrase) -> dict[int, list[int]]:
    """Positions of mentions by sentence; in other sentences pronouns stand for a person."""
    found: dict[int, list[int]] = {}
    for mention in mentions(parsed, wanted):
        found.setdefault(parsed.sentence_of[mention.head], []).append(mention.head)
    if wanted.head in PERSONS:
        named = set(found)
        for at in sorted(at for word in PRONOUNS for at in parsed.places.get(word, ())):
            if parsed.sentence_of[at] not in named:
                found.setdefault(parsed.sentence_of[at], []).append(at)
    return found


def judge_relation(parsed: Parsed, element: str) -> Finding:
    """Score a spatial relation.

    Both things must be named in one sentence. Left and right need their side word there:
    the opposite side is wrong, unless the things stand in the opposite order too ("the
    table is to the right of the mirror"). Other relations need no word of their own; only
    the opposite word between the two things, and no fitting one, is wrong.
    """
    wanted = relation(element)
    subjects, targets = _heads(parsed, wanted.subject), _heads(parsed, wanted.target)
    shared = [number for number in subjects if number in targets]
    if not wanted.target.head:
        shared = list(subjects)
    if not subjects or not (targets or not wanted.target.head):
        return Finding(SILENT, "The caption does not name both things.")
    if not shared:
        return _across(parsed, wanted, subjects, targets)
    readings = [
        _in_sentence(parsed, wanted, number, subjects[number], targets.get(number, []))
        for number in shared
    ]
    best = max(readings, key=lambda score: (score == RIGHT, score == WRONG))
    reasons = {
        RIGHT: "The caption puts the two things in that relation.",
        WRONG: "The caption gives the opposite relation.",
        SILENT: "The caption names both things but not their relation.",
    }
    return Finding(best, reasons[best])


def _in_sentence(
    parsed: Parsed, wanted: Relation, number: int, subjects: list[int], targets: list[int]
) -> int:
    low, high = parsed.sentences[number]
    if targets:
        one, other = _nearest(subjects, targets)
        if one == other:
            return SILENT
        forward = one < other
    else:
        one, other, forward = subjects[0], high, True
    if wanted.side in {"left", "right"}:
        return _lateral(parsed, wanted, (low, high), subjects, targets)
    reach = range(min(one, other) + 1, max(one, other))
    sides = {
        _FAMILY[parsed.words[at]]
        for at in reach
        if parsed.words[at] in _FAMILY and not parsed.negated[at]
    }
    if wanted.side not in sides and _OPPOSITE.get(wanted.side, "") in sides:
        return WRONG if forward else RIGHT
    return RIGHT


def _lateral(
    parsed: Parsed,
    wanted: Relation,
    within: tuple[int, int],
    subjects: list[int],
    targets: list[int],
) -> int:
    """Left or right: which thing does each side word of the sentence speak of?

    "To the left of X" puts the other thing there; otherwise a side belongs to the thing
    that stands nearest. A side of the target is the opposite side of the subject.
    """
    told = set()
    for at in range(*within):
        side = parsed.words[at]
        if side not in {"left", "right"} or parsed.negated[at]:
            continue
        following = parsed.words[at + 1 : at + 7]
        if following and following[0] in _BODY:
            continue
        if "of" in following[:3]:
            of_target = _first_within(targets, at, at + 7)
            of_subject = _first_within(subjects, at, at + 7)
            if of_target != of_subject:
                told.add(side if of_target < of_subject else _OPPOSITE[side])
                continue
        nearest = min(abs(place - at) for place in subjects)
        other = min((abs(place - at) for place in targets), default=nearest + 1)
        told.add(side if nearest <= other else _OPPOSITE[side])
    if wanted.side in told:
        return RIGHT
    return WRONG if told else SILENT


def _first_within(places: list[int], low: int, high: int) -> int:
    """The first of the sorted places behind `low`, or `high` when none is before that."""
    following = bisect_right(places, low)
    return min(places[following], high) if following < len(places) else high


def _nearest(subjects: list[int], targets: list[int]) -> tuple[int, int]:
    """The closest (subject, target) of two sorted lists of positions."""
    pairs: list[tuple[int, int, int]] = []
    for one in subjects:
        after = bisect_left(targets, one)
        pairs.extend(
            (abs(one - other), one, other) for other in targets[max(0, after - 1) : after + 1]
        )
    _, one, other = min(pairs)
    return one, other


def _across(
    parsed: Parsed, wanted: Relation, subjects: dict[int, list[int]], targets: dict[int, list[int]]
) -> Finding:
    """Score a relation whose things stand in neighbouring sentences: its word must be there."""
    for number in subjects:
        for neighbour in (number - 1, number + 1):
            if neighbour not in targets or not wanted.side:
                continue
            low, high = parsed.sentences[max(number, neighbour)]
            if any(_FAMILY.get(parsed.words[at]) == wanted.side for at in range(low, high)):
                return Finding(RIGHT, "Neighbouring sentences give the relation.")
    return Finding(SILENT, "The caption does not relate the two things.")
