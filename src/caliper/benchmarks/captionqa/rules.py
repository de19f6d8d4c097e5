"""The lexical reader: find the option that the caption alone supports (paper 3.4).

The question's words select the relevant sentences, which are searched for the words that
distinguish each option from the others. Without support the answer is "Cannot answer from the
caption".
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from functools import lru_cache

from caliper.benchmarks.captionqa.questions import CANNOT
from caliper.core.question import Answer, Ask, Reply
from caliper.lexical.colours import colours_on
from caliper.lexical.counts import number_of
from caliper.lexical.mentions import content, mentions, phrase
from caliper.lexical.ocr import normal
from caliper.lexical.overlap import credits_at, share, weigh
from caliper.lexical.shades import FAMILIES
from caliper.lexical.text import CaptionText, parse, words_of
from caliper.lexical.vocabulary import word_list
from caliper.lexical.words import STOPWORDS, concept, related_meanings

_QUESTION_WORDS = frozenset(
    concept(word)
    for word in word_list("""
        what which how who where when why many much kind type color shade image picture photo
        scene caption describe following best statement true visible present shown seen appear
        depict main primary primarily overall correct number count question option there most
        likely can any does is are image's displayed located position according document page
        product
    """)
)
_ENOUGH = 0.5
_YES_ENOUGH = 0.7
_FAR = 50
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_COLOUR_QUESTION = re.compile(r"\bcolou?rs?\b|\bshade\b|\bhue\b")
_COUNT_QUESTION = re.compile(r"\bhow many\b|\bnumber of\b|\bcount of\b|\bquantity\b")


def reply_to(ask: Ask) -> Answer:
    """Reply to an ask with the letter of an option."""
    payload = ask.question.payload
    return Reply(choose(parse(ask.fields["caption"]), payload.question, payload.options))


def choose(parsed: CaptionText, question: str, options: Sequence[str]) -> str:
    """Return the letter of the chosen option (its 1-based number beyond 26 options).

    For yes/no options, yes means that the caption states what is asked. Otherwise it is the
    option with the most support, if that is sufficient, else "Cannot answer from the caption" or,
    if that is not offered, the best guess.
    """
    place = _yes_or_no(parsed, question, options)
    if place is None:
        place = _best(parsed, question, options)
    return _LETTERS[place] if place < len(_LETTERS) else str(place + 1)


def _yes_or_no(parsed: CaptionText, question: str, shown: Sequence[str]) -> int | None:
    firsts = [next(iter(words_of(option)), "") for option in shown]
    if len(shown) > 3 or "yes" not in firsts or "no" not in firsts or CANNOT in shown:
        return None
    topic_weights = weigh(_topic(question))
    word_credits = credits_at(parsed, topic_weights)
    numbers = sorted({number for here in word_credits.values() for number in here})
    best = max(
        (share(topic_weights, word_credits, (number, number + 1)) for number in numbers),
        default=0.0,
    )
    return firsts.index("yes" if best >= _YES_ENOUGH else "no")


@lru_cache(maxsize=2048)
def _topic(question: str) -> str:
    """Return the words of a question that describe its topic."""
    topic_words = [word for word in words_of(question) if concept(word) not in _QUESTION_WORDS]
    return " ".join(word for word in topic_words if word not in STOPWORDS)


def _relevance(parsed: CaptionText, question: str) -> Mapping[int, float]:
    """Rate how much of the question's topic each sentence, or the one before, has: 0 to 1."""
    topic_weights = weigh(_topic(question))
    word_credits = credits_at(parsed, topic_weights)
    relevance = {}
    for number in range(len(parsed.sentences)):
        here = share(topic_weights, word_credits, (number,))
        before = share(topic_weights, word_credits, (number - 1,)) if number else 0.0
        relevance[number] = max(here, 0.6 * before)
    return relevance


def _best(parsed: CaptionText, question: str, shown: Sequence[str]) -> int:
    supports = _supports(parsed, question, shown)
    real = [place for place, option in enumerate(shown) if option != CANNOT]
    best = max(real, key=lambda place: (supports[place], -place), default=0)
    if CANNOT not in shown:
        return best
    others = [supports[place] for place in real if place != best]
    clear = supports[best] > max(others, default=0.0)
    return best if supports[best] >= _ENOUGH and clear else list(shown).index(CANNOT)


def _supports(parsed: CaptionText, question: str, shown: Sequence[str]) -> list[float]:
    relevance = _relevance(parsed, question)
    lowered = question.lower()
    if _COUNT_QUESTION.search(lowered):
        return [_count_support(parsed, question, option, relevance) for option in shown]
    if _COLOUR_QUESTION.search(lowered):
        direct = [_colour_support(parsed, question, option) for option in shown]
        if any(direct):
            return direct
    meanings_of = {option: content(option) for option in shown if option != CANNOT}
    frequency: dict[str, int] = {}
    for meanings in meanings_of.values():
        for meaning in meanings:
            frequency[meaning] = frequency.get(meaning, 0) + 1
    topic = set(content(_topic(question)))
    return [
        0.0
        if option == CANNOT
        else max(
            _word_support(parsed, meanings_of[option], frequency, topic, relevance),
            _literal_support(parsed, option),
        )
        for option in shown
    ]


def _word_support(
    parsed: CaptionText,
    meanings: Sequence[str],
    frequency: Mapping[str, int],
    topic: set[str],
    relevance: Mapping[int, float],
) -> float:
    """Return the weighted share of an option's words that the caption has, 0 to 1.

    Words that occur in several options or in the question weigh little. A word counts in full in
    a sentence about the question's topic, and a little more than half elsewhere.
    """
    total = supported = 0.0
    for meaning in meanings:
        weight = 1.0 / frequency[meaning] ** 2 * (0.25 if meaning in topic else 1.0)
        best = 0.0
        for related_meaning, credit in related_meanings(meaning).items():
            for at in parsed.stated(related_meaning):
                near = relevance.get(parsed.sentence_of[at], 0.0)
                best = max(best, credit * (0.55 + 0.45 * min(1.0, 1.6 * near)))
        total += weight
        supported += weight * best
    return supported / total if total else 0.0


def _literal_support(parsed: CaptionText, option: str) -> float:
    """Return high support if the caption contains the option's text of 3 or more characters."""
    needle = normal(option)
    if len(needle) >= 3 and f" {needle} " in f" {normal(parsed.text)} ":
        return 0.9 if " " in needle or any(char.isdigit() for char in needle) else 0.6
    return 0.0


def _count_support(
    parsed: CaptionText, question: str, option: str, relevance: Mapping[int, float]
) -> float:
    """Return the support for a count: its number in a sentence about the counted things."""
    values = [value for word in words_of(option) if (value := number_of(word)) is not None]
    if option == CANNOT or not values:
        return 0.0
    best = 0.0
    for at, word in enumerate(parsed.words):
        if number_of(word) == values[0] and not parsed.quoted[at] and not parsed.negated[at]:
            near = relevance.get(parsed.sentence_of[at], 0.0)
            if near:
                best = max(best, 0.45 + 0.5 * near - 0.002 * _distance(parsed, question, at))
    return best


def _distance(parsed: CaptionText, question: str, at: int) -> int:
    """Return the distance in tokens from a number to the next word of the question's topic."""
    distances = [_FAR]
    for meaning in content(_topic(question)):
        places = parsed.places.get(meaning, ())
        following = bisect_right(places, at)
        if following < len(places):
            distances.append(places[following] - at)
    return min(distances)


def _colour_support(parsed: CaptionText, question: str, option: str) -> float:
    """Return the support for a colour: stated of a thing that the question names."""
    colours = [FAMILIES[word] for word in words_of(option) if word in FAMILIES]
    if option == CANNOT or not colours:
        return 0.0
    topic = content(_topic(question))
    best = 0.0
    for meaning in topic:
        for mention in mentions(parsed, phrase(meaning)):
            stated_colours = [FAMILIES[word] for word in colours_on(parsed, mention)]
            exact = sum(word in words_of(option) for word in colours_on(parsed, mention))
            matches = sum(
                any(not one.isdisjoint(other) for other in stated_colours) for one in colours
            )
            if matches:
                best = max(best, 0.8 * matches / len(colours) + 0.05 * min(exact, 3))
    return best
