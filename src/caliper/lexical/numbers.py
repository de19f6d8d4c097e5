"""object_number and dynamic_object_number: does the caption give the annotated count?

Fig. A3: 1 if the caption describes the number rightly (one may have to count), -1 if it
gives a wrong number, 0 if the object is absent or only vaguely counted ("some").
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from caliper.lexical.finding import RIGHT, SILENT, WRONG, Finding
from caliper.lexical.mentions import Mention, mentions, phrase
from caliper.lexical.text import Parsed, plural
from caliper.lexical.vocabulary import listed, word_set
from caliper.lexical.words import PERSONS

_UNITS = listed("""
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
    sixteen seventeen eighteen nineteen
""")
_TENS = listed("twenty thirty forty fifty sixty seventy eighty ninety")
NUMBERS = {word: value for value, word in enumerate(_UNITS)} | {
    word: 10 * value for value, word in enumerate(_TENS, start=2)
}
NUMBERS |= {"single": 1, "lone": 1, "solitary": 1, "sole": 1, "pair": 2, "couple": 2, "both": 2}
NUMBERS |= {"duo": 2, "twin": 2, "twins": 2, "trio": 3, "triplet": 3, "quartet": 4, "dozen": 12}
NUMBERS |= {"half-dozen": 6, "hundred": 100}
_ONE = frozenset(("a", "an", "another"))
_PEOPLE_COUNTS = frozenset(("couple", "duo", "trio", "quartet", "twins"))
_VAGUE = word_set("""
    several some many various numerous multiple few group groups row rows stack stacks pile bunch
    cluster crowd set series collection variety lots other array line assortment
""")
# A count passes through a measure: "two bowls of porridge".
_MEASURES = word_set("""
    pair pairs couple total bowl bowls cup cups glass glasses plate plates piece pieces slice
    slices bottle bottles pot pots can cans loaf loaves box boxes bag bags jar jars bunch bunches
    sheet sheets dozen sets trays tray basket baskets types kinds out
""")
_STOPS = word_set("""
    ; : ( ) and or with in on at is are was were has have by from to for as while near behind
    under beside the his her their its holding containing featuring wearing carrying showing
""")
_DEFINITE = word_set("the these those both all other")
_MADE_OF = word_set("drawn shaped themed style print printed patterned")
_REACH = 5
_UNCOMMON = 4


@dataclass(frozen=True, slots=True)
class _Count:
    """A count that a caption gives of a mention. `spelled` means more than "a" or "an"."""

    value: int
    sentence: int
    spelled: bool
    another: bool


def number_of(word: str) -> int | None:
    """The value of a number word or of digits, None for other words."""
    if word.isdecimal():
        return int(word) if len(word) <= 6 else None
    return NUMBERS.get(word)


def _value_at(parsed: Parsed, at: int) -> int | None:
    """The number at a token; "twenty five" is read from its last word."""
    word = parsed.words[at]
    value = number_of(word)
    if value is None or parsed.quoted[at] or parsed.negated[at]:
        return None
    if at and 0 < value < 10 and parsed.words[at - 1] in _TENS:
        return value + NUMBERS[parsed.words[at - 1]]
    if word == "one" and at + 1 < len(parsed.words) and parsed.words[at + 1] in {"of", "another"}:
        return None
    return value


def _count(parsed: Parsed, mention: Mention) -> _Count | None:
    """The count of a mention: before it, in the word itself ("a couple"), or after it."""
    before = _before(parsed, mention)
    if before is not None:
        return before
    word = parsed.words[mention.head]
    if word in _PEOPLE_COUNTS and parsed.meanings[mention.head] in PERSONS:
        return _Count(NUMBERS[word], parsed.sentence_of[mention.head], spelled=True, another=False)
    return _postposed(parsed, mention)


def _before(parsed: Parsed, mention: Mention) -> _Count | None:
    """The count before a mention, over adjectives and measures, not over clauses."""
    sentence = parsed.sentence_of[mention.head]
    low = max(parsed.sentences[sentence][0], mention.start - _REACH)
    for at in range(mention.start - 1, low - 1, -1):
        word = parsed.words[at]
        value = _value_at(parsed, at)
        if value is not None:
            return _Count(value, sentence, spelled=True, another=False)
        if word in _ONE and not plural(parsed.words[mention.head]):
            return _Count(1, sentence, spelled=False, another=word == "another")
        if word in _ONE or word in _VAGUE or word in _STOPS or _ends_search(parsed, at, low):
            break
    return None


def _ends_search(parsed: Parsed, at: int, low: int) -> bool:
    """Whether an "of" or a comma ends the search.

    "Of" does but after a measure or a number; a comma does after a plural: what stands
    before it is another thing, not an adjective ("four large, black wheels").
    """
    before = parsed.words[at - 1] if at > low else ""
    if parsed.words[at] == ",":
        return not before or plural(before)
    return parsed.words[at] == "of" and before not in _MEASURES and number_of(before) is None


def _postposed(parsed: Parsed, mention: Mention) -> _Count | None:
    """The count after a mention: "trotters, seven in total", "chairs (4)"."""
    sentence = parsed.sentence_of[mention.head]
    high = min(parsed.sentences[sentence][1], mention.head + 5)
    for at in range(mention.head + 1, high):
        value = _value_at(parsed, at)
        if value is not None:
            after = " ".join(parsed.words[at + 1 : at + 3])
            told = after.startswith("in total") or parsed.words[at - 1] in {"numbering", "totaling"}
            if told or (parsed.words[at - 1] == "(" and after.startswith(")")):
                return _Count(value, sentence, spelled=True, another=False)
            return None
    return None


def _sums(counts: Iterable[_Count]) -> set[int]:
    """What enumerations add up to: within each sentence, and over the caption."""
    by_sentence: dict[int, int] = {}
    total = 0
    for count in counts:
        by_sentence[count.sentence] = by_sentence.get(count.sentence, 0) + count.value
        total += count.value
    return {*by_sentence.values(), total}


def _stated_anywhere(parsed: Parsed, number: int) -> list[int]:
    """Positions of the number outside quotations and negations, and not a year or ordinal."""
    return [at for at in range(len(parsed.words)) if _value_at(parsed, at) == number]


def judge_number(parsed: Parsed, element: str, named: str, *, video: bool) -> Finding:
    """Score a count (Fig. A3, object number), over an image or a whole `video`.

    The annotated number anywhere with the object named is right, unless the object itself
    carries another number and the annotated one stands in other sentences. Another number
    right before the noun is wrong. Counts in an enumeration add up; "a" is one.
    """
    digits = re.search(r"\d{1,6}", element)
    number = int(digits.group()) if digits else number_of(element.strip().lower())
    found = tuple(
        one for one in mentions(parsed, phrase(named)) if not _only_describes(parsed, one)
    )
    if number is None or not found:
        return Finding(SILENT, f"The caption does not mention {named}.")
    counts = [count for mention in found if (count := _count(parsed, mention)) is not None]
    spelled = [count for count in counts if count.spelled]
    told = ", ".join(str(count.value) for count in counts)
    if any(count.value == number for count in spelled):
        return Finding(RIGHT, f"The caption gives {number} for {named}.")
    if number > 1 and number in _sums(counts) and (spelled or not _crowded(parsed, found)):
        return Finding(RIGHT, f"The caption's counts of {named} ({told}) add up to {number}.")
    if number > 1 and _elsewhere(parsed, found, number, counts):
        return Finding(RIGHT, f"The caption names {named} and the number {number}.")
    if spelled:
        return Finding(WRONG, f"The caption gives {told} for {named}, not {number}.")
    return _indefinite(parsed, found, counts, number, video=video)


def _only_describes(parsed: Parsed, mention: Mention) -> bool:
    """Whether a mention only describes another thing: "two horse-drawn carriages"."""
    return not _MADE_OF.isdisjoint(parsed.words[mention.head + 1 : mention.head + 2])


def _crowded(parsed: Parsed, found: tuple[Mention, ...]) -> bool:
    """Whether an uncounted plural ("people wait, a man reads") leaves the sum open.

    One with an article ("the passengers") may be those that are counted.
    """
    return any(
        plural(parsed.words[mention.head])
        and _count(parsed, mention) is None
        and parsed.words[max(0, mention.start - 1)] not in _DEFINITE
        for mention in found
    )


def _elsewhere(
    parsed: Parsed, found: tuple[Mention, ...], number: int, counts: list[_Count]
) -> bool:
    """Whether the number stands elsewhere: anywhere if the object has no count of its own,
    though two and three are too common to count far away when they count another thing.

    Beside another count it must stand in a sentence of the object, beside "a" it must not
    belong to another thing.
    """
    places = _stated_anywhere(parsed, number)
    sentences = {parsed.sentence_of[mention.head] for mention in found}
    if not counts:
        near = {number + step for number in sentences for step in (-1, 0, 1)}
        return any(
            number >= _UNCOMMON or parsed.sentence_of[at] in near or not _belongs(parsed, at)
            for at in places
        )
    if any(count.spelled for count in counts):
        return any(parsed.sentence_of[at] in sentences for at in places)
    return any(not _belongs(parsed, at) for at in places)


def _belongs(parsed: Parsed, at: int) -> bool:
    """Whether a number counts a plural that follows it closely."""
    for word in parsed.words[at + 1 : at + 6]:
        if word in _STOPS:
            return False
        if plural(word):
            return True
    return False


def _indefinite(
    parsed: Parsed, found: tuple[Mention, ...], counts: list[_Count], number: int, *, video: bool
) -> Finding:
    """Score a caption that spells no number: "a cup" is one, "cups" is vague.

    For a greater number "a cup" is another count in an image; over a video it is none, for more
    may come, but several in a sentence are one.
    """
    uncounted = any(plural(parsed.words[mention.head]) for mention in found)
    total = sum(count.value for count in counts)
    if number == 1:
        if any(count.another for count in counts):
            return Finding(WRONG, f"The caption tells of {total} or more.")
        if counts or not uncounted:
            return Finding(RIGHT, "The caption tells of one.")
        return Finding(SILENT, "The caption gives no specific number.")
    listed_apart = any(count.another for count in counts) or len(counts) > len(
        {count.sentence for count in counts}
    )
    if (listed_apart or (counts and not video)) and not uncounted:
        return Finding(WRONG, f"The caption tells of {total}, not {number}.")
    return Finding(SILENT, "The caption gives no specific number.")
