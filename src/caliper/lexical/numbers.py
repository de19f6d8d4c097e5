"""object_number and dynamic_object_number: does the caption give the annotated count?

Fig. A3: 1 if the caption gives the right number (one may have to count), -1 if it gives a wrong
number, 0 if the object is absent or only vaguely counted ("some").
"""

from __future__ import annotations

import re
from itertools import pairwise

from caliper.lexical.counts import (
    STOPS,
    Count,
    count_of,
    is_pair,
    number_of,
    omitted_counts,
    value_at,
)
from caliper.lexical.judgements import RIGHT, SILENT, WRONG, Judgement
from caliper.lexical.mentions import CaptionMention, mentions, phrase
from caliper.lexical.text import CaptionText, plural
from caliper.lexical.vocabulary import word_set
from caliper.lexical.words import PERSONS, STOPWORDS, related_meanings, similar_nouns

_DEFINITE = word_set("the these those both all other")
_OWNERS = word_set("his her its their")
_OTHERS = word_set("others additional remaining")
_MADE_OF = word_set("drawn shaped themed style print printed patterned")
_ANYTHING = word_set("ones items objects things pieces figures individuals copies examples")
_TOTAL = word_set("are only exactly")
_REACH = 5
_CLAUSES = 40


_MentionCounts = list[tuple[CaptionMention, Count | None]]


def judge_number(caption: CaptionText, element: str, object_name: str) -> Judgement:
    """Score a count (Fig. A3, object number and dynamic object number).

    Right are a mention's own count, several counts that add up to the number, and the number
    near the object if it counts nothing else. Any other count is wrong, unless there may be
    more. "A" counts as one; for a larger number, only in a list.
    """
    digits = re.search(r"\d{1,6}", element)
    number = int(digits.group()) if digits else number_of(element.strip().lower())
    matches = tuple(
        one for one in mentions(caption, phrase(object_name)) if not _only_describes(caption, one)
    )
    if number is None or not matches:
        return Judgement(SILENT, f"The caption does not mention {object_name}.")
    mention_counts = [(mention, count_of(caption, mention)) for mention in matches]
    extra = list(omitted_counts(caption, matches))
    explicit = [count for _, count in mention_counts if count is not None and count.spelled]
    if number > 1 or explicit:
        reason = _counts_to(caption, mention_counts, extra, number, object_name)
        if reason:
            return Judgement(RIGHT, reason)
    if not explicit:
        return _indefinite(caption, mention_counts, extra, number)
    values = ", ".join(str(count.value) for count in explicit)
    if sum(count.value for count in explicit) < number and _is_open(
        caption, mention_counts, explicit
    ):
        return Judgement(SILENT, f"The caption counts some of {object_name} ({values}), not all.")
    return Judgement(WRONG, f"The caption gives {values} for {object_name}, not {number}.")


def _counts_to(
    caption: CaptionText,
    mention_counts: _MentionCounts,
    extra: list[Count],
    number: int,
    object_name: str,
) -> str:
    """Why the caption's count is the annotated one; empty if it is not."""
    explicit = [count for _, count in mention_counts if count is not None and count.spelled]
    if any(count.value == number for count in explicit):
        return f"The caption gives {number} for {object_name}."
    if number == 1:
        return ""
    if number == 2 and any(
        count is None and is_pair(caption, one) for one, count in mention_counts
    ):
        return f"The caption names {object_name}, which come in pairs."
    if number in _totals(caption, mention_counts, extra) and (
        explicit or not _vague(caption, mention_counts)
    ):
        return f"The caption's counts of {object_name} add up to {number}."
    if _is_nearby(caption, mention_counts, number, object_name):
        return f"The caption names {object_name} and the number {number}."
    return ""


def _only_describes(caption: CaptionText, mention: CaptionMention) -> bool:
    """Whether a mention only describes another thing: "two horse-drawn carriages"."""
    return not _MADE_OF.isdisjoint(caption.words[mention.head + 1 : mention.head + 2])


def _totals(caption: CaptionText, mention_counts: _MentionCounts, extra: list[Count]) -> set[int]:
    """The possible totals of enumerations, within each sentence and over the caption.

    A thing mentioned again with "a", or as a part of a counted one, need not be another; a thing
    that is told apart ("the desk lamp", "her son") may be.
    """
    counts = [count for _, count in mention_counts if count is not None and not count.again] + extra
    by_sentence: dict[int, int] = {}
    for count in counts:
        by_sentence[count.sentence] = by_sentence.get(count.sentence, 0) + count.value
    certain = sum(count.value for count in counts if count.spelled or count.another)
    many = any(count.spelled and count.value > 1 for count in counts)
    separate = {
        _name(caption, mention)
        for mention, count in mention_counts
        if (count is None and not many and _is_separate(caption, mention))
        or (count is not None and not count.spelled and not count.another)
    }
    everything = sum(count.value for count in counts)
    return {*by_sentence.values(), everything, certain, certain + len(separate)}


def _name(caption: CaptionText, mention: CaptionMention) -> tuple[str, ...]:
    """The words of a mention, from its head back over its adjectives."""
    low = caption.sentences[caption.sentence_of[mention.head]][0]
    words = [caption.words[mention.head]]
    for at in range(mention.head - 1, max(low, mention.head - _REACH) - 1, -1):
        if caption.words[at] in STOPWORDS or caption.words[at] in STOPS:
            break
        words.append(caption.words[at])
    return tuple(words)


def _is_separate(caption: CaptionText, mention: CaptionMention) -> bool:
    """Whether an uncounted mention is a separate thing: "the desk lamp", "her son"."""
    name = _name(caption, mention)
    before = caption.words[mention.head - len(name)] if mention.head >= len(name) else ""
    has_modifier = (
        before == "the" and len(name) > 1 and caption.meanings[mention.head] not in PERSONS
    )
    return not plural(name[0]) and (has_modifier or before in _OWNERS)


def _vague(caption: CaptionText, mention_counts: _MentionCounts) -> bool:
    """Whether an uncounted plural ("people wait, a man reads") leaves the sum open.

    A plural with an article ("the passengers") may refer to those already counted.
    """
    return any(count is None and _is_uncounted(caption, one) for one, count in mention_counts)


def _is_uncounted(caption: CaptionText, mention: CaptionMention) -> bool:
    before = caption.words[max(0, mention.start - 1)]
    return plural(caption.words[mention.head]) and before not in _DEFINITE


def _is_open(caption: CaptionText, mention_counts: _MentionCounts, explicit: list[Count]) -> bool:
    """Whether there may be more than those counted.

    "Others" or an uncounted plural of the same name says so, unless "there are" gives the total.
    """
    if any(caption.words[max(0, count.at - 1)] in _TOTAL for count in explicit):
        return False
    names = {caption.meanings[one.head] for one, count in mention_counts if count is not None}
    return any(
        count is None and caption.meanings[one.head] in names and _is_uncounted(caption, one)
        for one, count in mention_counts
    ) or any(_says_more(caption, count) for count in explicit)


def _says_more(caption: CaptionText, count: Count) -> bool:
    """Whether the sentence of a count says that there are more: "others", "and more lie"."""
    words = caption.words[count.at : min(caption.sentences[count.sentence][1], count.at + _CLAUSES)]
    return (
        count.partial
        or not _OTHERS.isdisjoint(words)
        or any(one in {"and", ","} and two == "more" for one, two in pairwise(words))
    )


def _is_nearby(
    caption: CaptionText, mention_counts: _MentionCounts, number: int, object_name: str
) -> bool:
    """Whether the number is in or next to a sentence with the object and counts nothing else."""
    sentences = {caption.sentence_of[mention.head] for mention, _ in mention_counts}
    last = len(caption.sentences)
    near = {place + step for place in sentences for step in (-1, 0, 1)} & {*range(last)}
    head = phrase(object_name).head
    names = {*related_meanings(head), *similar_nouns(head)}
    return any(
        value_at(caption, at) == number and not _counts_another(caption, at, names)
        for place in near
        for at in range(*caption.sentences[place])
    )


def _counts_another(caption: CaptionText, at: int, names: set[str]) -> bool:
    """Whether a number counts a plural shortly after it that is none of these names."""
    for place in range(at + 1, min(at + 6, len(caption.words))):
        word = caption.words[place]
        if word in STOPS:
            return False
        if plural(word):
            return word not in _ANYTHING and caption.meanings[place] not in names
    return False


def _indefinite(
    caption: CaptionText, mention_counts: _MentionCounts, extra: list[Count], number: int
) -> Judgement:
    """Score a caption without a number word: "a cup" is one, "cups" is vague.

    For a larger number, "a cup" gives no count, since more may follow; several in one sentence do.
    """
    counts = [count for _, count in mention_counts if count is not None] + extra
    uncounted = any(plural(caption.words[mention.head]) for mention, _ in mention_counts)
    total = sum(count.value for count in counts)
    more = any(count.another for count in counts)
    if number == 1 and not more and (counts or not uncounted):
        return Judgement(RIGHT, "The caption tells of one.")
    listed_apart = more or len(counts) > len({count.sentence for count in counts})
    if listed_apart and not uncounted:
        return Judgement(WRONG, f"The caption tells of {total}, not {number}.")
    return Judgement(SILENT, "The caption gives no specific number.")
