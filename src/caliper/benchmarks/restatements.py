"""Interpret sentences of a reply that restate the question (ours).

"The stove is not turned on." answers No to "Is the stove turned on?", but "The hydrant is
yellow." says nothing about the car beside the hydrant.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence

from caliper.benchmarks.option_texts import OptionMention
from caliper.benchmarks.spellings import singular, stem, tokens

_ASKS_YES_OR_NO = re.compile(
    r"\s*(?:is|are|was|were|does|do|did|has|have|had|can)\b", re.IGNORECASE
)
_IN_THE_PICTURE = re.compile(
    r"\b(?:in|of|from|on)\s(?:the|this)\s(?:picture|image|photo|photograph|scene|video|frame|caption)\b",
    re.IGNORECASE,
)
_AUXILIARIES = frozenset(
    ("is", "are", "was", "were", "be", "being", "been", "does", "do", "did", "can", "there")
)
_HAVING = frozenset(["have", "has", "had", "having", "with"])
_ARTICLES = frozenset(["a", "an", "the", "any", "some", "of"])
_ANYBODY = frozenset(["anyone", "anybody", "anything", "someone", "somebody", "something"])
_NEGATIONS = frozenset(
    ("not", "no", "never", "without", "neither", "nor", "nobody", "none", "nothing", "cannot")
)
_NO_SUCH_THING = frozenset(["no", "nobody", "none", "nothing", "without"])
_SENTENCE = re.compile(r"[^.!?;\n]++[.!?;\n]?")
_UNSURE = re.compile(
    r"\b(?:if|whether|unless|may|might|could|would|should|maybe|perhaps|possibly|likely|probably"
    r"|possib(?:le|ility)|partly|partially|half|slightly|almost|nearly|barely|only|once|used|earlier|later"
    r"|options?|choices?|questions?|asks?|claims?|assum\w{1,5}|both|either|or)\b|\?",
    re.IGNORECASE,
)
_LONGEST_GAP = 4
_LANDMARK = re.compile(
    r"\b(?:next\sto|near|beside|behind|under|above|below|on|in|by|with|holding|opposite)"
    r"\s(?:the|a|an)\s(?:\w{1,20}\s)??(?P<place>\w{3,20})(?=\s|\?|\Z)|\b(?P<owner>\w{3,20})['\u2019]s\s\w",
    re.IGNORECASE,
)
_SUBJECT = re.compile(
    r"(?:\A|[.!?,;:\n]\s{0,3}|\b(?:that|and|but|while|whereas|because|since)\s)"
    r"(?:the|an?)\s(?:\w{1,20}\s)?(\w{3,20})\s(?:is|are|was|were)\s(?:\w{1,12}ly\s)?"
    r"(?:(?:behind|in\sfront\sof|above|under|below|in|on|inside)\s)?(?:an?\s|the\s)?\Z",
    re.IGNORECASE,
)
_LONGEST_SUBJECT = 80


def answers_by_statement(
    text: str, question: str, gaps: Sequence[tuple[int, int]]
) -> Iterator[tuple[int, bool]]:
    """Yield the offset of each sentence that answers a yes/no question, and whether it affirms.

    Such a sentence has the question's words in order, with few words in between. A sentence is
    skipped if it is unsure, denies something else, or overlaps one of the `gaps` (says that the
    caption does not state it).
    """
    orders, of_any = _question_words(question)
    if not orders:
        return
    for sentence in _SENTENCE.finditer(text):
        first = bisect_left(gaps, (sentence.start(), 0))
        abstains = first < len(gaps) and gaps[first][0] < sentence.end()
        if abstains or _UNSURE.search(sentence[0]):
            continue
        words = [token.word for token in tokens(sentence[0]) if token.word not in _ARTICLES]
        stems = [_stem(word) for word in words]
        ends = (_last_of(order, stems) for order in orders)
        last = next((at for at in ends if at is not None), None)
        denials = [at for at, word in enumerate(words) if _denies(word)]
        if last is None or len(denials) > 1 or (denials and denials[0] > last):
            continue
        if of_any and denials and words[denials[0]] not in _NO_SUCH_THING:
            continue
        yield sentence.start(), not denials


def _question_words(question: str) -> tuple[list[list[str]], bool]:
    """Return the word orders a statement may repeat, and whether the question asks for "any".

    Words come in the question's order or inverted: "the house has a door", "a door is in the
    house".
    """
    if not _ASKS_YES_OR_NO.match(question):
        return [], False
    words = [token.word for token in tokens(_IN_THE_PICTURE.sub("", question))]
    if any(map(_denies, words)) or "or" in words:
        return [], False
    of_any = bool({"any", *_ANYBODY} & set(words))
    content = [word for word in words[1:] if word not in _AUXILIARIES | _ARTICLES | _ANYBODY]
    stems = [_stem(word) for word in content]
    at = stems.index("have") if "have" in stems else 0
    orders = [stems, [*stems[at + 1 :], *stems[:at]]] if at else [stems]
    return orders if stems else [], of_any


def _stem(word: str) -> str:
    return "have" if word in _HAVING else stem(word)


def _denies(word: str) -> bool:
    return word in _NEGATIONS or word.endswith("n't")


def _last_of(pattern: Sequence[str], words: Sequence[str]) -> int | None:
    """Return the index of the pattern's last word if all occur in order and close together."""
    for first in (at for at, word in enumerate(words) if word == pattern[0]):
        last = first
        for word in pattern[1:]:
            ahead = words[last + 1 : last + 1 + _LONGEST_GAP]
            if word not in ahead:
                break
            last += ahead.index(word) + 1
        else:
            return last
    return None


def landmarks(question: str) -> frozenset[str]:
    """Return the things a question names only for reference: "next to the X", "the X's handle"."""
    matches = _LANDMARK.finditer(question)
    return frozenset(singular((match["place"] or match["owner"]).casefold()) for match in matches)


def is_about(text: str, at: int, others: frozenset[str]) -> bool:
    """Whether the sentence up to the offset is about one of `others`: "the hydrant is yellow"."""
    subject = _SUBJECT.search(text, max(0, at - _LONGEST_SUBJECT), at)
    return subject is not None and singular(subject[1].casefold()) in others


_PLAIN_END = re.compile(
    r"[.!?\n](?!\w)|[;\u3002\uff01\uff1f]|,?\s(?:which|because|as|since)\b|,\s(?:while|whereas)\b"
)
_LITTLE = frozenset(
    (
        *("a", "an", "the", "of", "to", "in", "on", "at", "with", "by", "it", "its", "he", "she"),
        *("they", "there", "this", "that", "is", "are", "was", "were", "has", "have", "so"),
    )
)
_PRONOUNS = frozenset(["it", "he", "she", "they"])
_LONGEST_PLAIN = 160


def plain_answers(
    text: str, mentions: Sequence[OptionMention], options: Sequence[str], question: str
) -> Iterator[OptionMention]:
    """Yield options in sentences that hold only the option and words of the question.

    "The gripper holds the red cube; the blue one is on the table" says what the gripper holds.
    """
    question_stems = {_stem(token.word) for token in tokens(question)} - _LITTLE - {"or", "and"}
    ends = [(0, 0), *(match.span() for match in _PLAIN_END.finditer(text))]
    for mention in mentions:
        at = bisect_left(ends, (mention.start + 1, 0))
        start, end = ends[at - 1][1], ends[at][0] if at < len(ends) else len(text)
        sentence = text[start:end]
        if end - start > _LONGEST_PLAIN or mention.end > end or text[end : end + 1] == "?":
            continue
        sentence_stems = {_stem(token.word) for token in tokens(sentence)}
        by_pronoun = not start and sentence_stems & _PRONOUNS
        if (sentence_stems & question_stems or by_pronoun) and not has_other_words(
            sentence, f"{options[mention.place]} {' '.join(question_stems)}", _LITTLE
        ):
            yield mention


def has_other_words(text: str, vocabulary: str, free: Collection[str] = ()) -> bool:
    """Whether `text` has words that are neither in `vocabulary` nor in `free`."""
    words = {_stem(token.word) for token in tokens(vocabulary)}
    words = words - _LITTLE or words
    text_stems = (_stem(token.word) for token in tokens(text))
    return any(word not in words and word not in free for word in text_stems)
