"""spatial_relation: does the caption place two things as the annotation does?

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
# "His left hand" is not a place.
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

    With `in_picture` there is no second thing: the relation is a place in the picture.
    """

    subject: Phrase
    target: Phrase
    sides: tuple[str, ...]
    in_picture: bool

    @property
    def side(self) -> str:
        """The family of the first side word, "" for relations such as "on" or "next to"."""
        return self.sides[0] if self.sides else ""


@lru_cache(maxsize=2048)
def relation(sentence: str) -> Relation:
    """Parse "The mirror is to the left of the table". The target may be empty."""
    words = words_of(sentence)
    first = next((at for at, word in enumerate(words) if at and word in _CUTS), len(words))
    last = next((at for at in range(len(words) - 1, first - 1, -1) if words[at] in _CUTS), first)
    sides = tuple(_FAMILY[word] for word in words[first : last + 1] if word in _FAMILY)
    target = phrase(" ".join(words[last + 1 :]))
    placed = sides and _FLAT.issuperset(sides) and not _IN_PICTURE.isdisjoint(words[first:last])
    in_picture = not target.head or (bool(placed) and target.head in _PICTURES)
    return Relation(phrase(" ".join(words[:first])), target, sides, in_picture)


def _heads(caption: CaptionText, thing: Phrase) -> dict[int, list[int]]:
    """Positions of mentions by sentence, with pronouns at the start of the next sentence ("It
    stands on ..."); for a person, also with pronouns in other sentences.
    """
    heads: dict[int, list[int]] = {}
    for mention in mentions(caption, thing):
        heads.setdefault(caption.sentence_of[mention.head], []).append(mention.head)
    for number in [number + 1 for number in heads if number + 1 not in heads]:
        low, high = caption.sentences[number] if number < len(caption.sentences) else (0, 0)
        pronouns = [at for at in range(low, min(low + 2, high)) if caption.words[at] in _TAKEN_UP]
        if pronouns:
            heads[number] = pronouns
    if thing.head in PERSONS:
        sentences = set(heads)
        for at in sorted(at for word in PRONOUNS for at in caption.places.get(word, ())):
            if caption.sentence_of[at] not in sentences:
                heads.setdefault(caption.sentence_of[at], []).append(at)
    return {number: sorted(places) for number, places in heads.items()}


def judge_relation(caption: CaptionText, element: str) -> Judgement:
    """Score a spatial relation.

    Left and right need their side word, in a sentence with both things or as the place of one
    in the picture; the opposite side is wrong. Other relations need only both things in one
    sentence; the opposite word alone between them is wrong. For "on" or "next to", neighbouring
    sentences suffice; for front and behind, any, if one thing is in the foreground or background.
    """
    annotated = relation(element)
    subjects, targets = _heads(caption, annotated.subject), _heads(caption, annotated.target)
    if annotated.in_picture:
        score = _score_in_picture(caption, annotated, subjects)
    elif not subjects or not targets:
        return Judgement(SILENT, "The caption does not name both things.")
    else:
        score = _score_relation(caption, annotated, subjects, targets)
    return Judgement(score, _REASONS[score])


def _score_relation(
    caption: CaptionText,
    annotated: Relation,
    subjects: dict[int, list[int]],
    targets: dict[int, list[int]],
) -> int:
    readings = [
        _score_sentence(caption, annotated, number, subjects[number], targets[number])
        for number in subjects
        if number in targets
    ]
    best = max(readings, default=SILENT, key=lambda score: (score == RIGHT, score == WRONG))
    if best != SILENT:
        return best
    if annotated.side in _SIDES:
        return _score_sides(caption, annotated, subjects, targets)
    if not annotated.side:
        near = any(number + step in targets for number in subjects for step in (-1, 1))
        return RIGHT if near else SILENT
    return RIGHT if _fits_depth(caption, annotated, subjects, targets) else SILENT


def _score_in_picture(
    caption: CaptionText, annotated: Relation, subjects: dict[int, list[int]]
) -> int:
    """Score a place in the picture by the thing's sentences; the opposite place is wrong."""
    sides = {
        _FAMILY[caption.words[at]]
        for number in subjects
        for at in range(*caption.sentences[number])
        if caption.words[at] in _FAMILY and not caption.negated[at]
    }
    if not subjects or not annotated.sides:
        return RIGHT if subjects else SILENT
    if all(side in sides for side in annotated.sides):
        return RIGHT
    return WRONG if any(_OPPOSITE.get(side) in sides for side in annotated.sides) else SILENT


def _fits_depth(
    caption: CaptionText,
    annotated: Relation,
    subjects: dict[int, list[int]],
    targets: dict[int, list[int]],
) -> bool:
    """Whether one thing is in the background or foreground as the relation requires."""
    back, front = (targets, subjects) if annotated.side == "front" else (subjects, targets)
    if annotated.side not in {"front", "behind"}:
        return False
    return any(
        not _DEPTHS[depth].isdisjoint(caption.words[slice(*caption.sentences[number])])
        for depth, things in (("behind", back), ("front", front))
        for number in things
    )


def _score_sides(
    caption: CaptionText,
    annotated: Relation,
    subjects: dict[int, list[int]],
    targets: dict[int, list[int]],
) -> int:
    """Score left or right by the places of the things in the picture."""
    own, other = _side_of(caption, subjects), _side_of(caption, targets)
    opposite = _OPPOSITE[annotated.side]
    if own == annotated.side and other != own:
        return RIGHT
    if own == opposite and other != own:
        return WRONG
    if own == "center" and other in _SIDES:
        return RIGHT if other == opposite else WRONG
    return SILENT


def _side_of(caption: CaptionText, things: dict[int, list[int]]) -> str:
    """The nearest side word of a thing in its sentences, except "left of" something; else ""."""
    best = (_SIDE_REACH, "")
    for number, places in things.items():
        low, high = caption.sentences[number]
        for at in range(low, high):
            side = _PLACES.get(caption.words[at])
            following = caption.words[at + 1 : at + 4]
            if side is None or caption.negated[at] or not _BODY.isdisjoint(following[:1]):
                continue
            if "of" in following[:2] and _PICTURE_WORDS.isdisjoint(caption.words[at + 2 : at + 5]):
                continue
            best = min(best, (_distance(places, at), side))
    return best[1]


def _score_sentence(
    caption: CaptionText, annotated: Relation, number: int, subjects: list[int], targets: list[int]
) -> int:
    one, other = _nearest(subjects, targets)
    if one == other:
        return SILENT
    if annotated.side in _SIDES:
        return _score_lateral(caption, annotated, caption.sentences[number], subjects, targets)
    reach = range(min(one, other) + 1, max(one, other))
    sides = {
        _FAMILY[caption.words[at]]
        for at in reach
        if caption.words[at] in _FAMILY and not caption.negated[at]
    }
    if annotated.side not in sides and _OPPOSITE.get(annotated.side, "") in sides:
        return WRONG if one < other else RIGHT
    return RIGHT


def _score_lateral(
    caption: CaptionText,
    annotated: Relation,
    within: tuple[int, int],
    subjects: list[int],
    targets: list[int],
) -> int:
    """Score left or right by the thing that each side word of the sentence refers to.

    "To the left of X" places the other thing; otherwise a side belongs to the nearest thing.
    The target's side is the opposite of the subject's. A single side word that may refer to
    the picture ("on the right, a lamp") contradicts nothing.
    """
    certain: set[str] = set()
    likely: set[str] = set()
    for at in range(*within):
        side = caption.words[at]
        following = caption.words[at + 1 : at + 7]
        if side not in _SIDES or caption.negated[at] or not _BODY.isdisjoint(following[:1]):
            continue
        of_target = _first_within(targets, at, at + 7)
        of_subject = _first_within(subjects, at, at + 7)
        if "of" in following[:3] and of_target != of_subject:
            certain.add(side if of_target < of_subject else _OPPOSITE[side])
            continue
        nearest, other = _distance(subjects, at), _distance(targets, at)
        relative = caption.words[max(0, at - 2) : at] == ("to", "the")
        (certain if relative else likely).add(side if nearest <= other else _OPPOSITE[side])
    if annotated.side in certain | likely:
        return RIGHT
    both_named = set(caption.words[within[0] : within[1]]) >= _SIDES
    return WRONG if certain or (likely and both_named) else SILENT


def _distance(places: list[int], at: int) -> int:
    """The distance of a position to the nearest of the sorted places."""
    after = bisect_left(places, at)
    return min(abs(place - at) for place in places[max(0, after - 1) : after + 1])


def _first_within(places: list[int], low: int, high: int) -> int:
    """The first of the sorted places after `low`, at most `high`."""
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
