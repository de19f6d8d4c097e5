"""The lexical judge: rate how much of a phrase a sentence contains, 0 to 5 (paper Fig. 3).

0 is "completely lacks similar concepts", 5 "extremely has similar concepts".
"""

from __future__ import annotations

from caliper.core.question import Answer, Ask, Reply
from caliper.lexical.counts import number_of
from caliper.lexical.mentions import mentions, phrase
from caliper.lexical.overlap import credits_at, share, weigh
from caliper.lexical.shades import FAMILIES
from caliper.lexical.text import CaptionText, parse, words_of

_THRESHOLDS = (0.08, 0.3, 0.5, 0.7, 0.9)
_CONTRADICTION = 0.2


def reply_to(ask: Ask) -> Answer:
    """Reply to an ask with the digit of the score."""
    return Reply(str(rate_phrase(parse(ask.fields["sentence"]), ask.fields["phrase"])))


def rate_phrase(parsed: CaptionText, phrase_text: str) -> int:
    """Rate from 0 to 5 the share of the phrase's meanings that the sentence has.

    Each word counts once, distinctive ones more. A colour or count of the phrase that the sentence
    replaces with another costs a fifth. The thing itself, without any of its attributes, is worth
    1 or 2 of 5, depending on how much else the phrase says.
    """
    weights = weigh(phrase_text)
    portion = share(weights, credits_at(parsed, weights), None)
    if portion and _contradicts(parsed, phrase_text):
        portion = max(0.0, portion - _CONTRADICTION)
    if not portion and mentions(parsed, phrase(phrase_text)):
        portion = _THRESHOLDS[0]
    return sum(portion >= threshold for threshold in _THRESHOLDS)


def _contradicts(parsed: CaptionText, phrase_text: str) -> bool:
    """Whether the sentence has colours, or counts, but none of those in the phrase."""
    words = words_of(phrase_text)
    return _replaced(
        [FAMILIES[word] for word in words if word in FAMILIES],
        [FAMILIES[word] for word in parsed.words if word in FAMILIES],
    ) or _replaced(
        [frozenset((str(number_of(word)),)) for word in words if number_of(word) is not None],
        [frozenset((str(number_of(w)),)) for w in parsed.words if number_of(w) is not None],
    )


def _replaced(expected: list[frozenset[str]], stated: list[frozenset[str]]) -> bool:
    return bool(expected and stated) and not any(
        not value.isdisjoint(other) for value in expected for other in stated
    )
