"""Determine which of the shown options a reply chooses, as a person would read it (ours).

Shared by the default readings of CaptionQA, CompreQA and CAPability's questions about the media;
readings of released scripts are with their benchmarks. Nothing here raises, whatever the text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from caliper.benchmarks.abstention import abstentions, concession_spans
from caliper.benchmarks.endings import has_answer, is_cut_off, unclosed_at
from caliper.benchmarks.letter_statements import blank_denials, letter_statements
from caliper.benchmarks.listings import blank_listings, has_cross_mark, place_of
from caliper.benchmarks.literals import read_literal
from caliper.benchmarks.option_statements import (
    clause_end,
    declared_answers,
    mentions_between,
    option_statements,
)
from caliper.benchmarks.option_texts import OptionMention, OptionTexts
from caliper.benchmarks.replies import answer_text, strip_code_fence
from caliper.benchmarks.restatements import answers_by_statement, is_about, landmarks, plain_answers
from caliper.benchmarks.statements import (
    Stance,
    Statement,
    Voices,
    is_inside,
    is_limited,
    settle,
)
from caliper.core.fence import LONGEST


def choose_option(
    reply: str, choices: Sequence[str], cannot: int | None = None, question: str = ""
) -> int | None:
    """Return the index of the chosen option among those shown, which are lettered from A.

    The reply is an option's text or a letter. Otherwise its statements decide (`settle`):
    letters and texts that it calls its answer, or else the only option it mentions. `cannot` is
    the index of the option "the question cannot be answered"; phrases such as "not mentioned"
    choose it. `question` is used to interpret plain statements ("The dog is on a leash").
    Reasoning is ignored, and so is a follow-up question that the reply invents; JSON is parsed.
    """
    text = strip_code_fence(_normal(answer_text(reply)))
    if len(text) > LONGEST:
        # NFKC may turn one character into eighteen.
        return None
    label = _LABEL_ALONE.fullmatch(text.strip(_WRAPPING))
    if label and label[0].isalpha() and place_of(label[0]) < len(choices):
        return place_of(label[0])
    options = OptionTexts([_normal(option) for option in choices])
    if cannot is not None:
        others = (text for place, text in enumerate(choices) if place != cannot)
        # If another choice itself says "not visible", such words choose that one.
        cannot = None if any(map(abstentions, others)) else cannot
    values = _values_of_object(text)
    context = _Context(options, cannot, question)
    if values is None:
        next_question = _NEXT_QUESTION.search(text)
        first = _read(text[: next_question.start()], context) if next_question else None
        return _read(text, context) if first is None else first
    places = {_read(value, context) for value in values} - {None}
    return places.pop() if len(places) == 1 else None


@dataclass(frozen=True, slots=True)
class _Context:
    """The options, the index of the "cannot answer" option, and the question."""

    options: OptionTexts
    cannot: int | None
    question: str


_NEXT_QUESTION = re.compile(r"\n\s{0,4}(?:Question|Q|User|Human)\s?\d{0,3}:", re.IGNORECASE)


def _normal(text: str) -> str:
    """Replace full-width and other compatibility characters with plain ones (NFKC)."""
    return unicodedata.normalize("NFKC", text)


_ANSWER_KEYS = ("answer", "letter", "choice", "option", "selected", "response", "final")
_NO_ANSWER_KEYS = {"error", "warning", "exception", "detail", "question", "thought", "thoughts"}


_RIGHT = {"true", "yes", "correct", "right"}
_VERDICTS = _RIGHT | {"false", "no", "incorrect", "wrong"}


def _values_of_object(text: str) -> list[str] | None:
    """Return the answers in a reply that is an object, a list or a string; None for prose."""
    literal = read_literal(text) if text[:1] in ("{", "[", '"', "'") else None
    if literal is None or text[literal.end :].strip():
        return None
    value: Any = literal.value
    if isinstance(value, dict):
        answers = [inner for key, inner in value.items() if str(key).casefold() in _ANSWER_KEYS]
        verdicts = [str(inner).casefold() for inner in value.values()]
        if not answers and len(value) > 1 and set(verdicts) <= _VERDICTS:
            answers = [
                key for key, verdict in zip(value, verdicts, strict=True) if verdict in _RIGHT
            ]
        value = answers or [
            inner
            for key, inner in value.items()
            if len(value) == 1
            and (str(key).casefold() not in _NO_ANSWER_KEYS or abstentions(str(inner)))
        ]
    else:
        value = [value]
    flat = [each for one in value for each in (one if isinstance(one, list) else [one])]
    return ["" if each is None else str(each).strip() for each in flat]


def _read(text: str, context: _Context) -> int | None:
    options = context.options
    label = _LABEL_ALONE.fullmatch(text.strip(_WRAPPING))
    place = place_of(label[0]) if label else len(options.options)
    in_range = place < len(options.options)
    if label and label[0].isalpha() and in_range:
        return place
    text = options.plain(text)
    if (by_text := options.exact_match(text)) is not None:
        return by_text
    if label:
        is_label = in_range and (place >= _LETTERS or not options.numbered)
        return place if is_label else None
    letter_series = _LETTERS_ALONE.fullmatch(text) and not abstentions(text)
    if letter_series and len(set(_ANY_LETTER.findall(text))) > (2 if options.lettered else 1):
        return None
    whole = _ANSWER_TAG.sub("\nAnswer: ", _PREFIX.sub("", text))
    text, denied = blank_denials(blank_listings(whole, options.options))
    voices = Voices.of(text)
    statements = list(_statements(voices, denied, context))
    mentions = [statement for statement in statements if statement.mark is Stance.MENTIONED]
    is_open = mentions and is_cut_off(whole)
    if is_open and not has_answer(whole, mentions, options.options, context.cannot):
        statements = [
            statement for statement in statements if statement.mark is not Stance.MENTIONED
        ]
    return settle(statements, voices)


_LETTERS = 26
_LABEL_ALONE = re.compile(r"[A-Za-z]|[1-9][0-9]?")
_LETTERS_ALONE = re.compile(r"\W{0,4}[A-Z](?>(?:[^\w\n]{1,3}[A-Z])+)\W{0,4}")
_ANY_LETTER = re.compile(r"[A-Z]")
_WRAPPING = " \t\r\n.,:;!?*_`\"'()[]{}<>$\u2705\u3002\u201c\u201d"
_ANSWER_TAG = re.compile(r"<\w{0,12}answer>", re.IGNORECASE)
_PREFIX = re.compile(r"<\|\w{1,30}\|>\s{0,3}|(?i:assistant):\s{0,3}")


def _statements(
    voices: Voices, denied: Collection[str], context: _Context
) -> Iterator[Statement[int]]:
    """Yield the statements of the text: letters, option texts and abstentions."""
    text, options, cannot = voices.text, context.options, context.cannot
    letters = letter_statements(text, voices)
    yield from _letter_places(letters, options)
    yield from _ordinals(text, options)
    mentions = options.mentions(text)
    gaps = [(start, _end_of_list(text, end, mentions)) for start, end in abstentions(text)]
    letter_offsets = {letter.at for letter in letters if letter.mark >= Stance.STATED}
    concessions, landmark_words = concession_spans(text, gaps), landmarks(context.question)
    open_at = unclosed_at(text)
    usable = [
        mention
        for mention in mentions
        if not mention.negated
        and mention.start <= open_at
        and mention.start not in letter_offsets
        and chr(ord("A") + mention.place) not in denied
        and not is_inside(mention.start + 1, gaps)
        and not is_inside(mention.start + 1, concessions)
        and not is_about(text, mention.start, landmark_words)
        and not _HYPOTHETICAL.search(text, max(0, mention.start - 60), mention.start)
        and not has_cross_mark(text, mention.start, mention.end)
        and not is_limited(text, mention.end)
    ]
    yield from option_statements(voices, usable, options)
    for mention in plain_answers(text, usable, options.options, context.question):
        if mention.place != cannot and not voices.is_reported(mention.start):
            yield Statement(mention.place, mention.start, Stance.STATED)
    yield from _yes_no_statements(text, context, gaps)
    if cannot is not None:
        negated = [mention for mention in mentions if mention.negated]
        abstention_starts = [
            start
            for start, end in gaps
            if not mentions_between(negated, end, clause_end(text, end))
            and not _IF.search(text, max(0, start - 60), start)
            and not (_WHICH.match(text, start) and _EITHER.search(text, max(0, start - 120), start))
        ]
        yield from (Statement(cannot, start, Stance.MENTIONED) for start in abstention_starts)
        usable += [OptionMention(cannot, start, start) for start, _ in gaps]
        usable.sort(key=lambda mention: mention.start)
    yield from declared_answers(voices, usable, options)


_HYPOTHETICAL = re.compile(
    r"\b(?:may|might|could)\s(?:\w{1,10}\s)?be\s(?!(?:seen|heard|found)\b)[^.;:!?\n]{0,60}\Z",
    re.IGNORECASE,
)
# "A or B, I'm not sure which" leaves two options open.
_WHICH = re.compile(
    r"[^.,;\n]{0,60}?\bwhich(?:\s(?:one|of\s(?:them|(?:the|these)\s\w{3,7})))?\W{0,3}(?:\n|\Z|\s[A-Z])"
)
_EITHER = re.compile(r"\b(?:or|either)\b|/", re.IGNORECASE)
_IF = re.compile(r"\b(?:if|unless)\s[^.,;:!?\n]{0,60}\Z", re.IGNORECASE)
_LONGEST_LIST = 400
_NEXT_IN_LIST = re.compile(r"(?:\s(?:of|either|any))?,?\s(?:(?:or|nor|and)\s)?(?:(?:an?|the)\s)?")


def _end_of_list(text: str, end: int, mentions: Sequence[OptionMention]) -> int:
    """Extend an abstention over two or more options it lists: "no mention of tea or milk"."""
    last = [end]
    for mention in mentions_between(mentions, end, end + _LONGEST_LIST):
        if not _NEXT_IN_LIST.fullmatch(text, last[-1], mention.start):
            break
        last.append(mention.end)
    return last[-1] if len(last) > 2 else end


def _yes_no_statements(
    text: str, context: _Context, gaps: Sequence[tuple[int, int]]
) -> Iterator[Statement[int]]:
    """Yield yes or no for sentences that state what the question asks."""
    places = context.options.yes_no
    if places is not None:
        for at, is_so in answers_by_statement(text, context.question, gaps):
            yield Statement(places[0 if is_so else 1], at, Stance.MENTIONED)


def _letter_places(
    letters: Iterable[Statement[str]], options: OptionTexts
) -> Iterator[Statement[int]]:
    """Convert letters to indices. A letter out of range counts only if it is called the answer."""
    for statement in letters:
        place = place_of(statement.value) if statement.value else None
        in_range = place is not None and place < len(options.options)
        if statement.mark is Stance.MENTIONED and (
            options.lettered or not (in_range or place is None)
        ):
            continue
        yield Statement(place if in_range else None, statement.at, statement.mark)


_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
_ORDINAL = re.compile(
    rf"(?<!not )(?<!not the )\b(?:({'|'.join(_ORDINALS)}|last)|([1-9])(?:st|nd|rd|th))"
    r"\s(?:listed\s)?(?:option|choice|answer)\b(?!\s(?:is|seems)\s(?:not|wrong|incorrect|out)\b)"
    r"|\b(?:option|choice)\s(?P<sign>number\s|no\.\s?|#\s?)?([1-9][0-9]?)\b(?![.:/-][0-9])",
    re.IGNORECASE,
)


def _ordinals(text: str, options: OptionTexts) -> Iterator[Statement[int]]:
    """Yield options named by position: "the last option", "option number 3"."""
    count = len(options.options)
    for match in _ORDINAL.finditer(text):
        if match[4] and not match["sign"] and options.numbered:
            continue
        word = (match[1] or "").lower()
        number = _ORDINALS.index(word) + 1 if word in _ORDINALS else count
        number = int(match[2] or match[4] or number)
        yield Statement(number - 1 if number <= count else None, match.start(), Stance.MENTIONED)
