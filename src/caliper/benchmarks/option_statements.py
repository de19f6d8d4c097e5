"""Find options that a reply states by their text, and how strongly (ours)."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence

from caliper.benchmarks.letter_statements import conclusions, cues, letter_at
from caliper.benchmarks.listings import place_of
from caliper.benchmarks.option_texts import OptionMention, OptionTexts
from caliper.benchmarks.statements import Stance, Statement, Voices


def option_statements(
    voices: Voices, mentions: Sequence[OptionMention], options: OptionTexts
) -> Iterator[Statement[int]]:
    """Yield statements for mentioned options, as a sentence of their own or within one."""
    text = voices.text
    quotations = {
        mention
        for mention in mentions
        if voices.is_quoted(mention.start) and not _is_quoted_alone(text, mention)
    }
    has_own_words = len(quotations) < len(mentions)
    after_quotation = max(0, *(end - 2 for _, end in voices.quotations), 0)
    has_own_words |= _NEXT_SENTENCE.search(text, after_quotation, after_quotation + 60) is not None
    for mention in mentions:
        place = _sole_place(text, options, mention)
        opening = _SENTENCE_START.search(text, max(0, mention.start - 24), mention.start)
        yes_no = text[mention.start : mention.end].casefold() in ("yes", "no")
        end = (_ANSWER_END if yes_no else _SENTENCE_END).match(text, mention.end)
        if question_tail := _QUESTION_TAIL.match(text, mention.end):
            # "Red? Perhaps green.": an option that is itself a question is only considered.
            if (
                opening
                and len(question_tail[0]) < _BARE_QUESTION
                and not _ANSWER_BEHIND.match(text, mention.end)
            ):
                yield Statement(None, mention.start, Stance.MENTIONED)
            continue
        if voices.is_conditional(mention.start):
            continue
        if _IF.search(text, max(0, mention.start - 48), mention.start):
            continue
        if opening and end and place is not None:
            yield Statement(place, mention.start, voices.mark(opening.end("start")))
        elif not (has_own_words and mention in quotations):
            yield Statement(place, mention.start, Stance.MENTIONED)


_SENTENCE_START = re.compile(
    r"(?P<start>^|[.!?:\n])[\"'*(#>\s$\u00a3\u20ac\u2705\u2611\u2713\u2714]{0,7}+"
    r"(?i:(?:a|an|the|to the|in|on)\s){0,2}$"
)
_SENTENCE_END = re.compile(r"[\"'*)`\s]{0,4}(?:[.!:;\n\u2013\u2014\u3002](?!\.)|$|- )")
_ANSWER_END = re.compile(r"[\"'*)`\s]{0,4}(?:[,;.!:\n(\u2013\u2014\u3002]|$|- )")
_OR = re.compile(r"[\s.,?!\u2026]{0,6}\b(?:or|oder)\b|\s?[/,(]\s?(?:yes|no)\W{0,3}$", re.IGNORECASE)
_OR_BEFORE = re.compile(r"\b(?:or|oder)\s(?:an?\s|the\s)?\Z", re.IGNORECASE)
# "The girl holds a ball and the boy"
_BROKEN_OFF = re.compile(
    r"[^.!?\n]{0,80}?(?:,|\b(?:and|but|while|whereas))\s(?:the|an?|his|her|its)(?:\s\w{1,20})?\s?\Z",
    re.IGNORECASE,
)
_IF = re.compile(r"\b(?:if|whether)\s[^.,;:!?\n]*$", re.IGNORECASE)
# The rest of the sentence is a question; the tag "isn't it?" is not.
_QUESTION_TAIL = re.compile(r"(?:[^.!?,\n]|[.,](?=[0-9])){0,120}\?")
_BARE_QUESTION = 4
_ANSWER_BEHIND = re.compile(r"[\"'*)]{0,3}\?\s{1,3}(?:yes|no|nope|not|yep)\b", re.IGNORECASE)
_LETTER_BEHIND = re.compile(r"[*\"'`]{0,3}\s?[(\[]([A-Z])[)\]]")
_KIND_OF = re.compile(
    r"\b(?:shade|tone|tint|hue|kind|type|sort|form|variety)s?\sof\s(?:an?\s)?$", re.IGNORECASE
)
# A further sentence after a quotation that draws no conclusion from it.
_NEXT_SENTENCE = re.compile(
    r"(?:[.!?][\"'\u201d]|[\"'\u201d][.!?])\s{1,4}(?!(?:so|thus|therefore|hence)\b)\w+\s\w+\s\w",
    re.IGNORECASE,
)
_QUOTE = "\"'\u201c\u201d\u2018\u2019"
_BOTH = re.compile(r"\b(?:both|either)\s(?:(?:the|a|an)\s)?$", re.IGNORECASE)
_COORDINATION = re.compile(r",?\s?(?:\b(?:or|and)\b|[,/&])\s?(?:[A-Z]|[0-9]{1,3})\b(?!['\u2019])")


def _is_quoted_alone(text: str, mention: OptionMention) -> bool:
    """Whether quotation marks enclose exactly the option."""
    return (
        text[max(0, mention.start - 1)] in _QUOTE and text[mention.end : mention.end + 1] in _QUOTE
    )


def _sole_place(text: str, options: OptionTexts, mention: OptionMention) -> int | None:
    """Return the index of the option; None if another option stands next to it."""
    before = max(0, mention.start - 12)
    if _OR_BEFORE.search(text, before, mention.start) or _OR.match(text, mention.end):
        return None
    if _has_other_letter(text, mention) or _BROKEN_OFF.match(text, mention.end):
        return None
    return None if _is_one_of_several(text, options, mention) else mention.place


def _is_one_of_several(text: str, options: OptionTexts, mention: OptionMention) -> bool:
    """Whether the mention is one of several: "vitamins A and C", "both the vase"."""
    if _BOTH.search(text, max(0, mention.start - 16), mention.start):
        return True
    if _KIND_OF.search(text, max(0, mention.start - 16), mention.start):
        return options.shares_words(mention.place)
    last = options.exact[mention.place][-1:]
    short = bool(last) and (len(last[0]) == 1 or last[0].isdigit())
    return short and _COORDINATION.match(text, mention.end) is not None


def _has_other_letter(text: str, mention: OptionMention) -> bool:
    """Whether the letter of another option follows: "Yes (A)" when A is No."""
    letter = _LETTER_BEHIND.match(text, mention.end)
    return letter is not None and place_of(letter[1]) != mention.place


_CLAUSE_END = re.compile(r"[;,?!\n]|\.(?![0-9])")
_LONGEST_CLAUSE = 200


def mentions_between(
    mentions: Sequence[OptionMention], start: int, end: int
) -> Sequence[OptionMention]:
    """Return the mentions, sorted by start, that begin in [`start`, `end`)."""
    first = bisect_left(mentions, start, key=_start)
    return mentions[first : bisect_left(mentions, end, lo=first, key=_start)]


def _start(mention: OptionMention) -> int:
    return mention.start


def clause_end(text: str, at: int) -> int:
    """Return the end of the clause that contains the offset."""
    match = _CLAUSE_END.search(text, at, at + _LONGEST_CLAUSE)
    return match.start() if match else at + _LONGEST_CLAUSE


def declared_answers(
    voices: Voices, mentions: Sequence[OptionMention], options: OptionTexts
) -> Iterator[Statement[int]]:
    """Yield the options that a clause calls the answer or concludes."""
    text = voices.text
    for cue in cues(text):
        if not cue.is_assertion or letter_at(text, cue.end) is not None:
            continue
        in_clause = mentions_between(mentions, cue.end, clause_end(text, cue.end))
        # An abstention is the answer only right after the cue: "the answer is not given".
        places = {
            _sole_place(text, options, mention)
            for mention in in_clause
            if (mention.end > mention.start or mention.start < cue.end + 4)
            and not _IF.search(text, cue.end, mention.start)
        }
        if len(places) == 1:
            yield Statement(places.pop(), cue.end, voices.mark(cue.start, final=cue.is_final))
    for at in conclusions(text):
        for mention in mentions_between(mentions, at, min(at + 13, clause_end(text, at))):
            if mention.end > mention.start and not _QUESTION_TAIL.match(text, mention.end):
                yield Statement(_sole_place(text, options, mention), mention.start, Stance.STATED)
