"""spatial_relation: does the caption put two things where the annotation puts them?

protocols.md 1: 1 right, -1 wrong, 0 if the relation or the objects are absent.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from functools import lru_cache

from caliper.lexical.judgements import RIGHT, SILENT, WRONG, Judgement
from caliper.lexical.mentions import Phrase, mentions, phrase
from caliper.lexical.text import CaptionText, words_of
from caliper.lexical.vocabulary import word_set
from caliper.lexical.words import PERSONS, PRONOUNS, concept

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
_SIDES = frozenset(("left", "right"))
_PLACES = {"left": "left", "right": "right", "center": "center", "middle": "center"}
_PICTURE_WORDS = word_set("""
    image picture photo photograph frame scene painting drawing screen video composition
""")
_PICTURES = frozenset(concept(word) for word in _PICTURE_WORDS)
# "On the left of the painting" is a place in the picture, "to the left of the painting" is not.
_IN_PICTURE = word_set("on in side corner part edge half")
_FLAT = frozenset(("left", "right", "above", "below"))
_DEPTHS = {
    "behind": word_set("background backdrop distance behind"),
    "front": word_set("foreground front"),
}
_SIDE_REACH = 20
_REASONS = {
    RIGHT: "The caption puts the two things in that relation.",
    WRONG: "The caption gives the opposite relation.",
    SILENT: "The caption does not relate the two things.",
}
_TAKEN_UP = word_set("it its they their these")
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
    """An annotated relation: its two things, and the families of its side words (none for "on").

    `in_picture` tells that it has no second thing but gives a place in the picture.
    """

    subject: Phrase
    target: Phrase
    sides: tuple[str, ...]
    in_picture: bool

    @property
    def side(self) -> str:
        """The first of its side words' families, "" for a relation like "on" or "next to"."""
        return self.sides[0] if self.sides else ""


@lru_cache(maxsize=2048)
def relation(sentence: str) -> Relation:
    """Take "The mirror is to the left of the table" apart. The target may be empty."""
    words = words_of(sentence)
    first = next((at for at, word in enumerate(words) if at and word in _CUTS), len(words))
    last = next((at for at in range(len(words) - 1, first - 1, -1) if words[at] in _CUTS), first)
    sides = tuple(_FAMILY[word] for word in words[first : last + 1] if word in _FAMILY)
    target = phrase(" ".join(words[last + 1 :]))
    placed = sides and _FLAT.issuperset(sides) and not _IN_PICTURE.isdisjoint(words[first:last])
    in_picture = not target.head or (bool(placed) and target.head in _PICTURES)
    return Relation(phrase(" ".join(words[:first])), target, sides, in_picture)


def _heads(parsed: CaptionText, wanted: Phrase) -> dict[int, list[int]]:
    """Positions of mentions by sentence; also where the next sentence takes them up by
    a pronoun ("It stands on ..."); in other sentences pronouns stand for a person.
    """
    found: dict[int, list[int]] = {}
    for mention in mentions(parsed, wanted):
        found.setdefault(parsed.sentence_of[mention.head], []).append(mention.head)
    for number in [number + 1 for number in found if number + 1 not in found]:
        low, high = parsed.sentences[number] if number < len(parsed.sentences) else (0, 0)
        taken_up = [at for at in range(low, min(low + 2, high)) if parsed.words[at] in _TAKEN_UP]
        if taken_up:
            found[number] = taken_up
    if wanted.head in PERSONS:
        named = set(found)
        for at in sorted(at for word in PRONOUNS for at in parsed.places.get(word, ())):
            if parsed.sentence_of[at] not in named:
                found.setdefault(parsed.sentence_of[at], []).append(at)
    return {number: sorted(places) for number, places in found.items()}


def judge_relation(parsed: CaptionText, element: str) -> Judgement:
    """Score a spatial relation.

    Left and right need their side word: in a sentence of both things, or as the place of one
    of them in the picture; the opposite side is wrong. Other relations need only both things in
    one sentence; the opposite word between them, and no fitting one, is wrong. In neighbouring
    sentences they are enough for "on" or "next to", in any for front and behind if one is in
    the foreground or background.
    """
    wanted = relation(element)
    subjects, targets = _heads(parsed, wanted.subject), _heads(parsed, wanted.target)
    if wanted.in_picture:
        score = _in_picture(parsed, wanted, subjects)
    elif not subjects or not targets:
        return Judgement(SILENT, "The caption does not name both things.")
    else:
        score = _related(parsed, wanted, subjects, targets)
    return Judgement(score, _REASONS[score])


def _related(
    parsed: CaptionText,
    wanted: Relation,
    subjects: dict[int, list[int]],
    targets: dict[int, list[int]],
) -> int:
    readings = [
        _in_sentence(parsed, wanted, number, subjects[number], targets[number])
        for number in subjects
        if number in targets
    ]
    best = max(readings, default=SILENT, key=lambda score: (score == RIGHT, score == WRONG))
    if best != SILENT:
        return best
    if wanted.side in _SIDES:
        return _by_sides(parsed, wanted, subjects, targets)
    if not wanted.side:
        near = any(number + step in targets for number in subjects for step in (-1, 1))
        return RIGHT if near else SILENT
    return RIGHT if _by_depth(parsed, wanted, subjects, targets) else SILENT


def _in_picture(parsed: CaptionText, wanted: Relation, subjects: dict[int, list[int]]) -> int:
    """Score a place in the picture ("in the bottom right corner"): its words stand with the
    thing; the opposite of one of them is wrong.
    """
    said = {
        _FAMILY[parsed.words[at]]
        for number in subjects
        for at in range(*parsed.sentences[number])
        if parsed.words[at] in _FAMILY and not parsed.negated[at]
    }
    if not subjects or not wanted.sides:
        return RIGHT if subjects else SILENT
    if all(side in said for side in wanted.sides):
        return RIGHT
    return WRONG if any(_OPPOSITE.get(side) in said for side in wanted.sides) else SILENT


def _by_depth(
    parsed: CaptionText,
    wanted: Relation,
    subjects: dict[int, list[int]],
    targets: dict[int, list[int]],
) -> bool:
    """Whether one thing is in the background or foreground, and that fits the relation."""
    back, front = (targets, subjects) if wanted.side == "front" else (subjects, targets)
    if wanted.side not in {"front", "behind"}:
        return False
    return any(
        not _DEPTHS[depth].isdisjoint(parsed.words[slice(*parsed.sentences[number])])
        for depth, things in (("behind", back), ("front", front))
        for number in things
    )


def _by_sides(
    parsed: CaptionText,
    wanted: Relation,
    subjects: dict[int, list[int]],
    targets: dict[int, list[int]],
) -> int:
    """Score left or right by where in the picture the things stand."""
    own, other = _side_of(parsed, subjects), _side_of(parsed, targets)
    opposite = _OPPOSITE[wanted.side]
    if own == wanted.side and other != own:
        return RIGHT
    if own == opposite and other != own:
        return WRONG
    if own == "center" and other in _SIDES:
        return RIGHT if other == opposite else WRONG
    return SILENT


def _side_of(parsed: CaptionText, things: dict[int, list[int]]) -> str:
    """Where in the picture a thing stands: the nearest side word of its sentences, or "" if
    they have none or it speaks of the left or right of something.
    """
    best = (_SIDE_REACH, "")
    for number, places in things.items():
        low, high = parsed.sentences[number]
        for at in range(low, high):
            side = _PLACES.get(parsed.words[at])
            following = parsed.words[at + 1 : at + 4]
            if side is None or parsed.negated[at] or not _BODY.isdisjoint(following[:1]):
                continue
            if "of" in following[:2] and _PICTURE_WORDS.isdisjoint(parsed.words[at + 2 : at + 5]):
                continue
            best = min(best, (_distance(places, at), side))
    return best[1]


def _in_sentence(
    parsed: CaptionText, wanted: Relation, number: int, subjects: list[int], targets: list[int]
) -> int:
    one, other = _nearest(subjects, targets)
    if one == other:
        return SILENT
    if wanted.side in _SIDES:
        return _lateral(parsed, wanted, parsed.sentences[number], subjects, targets)
    reach = range(min(one, other) + 1, max(one, other))
    sides = {
        _FAMILY[parsed.words[at]]
        for at in reach
        if parsed.words[at] in _FAMILY and not parsed.negated[at]
    }
    if wanted.side not in sides and _OPPOSITE.get(wanted.side, "") in sides:
        return WRONG if one < other else RIGHT
    return RIGHT


def _lateral(
    parsed: CaptionText,
    wanted: Relation,
    within: tuple[int, int],
    subjects: list[int],
    targets: list[int],
) -> int:
    """Left or right: which thing does each side word of the sentence speak of?

    "To the left of X" puts the other thing there; otherwise a side belongs to the thing
    that stands nearest. A side of the target is the opposite side of the subject. A single
    side that belongs to the picture ("on the right, a lamp") contradicts nothing.
    """
    told: set[str] = set()
    hinted: set[str] = set()
    for at in range(*within):
        side = parsed.words[at]
        following = parsed.words[at + 1 : at + 7]
        if side not in _SIDES or parsed.negated[at] or not _BODY.isdisjoint(following[:1]):
            continue
        of_target = _first_within(targets, at, at + 7)
        of_subject = _first_within(subjects, at, at + 7)
        if "of" in following[:3] and of_target != of_subject:
            told.add(side if of_target < of_subject else _OPPOSITE[side])
            continue
        nearest, other = _distance(subjects, at), _distance(targets, at)
        relative = parsed.words[max(0, at - 2) : at] == ("to", "the")
        (told if relative else hinted).add(side if nearest <= other else _OPPOSITE[side])
    if wanted.side in told | hinted:
        return RIGHT
    both_named = set(parsed.words[within[0] : within[1]]) >= _SIDES
    return WRONG if told or (hinted and both_named) else SILENT


def _distance(places: list[int], at: int) -> int:
    """How far the nearest of the sorted places is from a position."""
    after = bisect_left(places, at)
    return min(abs(place - at) for place in places[max(0, after - 1) : after + 1])


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
