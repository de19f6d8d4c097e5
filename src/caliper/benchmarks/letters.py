"""Which of the options that it was shown a reply chooses, as a person would read it (ours).

Shared by the default readings of CaptionQA, CompreQA and CAPability's questions from the media;
what a released script reads stays with its benchmark. Nothing here raises, whatever the text.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

from caliper.benchmarks.abstention import abstentions
from caliper.benchmarks.letter_statements import (
    conclusions,
    cues,
    letter_at,
    letter_statements,
    without_denied,
    without_listing,
)
from caliper.benchmarks.literals import read_literal
from caliper.benchmarks.option_texts import Mention, OptionTexts
from caliper.benchmarks.replies import told, unfenced
from caliper.benchmarks.statements import Mark, Statement, Voices, settled, within
from caliper.core.untrusted import LONGEST


def chosen(reply: str, shown: Sequence[str], cannot: int | None = None) -> int | None:
    """The place of the chosen option among those shown, which are lettered from A.

    The reply is an option's text or a letter; else what it states decides (`settled`): letters
    and texts that it calls its answer, and without those the only option that it mentions.
    `cannot` is the place of the option that the question cannot be answered: words that say so
    ("not mentioned") choose it. Thoughts are not read; JSON is read as JSON.
    """
    text = unfenced(_normal(told(reply)))
    if len(text) > LONGEST:
        # One character may become eighteen.
        return None
    label = _LABEL_ALONE.fullmatch(text.strip(_WRAPPING))
    if label and label[0].isalpha() and _place(label[0]) < len(shown):
        return _place(label[0])
    options = OptionTexts([_normal(option) for option in shown])
    if cannot is not None:
        others = (text for place, text in enumerate(shown) if place != cannot)
        # Where a choice itself says "not visible", the words choose that one.
        cannot = None if any(map(abstentions, others)) else cannot
    values = _values_of_object(text)
    if values is None:
        return _read(text, options, cannot)
    places = {_read(value, options, cannot) for value in values} - {None}
    return places.pop() if len(places) == 1 else None


def _normal(text: str) -> str:
    """The text with full-width and other compatible forms of characters made plain."""
    return unicodedata.normalize("NFKC", text)


_ANSWER_KEYS = ("answer", "letter", "choice", "option", "selected", "response", "final")


_RIGHT = {"true", "yes", "correct", "right"}
_VERDICTS = _RIGHT | {"false", "no", "incorrect", "wrong"}


def _values_of_object(text: str) -> list[str] | None:
    """The answers in a reply that is an object, a list or a string; None where it is prose."""
    literal = read_literal(text) if text[:1] in ("{", "[", '"', "'") else None
    if literal is None or text[literal.end :].strip():
        return None
    value: Any = literal.value
    if isinstance(value, dict):
        named = [inner for key, inner in value.items() if str(key).casefold() in _ANSWER_KEYS]
        judged = [str(inner).casefold() for inner in value.values()]
        if not named and len(value) > 1 and set(judged) <= _VERDICTS:
            named = [key for key, said in zip(value, judged, strict=True) if said in _RIGHT]
        value = named or (list(value.values()) if len(value) == 1 else [])
    else:
        value = [value]
    flat = [each for one in value for each in (one if isinstance(one, list) else [one])]
    return ["" if each is None else str(each).strip() for each in flat]


def _read(text: str, options: OptionTexts, cannot: int | None) -> int | None:
    label = _LABEL_ALONE.fullmatch(text.strip(_WRAPPING))
    place = _place(label[0]) if label else len(options.options)
    in_range = place < len(options.options)
    if label and label[0].isalpha() and in_range:
        return place
    text = options.plain(text)
    if (named := options.named_by(text)) is not None:
        return named
    if label:
        is_label = in_range and (place >= _LETTERS or not options.numbered)
        return place if is_label else None
    alone = _LETTERS_ALONE.fullmatch(text) and set(_ANY_LETTER.findall(text))
    if alone and len(alone) > (2 if options.lettered else 1):
        return None
    text, denied = without_denied(without_listing(_PREFIX.sub("", text), options.options))
    voices = Voices.of(text)
    return settled(_statements(voices, denied, options, cannot), voices)


_LETTERS = 26
_LABEL_ALONE = re.compile(r"[A-Za-z]|[1-9][0-9]?")
_LETTERS_ALONE = re.compile(r"\W{0,4}[A-Z](?:[^\w\n]{1,3}[A-Z])++\W{0,4}")
_ANY_LETTER = re.compile(r"[A-Z]")
_WRAPPING = " \t\r\n.,:;!?*_`\"'()[]{}<>$\u2705\u3002\u201c\u201d"
_PREFIX = re.compile(r"<\|\w{1,30}\|>\s{0,3}|(?i:assistant):\s{0,3}")


def _place(label: str) -> int:
    """The place of a label: A is 0, and a number counts from 1."""
    return int(label) - 1 if label.isdigit() else ord(label.upper()) - ord("A")


def _statements(
    voices: Voices, denied: Collection[str], options: OptionTexts, cannot: int | None
) -> Iterator[Statement[int]]:
    """What the text states, letters, option texts and abstentions alike."""
    text = voices.text
    letters = letter_statements(text, voices)
    yield from _lettered(letters, options)
    yield from _ordinals(text, options)
    gaps = abstentions(text)
    mentions = options.mentions(text)
    taken = {given.at for given in letters if given.mark >= Mark.STATED}
    named = [
        each
        for each in mentions
        if not each.negated
        and each.start not in taken
        and chr(ord("A") + each.place) not in denied
        and not within(each.start + 1, gaps)
    ]
    yield from _texts(text, options, voices, named)
    if cannot is not None:
        negated = [each for each in mentions if each.negated]
        kept = [start for start, end in gaps if not _between(negated, end, _clause_end(text, end))]
        yield from (Statement(cannot, start, Mark.MENTIONED) for start in kept)
        named += [Mention(cannot, start, start) for start, _ in gaps]
        named.sort(key=_start)
    yield from _called_answer(text, voices, named)


def _lettered(letters: Iterable[Statement[str]], options: OptionTexts) -> Iterator[Statement[int]]:
    """The letters as places. One beyond the options matters only where it is the answer."""
    for given in letters:
        place = _place(given.value) if given.value else None
        in_range = place is not None and place < len(options.options)
        if given.mark is Mark.MENTIONED and (options.lettered or not (in_range or place is None)):
            continue
        yield Statement(place if in_range else None, given.at, given.mark)


def _start(mention: Mention) -> int:
    return mention.start


def _between(mentions: Sequence[Mention], start: int, end: int) -> Sequence[Mention]:
    """Those of the mentions, in their order, that begin from `start` and before `end`."""
    first = bisect_left(mentions, start, key=_start)
    return mentions[first : bisect_left(mentions, end, lo=first, key=_start)]


_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
_ORDINAL = re.compile(
    rf"(?<!not )(?<!not the )\b(?:({'|'.join(_ORDINALS)}|last)|([1-9])(?:st|nd|rd|th))"
    r"\s(?:listed\s)?(?:option|choice|answer)\b(?!\s(?:is|seems)\s(?:not|wrong|incorrect|out)\b)"
    r"|\b(?:option|choice)\s(?P<sign>number\s|no\.\s?|#\s?)?([1-9][0-9]?)\b(?![.:/-][0-9])",
    re.IGNORECASE,
)


def _ordinals(text: str, options: OptionTexts) -> Iterator[Statement[int]]:
    """Options by their place: "the last option", "option number 3"."""
    count = len(options.options)
    for match in _ORDINAL.finditer(text):
        if match[4] and not match["sign"] and options.numbered:
            continue
        word = (match[1] or "").lower()
        number = _ORDINALS.index(word) + 1 if word in _ORDINALS else count
        number = int(match[2] or match[4] or number)
        yield Statement(number - 1 if number <= count else None, match.start(), Mark.MENTIONED)


def _texts(
    text: str, options: OptionTexts, voices: Voices, named: Sequence[Mention]
) -> Iterator[Statement[int]]:
    """The options that are named: as a sentence of their own, or in one."""
    outside = any(not voices.quoted(each.start) for each in named)
    for each in named:
        rival = (
            _OR.match(text, each.end) or _shared(text, options, each) or _another_letter(text, each)
        )
        place = None if rival else each.place
        opening = _SENTENCE_START.search(text, max(0, each.start - 24), each.start)
        yes_no = text[each.start : each.end].casefold() in ("yes", "no")
        end = (_ANSWERED if yes_no else _SENTENCE_END).match(text, each.end)
        if _ASKED.match(text, each.end) or _IF.search(text, max(0, each.start - 48), each.start):
            continue
        if opening and end and not rival:
            yield Statement(place, each.start, voices.mark(opening.end("start")))
        elif voices.quoted(each.start) and outside:
            yield Statement(place, each.start, Mark.QUOTED)
        else:
            yield Statement(place, each.start, Mark.MENTIONED)


_SENTENCE_START = re.compile(
    r"(?P<start>^|[.!?:\n])[\"'*(#>\s]{0,7}+(?i:(?:a|an|the|to the|in|on)\s){0,2}$"
)
_SENTENCE_END = re.compile(r"[\"'*)`\s]{0,4}(?:[.!:;\n\u2013\u2014\u3002](?!\.)|$|- )")
_ANSWERED = re.compile(r"[\"'*)`\s]{0,4}(?:[,;.!:\n(\u2013\u2014\u3002]|$|- )")
_OR = re.compile(r"[\s.,?!\u2026]{0,6}\b(?:or|oder)\b|\s?[/,(]\s?(?:yes|no)\W{0,3}$", re.IGNORECASE)
_IF = re.compile(r"\b(?:if|whether)\s[^.,;:!?\n]*$", re.IGNORECASE)
# To its end the sentence is a question; "isn't it?" asks nothing.
_ASKED = re.compile(r"[^.!?,\n]{0,120}\?")
_LETTER_BEHIND = re.compile(r"[*\"'`]{0,3}\s?[(\[]([A-Z])[)\]]")
_KIND_OF = re.compile(
    r"\b(?:shade|tone|tint|hue|kind|type|sort|form|variety)s?\sof\s(?:an?\s)?$", re.IGNORECASE
)
_BOTH = re.compile(r"\b(?:both|either)\s(?:(?:the|a|an)\s)?$", re.IGNORECASE)
_SHARED = re.compile(r",?\s?(?:\b(?:or|and)\b|[,/&])\s?(?:[A-Z]|[0-9]{1,3})\b(?!['\u2019])")


def _shared(text: str, options: OptionTexts, mention: Mention) -> bool:
    """Whether it is one of several: "vitamins A and C", "both the vase"."""
    if _BOTH.search(text, max(0, mention.start - 16), mention.start):
        return True
    if _KIND_OF.search(text, max(0, mention.start - 16), mention.start):
        return options.shares_words(mention.place)
    last = options.exact[mention.place][-1:]
    short = bool(last) and (len(last[0]) == 1 or last[0].isdigit())
    return short and _SHARED.match(text, mention.end) is not None


def _another_letter(text: str, mention: Mention) -> bool:
    """Whether the letter of another option stands behind: "Yes (A)" where A is No."""
    letter = _LETTER_BEHIND.match(text, mention.end)
    return letter is not None and _place(letter[1]) != mention.place


_CLAUSE_END = re.compile(r"[;,\n]|\.(?![0-9])")
_LONGEST_CLAUSE = 200


def _clause_end(text: str, at: int) -> int:
    found = _CLAUSE_END.search(text, at, at + _LONGEST_CLAUSE)
    return found.start() if found else at + _LONGEST_CLAUSE


def _called_answer(text: str, voices: Voices, named: Sequence[Mention]) -> Iterator[Statement[int]]:
    """The option that a clause calls the answer, or concludes."""
    for cue in cues(text):
        if not cue.said or letter_at(text, cue.end) is not None:
            continue
        inside = _between(named, cue.end, _clause_end(text, cue.end))
        # An abstention is the answer only right behind the cue: "the answer is not given".
        places: set[int | None] = {
            each.place for each in inside if each.end > each.start or each.start < cue.end + 4
        }
        if any(each.end > each.start and _another_letter(text, each) for each in inside):
            places = {None}
        if len(places) == 1:
            yield Statement(places.pop(), cue.end, voices.mark(cue.start, final=cue.final))
    for at in conclusions(text):
        for each in _between(named, at, min(at + 13, _clause_end(text, at))):
            if each.end > each.start:
                yield Statement(each.place, each.start, Mark.STATED)
