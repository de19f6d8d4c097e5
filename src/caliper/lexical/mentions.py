"""Finds where a caption mentions an annotated thing.

The rules for objects, numbers, colours, relations and phrases all use this search.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from caliper.lexical.text import CaptionText, words_of
from caliper.lexical.vocabulary import word_list, word_set
from caliper.lexical.words import (
    COMPOUND_STARTS,
    COMPOUNDS,
    PARTICLES,
    PERSONS,
    STOPWORDS,
    concept,
    related_meanings,
    similar_nouns,
)

_PHRASE_ENDS = word_set("""
    of in on with at from by for near wearing holding to inside under behind beside that which who
    and or made containing
""")
# Heads that say little without their modifier: a "light" need not be a "traffic light".
_VAGUE_HEADS = frozenset(
    concept(word)
    for word in word_list("""
        light board machine stand holder case cover paper area part piece set top side item object
        thing product design pattern detail device system line surface ball station figure
        equipment display screen wall
    """)
)
# In "a group of people", the head is "people".
_COLLECTIVES = word_set("""
    group groups pair pairs piece pieces set row rows stack pile bunch slice slices bundle
    collection kind type series cluster
""")
_NEIGHBOUR = 0.5
_MODIFIERS_BEFORE = 5
_MODIFIERS_AFTER = 7
# Words that an annotator adds to a name without changing its meaning.
_IDLE = word_set("the a an some several one small large big little part piece pieces kind")


@dataclass(frozen=True, slots=True)
class Phrase:
    """An annotated noun phrase: the meanings of its head, and of the words before and after it.

    `accepted` maps the meanings that stand for the head to their credit. `joined` is the phrase
    without spaces, for spellings such as "fire truck" and "firetruck".
    """

    text: str
    head: str
    modifiers: tuple[str, ...]
    tail: tuple[str, ...]
    accepted: Mapping[str, float]
    joined: str


@dataclass(frozen=True, slots=True)
class CaptionMention:
    """A mention in a caption: token positions of its first modifier and its head.

    `credit` is 1.0 for the same meaning or a kind of it, less for a more general word; `full`
    tells whether all modifiers of the annotation are near.
    """

    start: int
    head: int
    credit: float
    full: bool


def _meanings(words: list[str]) -> list[str]:
    meanings: list[str] = []
    for word in words:
        phrasal = PARTICLES.get((meanings[-1], word)) if meanings else None
        if phrasal is not None:
            meanings.append(phrasal)
        if phrasal is not None or word in STOPWORDS or word in _IDLE:
            continue
        meaning = concept(word)
        if meanings and meanings[-1] in COMPOUND_STARTS and (meanings[-1], meaning) in COMPOUNDS:
            meanings[-1] = COMPOUNDS[meanings[-1], meaning]
        else:
            meanings.append(meaning)
    return meanings


def _front(words: list[str]) -> int:
    """The number of words before the first preposition."""
    return next((at for at, word in enumerate(words) if at and word in _PHRASE_ENDS), len(words))


@lru_cache(maxsize=2048)
def phrase(text: str) -> Phrase:
    """Parse a noun phrase; its head is the last word before a preposition.

    Of a collective ("a group of people"), only the members count.
    """
    words = words_of(text.replace("_", " "))
    cut = _front(words)
    if words[cut : cut + 1] == ["of"] and words[cut - 1] in _COLLECTIVES:
        words = words[cut + 1 :]
        cut = _front(words)
    front = _meanings(words[:cut])
    tail = _meanings(words[cut:])
    if not front:
        front, tail = tail or [concept(word) for word in words[-1:]], []
    head = front[-1] if front else ""
    return Phrase(
        text=text,
        head=head,
        modifiers=tuple(front[:-1]),
        tail=tuple(tail),
        accepted=related_meanings(head),
        joined="".join(words),
    )


def content(text: str) -> tuple[str, ...]:
    """The meanings of a text's content words, in order, without repeats."""
    return tuple(dict.fromkeys(_meanings(words_of(text))))


def _mention_at(caption: CaptionText, annotated: Phrase, at: int) -> CaptionMention | None:
    """The mention whose head is at a position; `full` if all modifiers are near."""
    low, high = caption.sentences[caption.sentence_of[at]]
    low, high = max(low, at - _MODIFIERS_BEFORE), min(high, at + _MODIFIERS_AFTER + 1)
    near = caption.meanings[low:high]
    start, full = at, True
    for modifier in annotated.modifiers:
        accepted = related_meanings(modifier)
        place = next((low + n for n, meaning in enumerate(near) if meaning in accepted), None)
        if place is None:
            full = False
        elif place < start:
            start = place
    return CaptionMention(start, at, annotated.accepted[caption.meanings[at]], full)


def _joined_mentions(caption: CaptionText, annotated: Phrase) -> list[CaptionMention]:
    """Mentions in another spelling: two annotated words as one, or one as two."""
    if len(annotated.joined) < 6:
        return []
    one_word = caption.places.get(concept(annotated.joined), ())
    candidates = [CaptionMention(at, at, 1.0, full=True) for at in one_word]
    if not annotated.modifiers:
        start = annotated.joined[:3]
        for at in range(len(caption.words) - 1):
            word = caption.words[at]
            if word[:3] == start and concept(word + caption.words[at + 1]) == annotated.head:
                candidates.append(CaptionMention(at, at + 1, 1.0, full=True))
    return [mention for mention in candidates if not caption.negated[mention.head]]


def mentions(caption: CaptionText, annotated: Phrase) -> tuple[CaptionMention, ...]:
    """The best mentions that the caption has outside negations, in order.

    Best are full mentions of the meaning or a kind of it, then other spellings, then the head
    alone unless it says too little without its modifiers, then a more general word.
    """
    places = [
        at
        for meaning in annotated.accepted
        if meaning in caption.places
        for at in caption.places[meaning]
        if not caption.negated[at]
    ]
    candidates = [
        mention for at in sorted(places) if (mention := _mention_at(caption, annotated, at))
    ]
    exact = [mention for mention in candidates if mention.credit == 1.0]
    full = [mention for mention in exact if mention.full]
    if full:
        return tuple(full)
    spelled = _joined_mentions(caption, annotated)
    if spelled:
        return tuple(spelled)
    if annotated.modifiers and annotated.head in _VAGUE_HEADS:
        return ()
    if annotated.modifiers:
        # Without modifiers, a kind says too little: orchids need not be a "potted plant".
        candidates = [one for one in candidates if _plain(caption.meanings[one.head], annotated)]
        exact = [one for one in candidates if one.credit == 1.0]
    return tuple(exact or candidates)


def loose_mentions(caption: CaptionText, annotated: Phrase) -> tuple[CaptionMention, ...]:
    """Mentions and the words that refer back to them ("a horse ... the animal").

    Without mentions: the head's kinds and neighbours without modifiers, the latter with less
    credit.
    """
    direct = mentions(caption, annotated)
    neighbours = dict.fromkeys(similar_nouns(annotated.head), _NEIGHBOUR)
    if direct:
        heads = {mention.head for mention in direct}
        general = {name: credit for name, credit in annotated.accepted.items() if credit < 1.0}
        references = (
            one
            for one in _heads(caption, {**neighbours, **general})
            if one.head
            and one.head not in heads
            and caption.words[one.head - 1] in {"the", "this", "these"}
        )
        return (*direct, *references)
    if annotated.modifiers and annotated.head in _VAGUE_HEADS:
        return ()
    return tuple(_heads(caption, {**neighbours, **annotated.accepted}))


def _heads(caption: CaptionText, accepted: Mapping[str, float]) -> list[CaptionMention]:
    """All places of these meanings outside negations, in order, with or without modifiers."""
    return [
        CaptionMention(at, at, credit, full=False)
        for at, credit in sorted(
            (at, credit) for meaning, credit in accepted.items() for at in caption.stated(meaning)
        )
    ]


def _plain(meaning: str, annotated: Phrase) -> bool:
    """Whether a head alone suffices for the phrase: the same word, or any word for a person."""
    return meaning == annotated.head or meaning in PERSONS
