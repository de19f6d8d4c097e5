"""object_color: does the caption give the annotated colour of the annotated object?

protocols.md 1: 0 if the object or its colour is absent; similar colours are right.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator

from caliper.lexical.judgements import RIGHT, SILENT, WRONG, Judgement
from caliper.lexical.mentions import CaptionMention, loose_mentions, phrase
from caliper.lexical.shades import (
    FAMILIES,
    ONLY_BESIDE_NOUN,
    PATTERNS,
    SHADING,
    SURFACES,
    annotated_colours,
)
from caliper.lexical.text import CaptionText, plural
from caliper.lexical.vocabulary import word_set
from caliper.lexical.words import MORE_GENERAL, PERSONS, STOPWORDS

_ENDS = frozenset(word for word in STOPWORDS if len(word) > 1 or word in "a,;:()")
_LINKS = word_set("is are was were be appears appear looks look being colored painted dyed covered")
_OWNS = word_set("has have had with features featuring including whose")
_HOLDING = word_set("filled loaded served surrounded")
_PREPOSITIONS = word_set("""
    in on at with of by near behind under beneath beside from to over above below between against
    along around across through inside into onto toward towards next
""")
_COLLECTIVES = word_set("pair group row rows set number series line pairs groups lots variety")
_CLAUSE_ENDS = word_set("; : ( ) \u2014 \u2013 while whereas but although though")
_RELATIVES = word_set("which that whose who")
_SINGULAR = word_set("it it's its this which that whose one")
_PLURAL = word_set("they they're their these both all each which that whose most one")
_PERSONAL = word_set("he his she her they their who")
_BEFORE = 6
_AFTER = 8
_CLAUSE = 30
_HEADS = 4


def colours_on(caption: CaptionText, mention: CaptionMention) -> tuple[str, ...]:
    """The colour words that apply to a mention: before the noun, or after "is" or "in"."""
    low, high = caption.sentences[caption.sentence_of[mention.head]]
    before = [caption.words[at] for at in _before(caption, mention.head, low)]
    return (*before, *_after(caption, mention.head, high))


def _before(caption: CaptionText, head: int, low: int) -> Iterator[int]:
    """Positions of colours before the head of a noun phrase."""
    colour_seen = False
    for at in range(head - 1, max(low, head - _BEFORE) - 1, -1):
        word = caption.words[at]
        if word in FAMILIES:
            if not caption.negated[at]:
                yield at
            colour_seen = True
        elif word in _ENDS:
            if word not in {"and", ","} or not _joins_colours(caption, at):
                return
        elif colour_seen and word not in SHADING:
            return


def _after(caption: CaptionText, head: int, high: int) -> list[str]:
    """The colours linked to a noun: "is red", "painted a bright red", "in black"."""
    colours: list[str] = []
    linked = False
    for at in range(head + 1, min(high, head + _AFTER + 1)):
        word = caption.words[at]
        if word in _LINKS or (word in {"in", "of"} and _links(caption, at, head)):
            linked = True
        elif linked and word in FAMILIES and word not in ONLY_BESIDE_NOUN:
            if not caption.negated[at]:
                colours.append(word)
        elif (
            word in _CLAUSE_ENDS
            or (
                word in _ENDS
                and word not in {"a", "an", "of", "in"}
                and not _joins_colours(caption, at)
            )
            or (colours and word not in SHADING and word not in SURFACES)
        ):
            break
    return colours


def _links(caption: CaptionText, at: int, head: int) -> bool:
    """Whether an "in" or "of" may introduce a colour: after the noun, or "dressed in"."""
    before = caption.words[at - 1]
    return at == head + 1 or before in _LINKS or before in SURFACES or before.endswith("ed")


def _joins_colours(caption: CaptionText, at: int) -> bool:
    """Whether an "and" or comma joins two colours, or a colour and another adjective."""
    before = caption.words[at - 1] if at else ""
    behind = caption.words[at + 1 : at + 3]
    return before in FAMILIES and any(word in FAMILIES for word in behind)


def _follows_preposition(caption: CaptionText, head: int) -> bool:
    """Whether a noun phrase follows a preposition and so is not a subject."""
    low = caption.sentences[caption.sentence_of[head]][0]
    determined = False
    for at in range(head - 1, max(low, head - _BEFORE) - 1, -1):
        word = caption.words[at]
        if word in _PREPOSITIONS:
            return word != "of" or caption.words[at - 1] not in _COLLECTIVES
        if determined or (word in {",", "and"} and not _joins_colours(caption, at)):
            return False
        determined = word in _ENDS and word not in {",", "and"}
    return False


class _Colouring:
    """Assigns the colour words near the mentions of an object.

    `own` apply to the object; `near` may apply to it: they can confirm the annotated colour but
    not contradict it.
    """

    def __init__(self, caption: CaptionText, mentions: tuple[CaptionMention, ...]) -> None:
        self.caption = caption
        self.order = sorted(mention.head for mention in mentions)
        self.heads = frozenset(self.order)
        self.own = [word for mention in mentions for word in colours_on(caption, mention)]
        self.near: list[str] = []
        sentences = {caption.sentence_of[head] for head in self.heads}
        for number in sorted(sentences | {number + 1 for number in sentences}):
            span = (
                slice(*caption.sentences[number]) if number < len(caption.sentences) else slice(0)
            )
            if not FAMILIES.keys().isdisjoint(caption.words[span]):
                self._read(*caption.sentences[number])

    def _read(self, low: int, high: int) -> None:
        for at in range(low, high):
            word = self.caption.words[at]
            if word not in FAMILIES or word in ONLY_BESIDE_NOUN or self.caption.negated[at]:
                continue
            noun = self._noun_behind(at, high)
            owned = self._is_attribute(at, low, noun) if noun else self._is_predicate(at, low)
            if owned is not None:
                (self.own if owned else self.near).append(word)

    def _noun_behind(self, at: int, high: int) -> str:
        """The noun that a colour precedes; empty if there is none."""
        if self.caption.words[at - 1] == "of" and self.caption.words[at - 2] in SURFACES:
            return ""  # in shades of blue
        for place in range(at + 1, min(high, at + _AFTER)):
            word = self.caption.words[place]
            if word in FAMILIES or (word in {",", "and", "or"} and self._goes_on(place)):
                continue
            return "" if word in _ENDS or word.endswith("ly") else word
        return ""

    def _goes_on(self, at: int) -> bool:
        return any(word in FAMILIES for word in self.caption.words[at + 1 : at + 3])

    def _is_attribute(self, at: int, low: int, noun: str) -> bool | None:
        """Whether "a white hull" is the object's: True for yes, False for maybe, None for no."""
        for place in range(at - 1, max(low, at - _AFTER) - 1, -1):
            word = self.caption.words[place]
            if word in _OWNS or (word == "in" and noun in SURFACES):
                holds = self.caption.words[place - 1] in _HOLDING
                owned = None if holds else self._subject(low, place)
                return None if owned is None else noun in SURFACES
            if word in _LINKS or word in _CLAUSE_ENDS:
                return None
        return None

    def _is_predicate(self, at: int, low: int) -> bool | None:
        """Whether "... is white" or ", a bright white" applies to the object."""
        link = next(
            (n for n in range(at - 1, max(low, at - _AFTER) - 1, -1) if self._ends_predicate(n)),
            low - 1,
        )
        if link >= low and self.caption.words[link] == ",":
            return True if link - 1 in self.heads else self._subject(low, link)
        return self._subject(low, link if link >= low else at)

    def _ends_predicate(self, at: int) -> bool:
        word = self.caption.words[at]
        return word in _LINKS or (word == "," and not _joins_colours(self.caption, at))

    def _subject(self, low: int, end: int) -> bool | None:
        """Whether the clause before `end` is about the object (True) or its parts (False)."""
        words = self.caption.words
        start = low = max(low, end - _CLAUSE)
        for at in range(end - 1, low - 1, -1):
            another = words[at] == "and" and at and words[at - 1] in {",", *FAMILIES}
            if another or words[at] in _CLAUSE_ENDS:
                start = at + 1
                break
        for at in range(start, end):
            if at in self.heads and not _follows_preposition(self.caption, at):
                return not words[at].endswith("'s") or words[at + 1] in SURFACES
        for at in range(end - 1, start - 1, -1):
            if words[at] in _RELATIVES and at and words[at - 1] == ",":
                return True if at - 2 in self.heads else None
        return self._taken_up(start, end)

    def _taken_up(self, start: int, end: int) -> bool | None:
        """Whether a clause refers to the object by a pronoun: "it is", "its hull is"."""
        words = self.caption.words
        for at in range(start, min(start + 3, end)):
            head = self._meant_by(words[at], at)
            if head is not None:
                possessive = words[at] in {"its", "their", "his", "her", "whose"}
                return not possessive or words[at + 1] in SURFACES
        return None

    def _meant_by(self, pronoun: str, at: int) -> int | None:
        """The mention in this or the preceding sentence that a pronoun can refer to."""
        if pronoun not in _SINGULAR | _PLURAL | _PERSONAL:
            return None
        number = self.caption.sentence_of[at]
        before = bisect_left(self.order, at)
        for head in reversed(self.order[max(0, before - _HEADS) : before]):
            beside = self.caption.sentence_of[head] >= number - 1
            if beside and not _follows_preposition(self.caption, head):
                word = self.caption.words[head]
                person = self.caption.meanings[head] in PERSONS
                agree = _PERSONAL if person else _PLURAL if plural(word) else _SINGULAR
                return head if pronoun in agree else None
        return None


def _count_covered(annotated: tuple[frozenset[str], ...], colours: list[str]) -> int:
    return sum(
        any(not FAMILIES[word].isdisjoint(family) for word in colours) for family in annotated
    )


def _has_foreign(annotated: tuple[frozenset[str], ...], colours: list[str]) -> bool:
    return any(all(FAMILIES[word].isdisjoint(family) for family in annotated) for word in colours)


def judge_colour(caption: CaptionText, element: str, object_name: str) -> Judgement:
    """Score a colour by its family.

    Colours of the object itself are right or wrong; some of the annotated ones suffice if there
    are no others. Colours that may be the object's can only confirm. Without a colour, the caption
    is silent.
    """
    mentions = loose_mentions(caption, phrase(object_name))
    if not mentions:
        return Judgement(SILENT, f"The caption does not mention {object_name}.")
    annotated = annotated_colours(element)
    if not annotated:
        stated = element.lower().strip() in caption.text.lower()
        return Judgement(RIGHT if stated else SILENT, f"Looked for the words {element!r}.")
    colouring = _Colouring(caption, mentions)
    sure = colouring.own if any(mention.credit >= MORE_GENERAL for mention in mentions) else []
    hues = _hues(sure, annotated)
    covered = _count_covered(annotated, hues)
    colours = " and ".join(dict.fromkeys(hues))
    if covered == len(annotated) or (covered and not _has_foreign(annotated, hues)):
        return Judgement(RIGHT, f"The caption calls {object_name} {colours}.")
    possible = _hues([*colouring.own, *colouring.near], annotated)
    confirmed = _count_covered(annotated, possible) == len(annotated) and (covered or not hues)
    if confirmed or (annotated == (FAMILIES["colorful"],) and len(set(possible)) > 1):
        return Judgement(RIGHT, f"The caption gives {element} beside {object_name}.")
    if hues:
        return Judgement(WRONG, f"The caption calls {object_name} {colours}, not {element}.")
    return Judgement(SILENT, f"The caption gives no colour of {object_name}.")


def _hues(colours: list[str], annotated: tuple[frozenset[str], ...]) -> list[str]:
    """The colour words without shading and, unless annotated, without patterns."""
    plain = [word for word in colours if word not in PATTERNS or _count_covered(annotated, [word])]
    return [word for word in plain if word not in SHADING] or plain
