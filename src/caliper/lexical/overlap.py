"""How much of an annotated text the sentences of a caption contain.

It is the weighted share of content words found in a sentence, a pair of neighbouring sentences, and
the whole caption; distinctive words weigh more.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType

from caliper.lexical.mentions import content
from caliper.lexical.text import CaptionText
from caliper.lexical.vocabulary import word_list
from caliper.lexical.words import GENERIC_VERBS, PERSONS, PRONOUNS, concept, related_meanings

_GENERIC_WEIGHT = 0.35
_PERSON_WEIGHT = 0.4
_PRONOUN = 0.8
_LITTLE = 1.5
_MANNERS = frozenset(
    concept(word)
    for word in word_list("""
        forward backward slowly quickly together ahead aside away front side direction left right
        gently carefully suddenly again back one two three four five six first second next then
        other something someone thing way time air place area
    """)
)
_IN_SENTENCE, _IN_PAIR, _ANYWHERE = 0.5, 0.3, 0.2


@dataclass(frozen=True, slots=True)
class WeighedText:
    """An annotated text: the weight of each content meaning, and the meanings accepted for it."""

    weights: Mapping[str, float]
    accepted: Mapping[str, Mapping[str, float]]
    total: float


@lru_cache(maxsize=2048)
def weigh(text: str) -> WeighedText:
    """Weigh a text's content words; generic verbs and words for persons weigh little."""
    weights = {meaning: weight(meaning) for meaning in content(text)}
    accepted = {meaning: related_meanings(meaning) for meaning in weights}
    return WeighedText(MappingProxyType(weights), MappingProxyType(accepted), sum(weights.values()))


def weight(meaning: str) -> float:
    """The weight of a meaning (0 to 1): how distinctive it is."""
    if meaning in GENERIC_VERBS or meaning in _MANNERS:
        return _GENERIC_WEIGHT
    return _PERSON_WEIGHT if meaning in PERSONS else 1.0


def credits_at(caption: CaptionText, annotated: WeighedText) -> dict[str, dict[int, float]]:
    """The credit per annotated meaning and sentence (by index)."""
    earned: dict[str, dict[int, float]] = {}
    for meaning, accepted in annotated.accepted.items():
        here: dict[int, float] = {}
        for stated, credit in accepted.items():
            for at in caption.places.get(stated, ()):
                number = caption.sentence_of[at]
                if not caption.negated[at] and credit > here.get(number, 0.0):
                    here[number] = credit
        if meaning in PERSONS:
            for pronoun in PRONOUNS:
                for at in caption.places.get(pronoun, ()):
                    here.setdefault(caption.sentence_of[at], _PRONOUN)
        if here:
            earned[meaning] = here
    return earned


def share(
    annotated: WeighedText,
    earned: Mapping[str, Mapping[int, float]],
    sentences: Iterable[int] | None,
) -> float:
    """The weighted share (0 to 1) of annotated meanings in these sentences; None means all."""
    if not annotated.total:
        return 0.0
    chosen = None if sentences is None else tuple(sentences)
    total = 0.0
    for meaning, here in earned.items():
        if chosen is None:
            best = max(here.values())
        else:
            best = max((here.get(number, 0.0) for number in chosen), default=0.0)
        total += annotated.weights[meaning] * best
    return total / annotated.total


def blended_score(caption: CaptionText, text: str) -> float:
    """`blend` for a text whose content words all count."""
    annotated = weigh(text)
    return blend(annotated, credits_at(caption, annotated))


def blend(annotated: WeighedText, earned: Mapping[str, Mapping[int, float]]) -> float:
    """Blend (0 to 1) the shares of the best sentence, the best pair, and the whole caption.

    A text of generic words only ("the man looks at the woman") must be in one sentence.
    """
    if not earned:
        return 0.0
    numbers = sorted({number for here in earned.values() for number in here})
    single = max(share(annotated, earned, (number,)) for number in numbers)
    pair = max(share(annotated, earned, (number, number + 1)) for number in numbers)
    pair = max(pair, *(share(annotated, earned, (number - 1, number)) for number in numbers))
    whole = share(annotated, earned, None)
    blended_share = _IN_SENTENCE * single + _IN_PAIR * pair + _ANYWHERE * whole
    return min(single, blended_share) if annotated.total < _LITTLE else blended_share
