"""Find option letters that a reply states, and how strongly (ours).

Letters in words, abbreviations and coordinations ("vitamin D", "N/A", "B or D"), the article
"A", the pronoun "I" and denied letters ("not B", "C is wrong") do not count.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

from caliper.benchmarks.attributions import ANNOUNCEMENT
from caliper.benchmarks.statements import Stance, Statement, Voices, is_limited

_NO_LETTER_BEFORE = r"(?<![A-Za-z\u00c0-\u024f0-9_'\u2019/&+.-])"
_NO_LETTER_AFTER = r"(?![A-Za-z\u00c0-\u024f0-9_'\u2019/&+-])"
# Before a word, "A" is the article and "I" the pronoun, unless the word refers to the letter.
_NOT_A_WORD = (
    r"(?!A\s(?!(?:is|as|because|since|and|or|but|due|given|for|seems|fits|matches|would)\b)"
    r"[a-z])(?!I\s(?!(?:is|as|because|since|and|or)\b)[a-z])"
)
_LETTER = rf"{_NOT_A_WORD}[A-Z]{_NO_LETTER_AFTER}"
_DECORATION = r"[\s:=>*\"'`(\[{$\\#<\u201c-]{0,8}"
_CAPITAL = re.compile(rf"{_NO_LETTER_BEFORE}{_LETTER}")
_SMALL = re.compile(r"(?:(?<=[(\[])|(?<![a-z]))[a-z](?=[)\]])|[b-hj-z](?=[\s.*\"'`)\]}<>!]{0,8}$)")
_SMALL_ALONE = re.compile(r"[a-z](?=[\s.*\"'`)\]}<>!]{0,8}$)")
_RIVAL = re.compile(
    r"[\s.,?!*)\]\"'`\u2026]{0,6}(?:\b(?:or|and|oder|ou|as\swell\sas|(?:,\s)?but\salso)\b|[,/&])[\s*(\[\"'`]{0,4}"
    rf"(?:(?i:option|choice|answer|letter)\s)?({_LETTER})"
)
_OR = re.compile(r"[\s.,?!*)\]\"'`\u2026]{0,6}\b(?:or|oder)\b")
_OR_BEFORE = re.compile(r"\b[Oo]r\s[*(\"']{0,2}\Z")
_QUESTION_MARK = re.compile(r"[*)\"'`]{0,3}\?")

_COPULA = (
    r"(?:is|was|would\sbe|should\sbe|must\sbe|will\sbe|has\sto\sbe|es|est|ist|\u00e9|\u00e8|adalah)"
)
_CUE = re.compile(
    r"(?i:\b(?:(?:the|my|final|correct|right|best|most|likely|appropriate|la|die)\s){0,4}"
    r"(?:answer|ans|final(?=\s?:)|choice|option|response|selection|respuesta|r\u00e9ponse|antwort|risposta"
    r"|resposta|jawaban(?:nya)?|\u043e\u0442\u0432\u0435\u0442)\b"
    r"(?:\s(?:letter|key|correcta|correcte|corretta|correta)\b)?)"
    rf"(?P<said>[\"'`*\s]{{0,4}}(?i:\b{_COPULA}\b|[:=>\n\uff1a])|)"
    rf"{_DECORATION}(?i:(?:la|el|le|die|clearly|definitely|probably|likely|therefore)\s)?"
    rf"(?i:(?:option|choice|answer|letter)\b[\s:*\"']{{0,3}})?\(?"
)
_OWN_VOICE = re.compile(
    r"(?i:\bI(?:['\u2019](?:d|ll|m)|\s(?:would|will|am|have\sto|must))?(?:\s\w{2,12}ly)?\s"
    r"(?:pick|choose|choosing|chose|select|selecting|go\swith|going\swith|say|answer|opt\sfor"
    r"|think|believe|guess|take|rate)(?:\sthat)?"
    r"(?:\s(?:it|that|this)(?:['\u2019]s|\sis|\smust\sbe|\swould\sbe|\sshould\sbe))?"
    r"(?:\sthe\s(?:correct\s|right\s|best\s)?(?:answer|option|choice)\s(?:is|would\sbe))?)"
    rf"{_DECORATION}(?i:(?:option|choice|answer|letter)\s)?\(?"
)
_CORRESPONDS = re.compile(
    r"(?i:\b(?:correspond(?:s|ing)?\s(?:to|with)|match(?:es|ing)|equals|which\sis|that\sis|i\.e\.,?|namely)"
    r"\s(?:the\s)?(?:option|choice|answer|letter)\s)[*(\"']{0,3}"
)
_UNSPACED_CUE = re.compile(
    r"(?:\u7b54\u6848|\u6b63\u89e3|\u7b54\u3048|\uc815\ub2f5|\u9078\u629e|\u9009\u9879|\u9009|\u9078)"
    r"(?:\u5e94\u8be5|\u61c9\u8a72)?(?:\u662f|\u4e3a|\u70ba|\u306f|\uc740|\ub294|\u62e9|\u64c7)?"
    rf"\u3011?{_DECORATION}"
)
_CONCLUSION = re.compile(
    r"(?i:\b(?:so(?!\s(?:is|are|was|were|do|does)\b)|therefore|thus|hence|i\.e\.|namely|makes|making|total|altogether|overall|sum"
    r"|meaning)\b|[=\u2192]|->)"
    r"[,:]?(?i:\s(?:of|it['\u2019]s|it|is|that|there|are|must|be|the|a|an|answer|probably|likely)\b){0,5}"
    r"[\s(*\"]{0,4}"
)
_COLON = re.compile(
    r"(?::|\b(?:but|donc|portanto|quindi|daher|deshalb|folglich|entonces|por\slo\stanto|assim),?\s(?:probably\s|likely\s)?|[\u2190-\u21ff\u2794-\u27bf]\ufe0f?|\s[-\u2013\u2014])\s?[*(]{0,4}$|"
    # "is" or "option" in common other languages.
    r"(?:\b(?:es|est|ist|\u00e9|\u00e8|este|jest|\u00e4r|adalah|l\u00e0|opci\u00f3n|opzione|op\u00e7\u00e3o"
    r"|lettre|letra|lettera|buchstabe|cevap|\u044d\u0442\u043e|\u0446\u0435|\u043e\u0442\u0432\u0435\u0442"
    r"|\u0432\u0430\u0440\u0438\u0430\u043d\u0442|\u0431\u0443\u043a\u0432\u0430|\u03b5\u03af\u03bd\u03b1\u03b9"
    r"|\u0647\u064a|\u0647\u0648|\u05d4\u05d9\u05d0|\u05d4\u05d5\u05d0|lautet|odpowied\u017a\sto|elijo|escolho|scelgo"
    r"|je\schoisis|ich\sw\u00e4hle|ik\skies|wybieram|\u0432\u044b\u0431\u0438\u0440\u0430\u044e)\s(?:(?:la|el|le|il|die|a|o)\s)?"
    r"|(?:\u662f|\u9009|\u9078|\u306f|\uc740|\ub294|\u0e04\u0e37\u0e2d|\u0e02\u0e49\u0e2d)\s?)[*(\"'\u00ab]{0,3}$",
    re.IGNORECASE,
)
_LAST_LETTER = re.compile(
    rf"({_LETTER})[)*\"'.!\s\u3002\u00bb]{{0,5}}(?:\u3067\u3059\u3002?|\uc785\ub2c8\ub2e4\.?)?$"
)
_BOXED = re.compile(r"\\(?:boxed|text\w{0,4}|math\w{2})\{\s?\(?([A-Z])\b")
_RIGHT = (
    r"\s(?:(?:is|would\sbe|seems|looks|must\sbe|appears)(?:\sto\sbe)?(?:\sclearly)?(?:\sthe|\smy)?"
    r"\s(?:correct|right|best|answer|choice|most)|(?:fits|matches)(?:\sbest)?|it\sis)\b"
)
_PREDICATE = re.compile(
    rf"(?i:\b(?:option|choice|answer|letter)\s)?\(?(?P<letter>{_CAPITAL.pattern})\)?"
    rf"(?:\s\([^()\n]{{1,60}}\))?(?i:{_RIGHT})"
)
_OPENING = re.compile(
    rf"\A[^\w\n]{{0,20}}+(?P<letter>{_LETTER}|[a-z](?=\))|[b-hj-z](?=[.:)]\s))"
    r"(?:[)\]}*\"'`]{0,4}(?:[.:;)\]*}\u3002<]|,(?<!I,)(?=\s(?:because|as|since|the|it|which|due|based))"
    r"|\s?(?:\n|$|[-=\u2013\u2014]\s)|\s(?:because|as|since)\b|\s?\([^()\n]{1,60}\)\s?[:.,;\u2013\u2014-]))"
)
_ALONE_ON_LINE = re.compile(r"^[^\w\n]{0,20}([A-Z])[^\w\n]{0,20}$")
_MENTION_BEFORE = re.compile(
    r"(?:^|[.!?\n\u2026:]\s{0,3}|[(\[*\"'`]|\b(?:think|believe|guess|say|is|['\u2019]s|be|was|pick"
    r"|choose|option|answer|letter|choice|with|probably|definitely|likely|maybe|perhaps|clearly|mean|meant|rather"
    r"|so|thus|hence|then|or|between|both|either|for)\s|,\s)[*\"'`(\[]{0,3}$",
    re.IGNORECASE,
)
_MENTION_AFTER = re.compile(
    r"[*\"'`)\]}]{0,4}\s?(?:$|[.,;:!?\n\u2026\u2013\u2014(<-]"
    r"|\b(?:because|as|since|is|and|or|but|due|given|based)\b)"
)
_CLAUSE_END = re.compile(r"[)*\"'`]{0,3}\s?(?:[.!?\n](?!\.)|$)")
_LETTER_BEFORE = re.compile(r"(?<![A-Za-z])[A-Za-z][)\]*]{0,2}[.,]\s{0,3}$")
_DENIED = re.compile(
    r"(?i:\b(?:not|(?:can|could|wo|would)n?['\u2019]?t\sbe|cannot\sbe|isn['\u2019]t|neither|nor|never|anything\sbut|rather\sthan|instead\sof|except|excluding"
    rf"|rules?\sout|eliminates?|excludes?)\s(?:the\s)?(?:option\s|answer\s|choice\s|letter\s)?)"
    rf"\(?{_LETTER}\)?(?:(?:,|\s(?:or|nor|and))\s\(?{_LETTER}\)?){{0,8}}"
    rf"|(?:{_LETTER}(?:,\s|,?\s(?:and|or)\s)){{0,8}}{_CAPITAL.pattern}\)?"
    r"(?i:\s(?:is|are|was|were|seems?|looks?)(?:\snot\b|n['\u2019]t|\s(?:clearly\s|also\s)?"
    r"(?:wrong|incorrect|false|out|ruled|excluded|unlikely|impossible|eliminated|tempting)))"
    rf"[^.,;\n]{{0,60}}(?:,\s(?:and\s)?(?:so|as|neither)\s(?:is|are)\s{_LETTER})?"
)
_REJECTED = re.compile(rf"{_CAPITAL.pattern}\s?\?\s{{1,3}}(?i:no|nope)\b")
_LETTER_VERDICT = re.compile(
    rf"(?:(?<=\s)|^)\(?(?P<letter>{_CAPITAL.pattern})\)?\s?[.):-]\s?[^.\n:()-]{{0,60}}?"
    r"(?:\b(?i:(?P<right>right|correct|yes|true)|wrong|incorrect|no|false)\s?(?=[.,;\n]|$)"
    r"|(?P<tick>[\u2705\u2611\u2713\u2714])|[\u274c\u2716-\u2718])",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Cue:
    """Words that announce an answer at `end`; `is_assertion` if they also assert it ("is", ":")."""

    start: int
    end: int
    is_final: bool
    is_assertion: bool


def cues(text: str) -> Iterator[Cue]:
    """Yield the cues with which the text announces its answer."""
    for match in _CUE.finditer(text):
        final = "final" in match[0].lower()
        yield Cue(match.start(), match.end(), final, bool(match["said"]))
    for expression in (_OWN_VOICE, _CORRESPONDS, _UNSPACED_CUE):
        for match in expression.finditer(text):
            yield Cue(match.start(), match.end(), is_final=False, is_assertion=True)


def conclusions(text: str) -> Iterator[int]:
    """Yield the offsets right after "so", "makes" or "="."""
    return (match.end() for match in _CONCLUSION.finditer(text))


def letter_statements(text: str, voices: Voices) -> list[Statement[str]]:
    """Return the letters the text states.

    A letter next to a rival ("B or D") or in a question has no value. Neither has a reported
    letter if the text also mentions one in its own voice.
    """
    marks: dict[int, Stance] = {}
    for at, mark in chain(_cued_letters(text, voices), _standalone_letters(text, voices)):
        marks[at] = max(mark, marks.get(at, mark))
    for at, mark in _mentioned_letters(text, voices):
        marks.setdefault(at, mark)
    mentioned = {at for at, mark in marks.items() if mark is Stance.MENTIONED}
    reports = {at for at in mentioned if voices.is_reported(at)}
    if mentioned == reports:
        marks |= dict.fromkeys(reports, Stance.QUOTED)
        reports = set()
    return [
        Statement(None if at in reports else _sole_letter(text, at), at, mark)
        for at, mark in marks.items()
        if not is_limited(text, at + 1)
    ]


def _sole_letter(text: str, at: int) -> str | None:
    letter = text[at].upper()
    rival = _RIVAL.match(text, at + 1)
    if (
        (rival is not None and rival[1] != letter)
        or _OR.match(text, at + 1)
        or _QUESTION_MARK.match(text, at + 1)
    ):
        return None
    return letter


def _cued_letters(text: str, voices: Voices) -> Iterator[tuple[int, Stance]]:
    """Yield letters that words call the answer."""
    for match in _BOXED.finditer(text):
        yield match.start(1), Stance.FINAL
    for match in _PREDICATE.finditer(text):
        yield match.start("letter"), voices.mark(match.start())
    for cue in cues(text):
        at = letter_at(text, cue.end)
        if at is not None:
            mark = voices.mark(cue.start, final=cue.is_final)
            yield (
                at,
                mark
                if cue.is_assertion
                else Stance.QUOTED
                if voices.is_quoted(at)
                else Stance.MENTIONED,
            )
    at = _closing_letter(text)
    if at is not None:
        announced = ANNOUNCEMENT.search(text, max(0, at - 80), at)
        yield at, Stance.QUOTED if announced or voices.is_quoted(at) else Stance.OWN


def _standalone_letters(text: str, voices: Voices) -> Iterator[tuple[int, Stance]]:
    """Yield standalone letters: at the start, on the last line, or as a clause."""
    verdicts = list(_LETTER_VERDICT.finditer(text))
    if len({match["letter"] for match in verdicts}) > 1:
        right = (match for match in verdicts if match["right"] or match["tick"])
        yield from ((match.start("letter"), Stance.OWN) for match in right)
        return
    if opening := _OPENING.match(text):
        at = opening.start("letter")
        yield at, Stance.FINAL if voices.is_at_start(at) else Stance.QUOTED
    before, line_break, last = text.rstrip().rpartition("\n")
    if line_break and (lone_letter := _ALONE_ON_LINE.match(last)):
        yield len(before) + 1 + lone_letter.start(1), Stance.OWN
    for match in _CAPITAL.finditer(text):
        at = match.start()
        question_mark = _QUESTION_MARK.match(text, at + 1)
        after_or = question_mark and _OR_BEFORE.search(text, max(0, at - 8), at)
        separate = voices.starts_clause(at) or after_or
        if separate and _CLAUSE_END.match(text, match.end()):
            after_letter = _LETTER_BEFORE.search(text, max(0, at - 8), at)
            if not (after_letter or voices.is_reported(at) or _is_cut_pronoun(text, at)):
                yield at, Stance.STATED if question_mark else voices.mark(at)


def _is_cut_pronoun(text: str, at: int) -> bool:
    """Whether the text is cut right after the pronoun "I": "I'm sorry, I"."""
    return text[at:] == "I" and text[:at].rstrip(" ")[-1:] in (".", ",", "!", "?", ";")


def _mentioned_letters(text: str, voices: Voices) -> Iterator[tuple[int, Stance]]:
    """Yield letters after words that usually precede one: "I think B", "probably C"."""
    for match in _CAPITAL.finditer(text):
        before = text[max(0, match.start() - 16) : match.start()]
        is_mention = _MENTION_BEFORE.search(before) and _MENTION_AFTER.match(text, match.end())
        is_cut = _is_cut_pronoun(text, match.start())
        if is_mention and not is_cut and not voices.is_reported(match.start()):
            yield match.start(), Stance.MENTIONED


def letter_at(text: str, at: int) -> int | None:
    """Return `at` if a letter stands there; None if another word does."""
    if re.match(_LETTER, text[at : at + 40]):
        return at
    if _SMALL.match(text, at) or (
        text[max(0, at - 4) : at].rstrip(" ")[-1:] in (*":=*(",) and _SMALL_ALONE.match(text, at)
    ):
        return at
    # "The answer is I, yarn": after the cue, "I" before a comma is not the pronoun.
    return at if re.match(r"[A-Z](?:,|\.)", text[at : at + 2]) else None


def _closing_letter(text: str) -> int | None:
    """Return the offset of a letter that ends the text after "so", "but" or a colon."""
    end = _LAST_LETTER.search(text, max(0, len(text) - 10))
    if end is None or _is_cut_pronoun(text, end.start()):
        return None
    before = text[max(0, end.start() - 40) : end.start()]
    is_conclusion = any(at == len(before) for at in conclusions(before))
    return end.start() if is_conclusion or _COLON.search(before) else None


def blank_denials(text: str) -> tuple[str, set[str]]:
    """Blank out letters the text denies ("not B", "C is wrong"); return the text and letters."""
    denied: set[str] = set()
    for expression in (_DENIED, _REJECTED):
        for match in expression.finditer(text):
            denied.update(_CAPITAL.findall(match[0]))
        text = expression.sub(lambda match: " " * len(match[0]), text)
    return text, denied
