"""The count that a caption gives for a mention: "two red chairs", "each holding a cue"."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from caliper.lexical.mentions import CaptionMention
from caliper.lexical.text import CaptionText, plural
from caliper.lexical.vocabulary import word_list, word_set
from caliper.lexical.words import PERSONS, STOPWORDS, concept

_UNITS = word_list("""
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
    sixteen seventeen eighteen nineteen
""")
_TENS = word_list("twenty thirty forty fifty sixty seventy eighty ninety")
NUMBERS = {word: value for value, word in enumerate(_UNITS)} | {
    word: 10 * value for value, word in enumerate(_TENS, start=2)
}
NUMBERS |= {"single": 1, "lone": 1, "solitary": 1, "sole": 1, "pair": 2, "couple": 2, "both": 2}
NUMBERS |= {"duo": 2, "twin": 2, "twins": 2, "dual": 2, "trio": 3, "triplet": 3, "quartet": 4}
NUMBERS |= {"dozen": 12, "half-dozen": 6, "hundred": 100}
_ONE = frozenset(("a", "an", "another"))
_BACK = frozenset(("the", "these", "those", "all"))
_SHARING = frozenset(("each", "every", "either", "both", "all"))
_CLAUSE_ENDS = frozenset(",;:()")
_FURTHER = frozenset(("another", "second", "third", "fourth"))
_LEFT_OUT = frozenset((*_FURTHER, "ones"))
_PEOPLE_COUNTS = frozenset(("couple", "duo", "trio", "quartet", "twins"))
_VAGUE = word_set("""
    several some many various numerous multiple few group groups row rows stack stacks pile bunch
    cluster crowd set series collection variety lots other array line assortment
""")
# The count of a measure applies to its contents: "two bowls of porridge".
_MEASURES = word_set("""
    pair pairs couple total bowl bowls cup cups glass glasses plate plates piece pieces slice
    slices bottle bottles pot pots can cans loaf loaves box boxes bag bags jar jars bunch bunches
    sheet sheets dozen sets trays tray basket baskets types kinds out
""")
STOPS = word_set("""
    ; : ( ) and or with in on at is are was were has have by from to for as while near behind
    under beside the his her their its holding containing featuring wearing carrying showing
""")
_PAIRED = frozenset(
    concept(word)
    for word in word_list("""
        shoe boot sneaker cleat sandal heel slipper sock glove mitten earring eye ear eyebrow hand
        palm arm leg foot knee shoulder wing ski
    """)
)
_PARTIAL = word_set("prominent main notable central largest")
_SIDES = word_set("side sides end ends hand arm wrist ear foot shoulder")
# Numbers that measure or name a thing are not counts.
_UNITS_OF = word_set("year years month months percent meters feet inches o'clock am pm")
_NUMBERED = word_set("number platform page room gate route")
_REACH = 5
_FAR = 16


@dataclass(frozen=True, slots=True)
class Count:
    """The count that a caption gives for a mention, and the index of its token.

    `spelled` means more than "a" or "an", `another` that it adds to others, `again` that these
    were counted before ("the two dogs"), `partial` that there are more ("two main towers").
    """

    value: int
    at: int
    sentence: int
    spelled: bool = True
    another: bool = False
    again: bool = False
    partial: bool = False


def number_of(word: str) -> int | None:
    """The value of a number word or digits; None for other words."""
    if word.isdecimal():
        return int(word) if len(word) <= 6 else None
    return NUMBERS.get(word)


def value_at(caption: CaptionText, at: int) -> int | None:
    """The number at a token; "twenty five" is read at its last word."""
    word = caption.words[at]
    value = number_of(word)
    if value is None or caption.quoted[at] or caption.negated[at]:
        return None
    before = caption.words[at - 1] if at else ""
    following = caption.words[at + 1] if at + 1 < len(caption.words) else ""
    if (word.isdecimal() and before in _NUMBERED) or following in _UNITS_OF:
        return None
    if 0 < value < 10 and before in _TENS:
        return value + NUMBERS[before]
    return None if word == "one" and following in {"of", "another"} else value


def count_of(caption: CaptionText, mention: CaptionMention) -> Count | None:
    """The count of a mention: in the word itself ("a couple"), before it, or after it.

    Counts per owner ("three men, each with a cue") are multiplied.
    """
    count = _within(caption, mention) or _before(caption, mention) or _after(caption, mention)
    return _distribute(caption, mention, count)


def _within(caption: CaptionText, mention: CaptionMention) -> Count | None:
    word = caption.words[mention.head]
    if word in _PEOPLE_COUNTS and caption.meanings[mention.head] in PERSONS:
        return Count(NUMBERS[word], mention.head, caption.sentence_of[mention.head])
    return None


def _before(caption: CaptionText, mention: CaptionMention) -> Count | None:
    """The count before a mention, across adjectives and measures but not clauses."""
    sentence = caption.sentence_of[mention.head]
    low = max(caption.sentences[sentence][0], mention.start - _REACH)
    times = 1
    for at in range(mention.start - 1, low - 1, -1):
        word = caption.words[at]
        if word == "pairs":
            times = 2
        value = value_at(caption, at)
        if value is not None:
            partial = not _PARTIAL.isdisjoint(caption.words[at : mention.head])
            again = at > 0 and caption.words[at - 1] in _BACK
            return Count(times * value, at, sentence, again=again, partial=partial)
        if word in _ONE and not plural(caption.words[mention.head]):
            return Count(1, at, sentence, spelled=False, another=word == "another")
        if word in _ONE or word in _VAGUE or word in STOPS or _ends_search(caption, at, low):
            break
    return None


def _ends_search(caption: CaptionText, at: int, low: int) -> bool:
    """Whether an "of" or a comma ends the search.

    "Of" does, except after a measure or a number. A comma does after a plural: the word before
    it is another thing, not an adjective as in "four large, black wheels".
    """
    before = caption.words[at - 1] if at > low else ""
    if caption.words[at] == ",":
        return not before or plural(before)
    return caption.words[at] == "of" and before not in _MEASURES and number_of(before) is None


def _after(caption: CaptionText, mention: CaptionMention) -> Count | None:
    """The count after a mention: "trotters, seven in total", "chairs (4)"."""
    sentence = caption.sentence_of[mention.head]
    high = min(caption.sentences[sentence][1], mention.head + 5)
    for at in range(mention.head + 1, high):
        value = value_at(caption, at)
        if value is not None:
            after = " ".join(caption.words[at + 1 : at + 3])
            explicit = after.startswith("in total") or caption.words[at - 1] in {
                "numbering",
                "totaling",
            }
            if explicit or (caption.words[at - 1] == "(" and after.startswith(")")):
                return Count(value, at, sentence)
            return None
    return None


def _distribute(caption: CaptionText, mention: CaptionMention, count: Count | None) -> Count | None:
    """A count multiplied by its owners: "three men, each with a cue", "on each side"."""
    low, high = caption.sentences[caption.sentence_of[mention.head]]
    behind = min(high - 1, mention.head + _REACH + 1)
    unshared = _SHARING.isdisjoint(caption.words[max(low, mention.start - _FAR) : behind])
    if unshared or (not count and caption.words[max(0, mention.start - 1)] in _BACK):
        return count
    for at in range(mention.head + 1, behind):
        if _shares_out(caption, at):
            return _times(caption, count, at, (low, count.at if count else at))
    for at in range(mention.start - 1, max(low, mention.start - _FAR) - 1, -1):
        if caption.words[at] in _CLAUSE_ENDS:
            return count
        if not _shares_out(caption, at):
            continue
        if count and count.spelled and caption.words[count.at] not in {"one", "pair"}:
            return _times(caption, count, at, (at, count.at))
        before = caption.sentences[max(0, caption.sentence_of[at] - (at == low))][0]
        return _times(caption, count, at, (before, at))
    return count


def _shares_out(caption: CaptionText, at: int) -> bool:
    word, following = caption.words[at], caption.words[at + 1]
    if word == "all":
        return following in {"of", "with", "in"} or following.endswith("ing")
    return word in _SHARING and following != "other"


def _times(
    caption: CaptionText, count: Count | None, at: int, owners_in: tuple[int, int]
) -> Count | None:
    """A count multiplied by the owners that "each" at a token refers to.

    The owners are a number between two tokens, or two sides; without any, the count stays.
    """
    value = count.value if count else 1
    if caption.words[at + 1] in _SIDES:
        owners = 2 if count and value == 1 else 0
    else:
        low, end = owners_in
        owners = _number_before(caption, end, max(low, end - 2 * _FAR))
    return Count(value * owners, at, caption.sentence_of[at]) if owners else count


def _number_before(caption: CaptionText, end: int, low: int) -> int:
    """The nearest number above one before a token, 0 if there is none."""
    values = (value_at(caption, at) for at in range(end - 1, low - 1, -1))
    return next((value for value in values if value and value > 1), 0)


def is_pair(caption: CaptionText, mention: CaptionMention) -> bool:
    """Whether an uncounted plural is a pair of one owner: "his gloves"."""
    if caption.meanings[mention.head] not in _PAIRED or not plural(caption.words[mention.head]):
        return False
    low, high = caption.sentences[caption.sentence_of[mention.head]]
    near = range(max(low, mention.head - _FAR), min(high, mention.head + _FAR))
    return not any(
        caption.words[at] in {"their", "they"}
        or (caption.meanings[at] in PERSONS and plural(caption.words[at]))
        for at in near
    )


def omitted_counts(caption: CaptionText, mentions: tuple[CaptionMention, ...]) -> Iterator[Count]:
    """Counts of mentioned things whose name is omitted: "another sits", "two patterned ones"."""
    sentences = dict.fromkeys(caption.sentence_of[mention.head] for mention in mentions)
    for sentence in sentences:
        low, high = caption.sentences[sentence]
        if _LEFT_OUT.isdisjoint(caption.words[low:high]):
            continue
        for at in range(low + 1, high):
            following = caption.words[at + 1] if at + 1 < high else ""
            if caption.words[at] in _FURTHER and (
                following in STOPWORDS or following == "one" or plural(following)
            ):
                yield Count(1, at, sentence, another=True)
            if caption.words[at] == "ones":
                count = _before(caption, CaptionMention(at, at, 1.0, full=True))
                if count:
                    yield replace(count, another=True)
