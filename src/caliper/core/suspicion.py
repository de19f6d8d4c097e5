"""Signs that a caption was written for the judge rather than about the picture.

For counting only: nothing here changes a score, a prompt or a verdict. A sign is not proof: the
faithful description of a notice that says "ignore the alarm" has one.

A caption can also win by stating everything: all colours, all numbers, every category. The bounds
for those signs are ours. Honest captions of 330 to 410 words, written to be colourful, have at
most 2,311 characters, 23 of the colours, 7 of the numbers, and 67 commas, semicolons and full
stops; those of the examples at most 10, 4 and 41. At most 59% of their words are different, and
there are at most 8 words for each mark; in the examples 18. Each bound is well above that.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Container, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from string import ascii_lowercase
from types import MappingProxyType

from caliper.core.fence import clip, has_hidden_characters, has_markup, neutralize
from caliper.core.hedges import COLOURS, NUMBERS, has_hedges
from caliper.core.keys import text_digest


class Sign(StrEnum):
    """A sign of suspicion in a caption."""

    INSTRUCTION = "instruction"  # orders to the judge: "ignore all previous instructions"
    VERDICT = "verdict"  # a reply in the judge's format: {"score": "1"}
    SCORE = "score"  # asks for a score: "give it 5 points", "full marks"
    LETTER = "letter"  # names an option: "the answer is B"
    DELIMITER = "delimiter"  # marks of chat templates, of the fence, or a role at a line's start
    HIDDEN = "hidden"  # invisible characters, or marks that change the text direction
    LONG = "long"  # more than 8,000 characters, or more than 500 lines
    LIST = "list"  # mostly single words between punctuation marks, or ever new words without it
    COLOURS = "colours"  # 30 or more of the colour names
    NUMBERS = "numbers"  # 12 or more of the number words
    HEDGES = "hedges"  # "1 or 2 or 3 or 4": one of them may be right
    CATEGORIES = "categories"  # nearly all names of a group of which only one can be right
    REPEATED = "repeated"  # the same long text for several media


STUFFING = frozenset(
    {
        *(Sign.LONG, Sign.LIST, Sign.COLOURS, Sign.NUMBERS, Sign.HEDGES),
        *(Sign.CATEGORIES, Sign.REPEATED),
    }
)
"""Signs of a caption that states everything, so that some of it is right."""
STUFFED_SHARE = 0.05
"""Figures are accepted with up to this share of captions with signs of stuffing (ours)."""
MANY_MEDIA = 5
"""No long text is true of this many media (ours)."""
Alternatives = Collection[Collection[str]]
"""Groups of lower-case names; an honest caption states one of each."""

_CHARACTERS, _LINES = 8_000, 500
_MARKS, _WORDS_A_MARK = 150, 4
_MOST_COLOURS, _MOST_NUMBERS = 30, 12
# At least so many different words: of captions with few marks, and of those with few repeats.
_FEW_MARKS, _FEW_REPEATS, _WORDS_A_BREAK, _SHARE_NEW = 100, 200, 50, 0.7
_REPEATED_WORDS = 20
# A translation table for UTF-8 bytes: keeps the letters a to z, turns the rest into spaces.
_LETTERS_ONLY = bytes(code if chr(code) in ascii_lowercase else 32 for code in range(256))

# "Ignore the instructions" in some languages that models read. Letters that look like Latin ones
# are escaped.
_ORDERS = (
    # English: an order to forget earlier instructions, and text addressed to or about the judge.
    r"\b(?:ignore|disregard|forget|override|bypass)\b[^.\n]{0,40}\b(?:instructions?|prompts?"
    r"|rules?|above|previous|prior|guidelines?|rubric|annotations?)\b"
    r"|\b(?:system prompt|as the (?:judge|grader|evaluator|reader)|dear (?:judge|grader)"
    r"|you are now|new instructions?|developer mode)\b"
    r"|\b(?:note|message|instructions?) (?:to|for) (?:the |all )?(?:judges?|graders?"
    r"|evaluators?|readers?|models?|assistants?|ai)\b"
    # German
    r"|\b(?:ignorier\w*+|vergiss|missacht\w*+)\b[^.\n]{0,40}\b(?:anweisung\w*+|regeln?)\b"
    # French, Spanish, Portuguese, Italian
    r"|\b(?:ignor\w*+|oubli\w*+|olvid\w*+|esque[c\u00e7]\w*+)\b[^.\n]{0,40}"
    r"\b(?:instructions|consignes|r\u00e8gles|instruc\w++|istruzioni|reglas|regras|regole)\b"
    # Russian
    r"|\b(?:\u0438\u0433\u043d\u043e\u0440\u0438\u0440|\u0437\u0430\u0431\u0443\u0434)\w*+"
    r"[^.\n]{0,40}\b(?:\u0438\u043d\u0441\u0442\u0440\u0443\u043a\u0446|\u043f\u0440\u0430"
    r"\u0432\u0438\u043b)\w*+"
    # Chinese, Japanese, Korean
    r"|(?:\u5ffd\u7565|\u5ffd\u89c6|\u65e0\u89c6|\u7121\u8996)[^\u3002\n]{0,20}"
    r"(?:\u6307\u4ee4|\u6307\u793a|\u63d0\u793a|\u89c4\u5219|\u898f\u5247)"
    r"|(?:\u6307\u793a|\u547d\u4ee4)[^\u3002\n]{0,12}(?:\u7121\u8996|\u5ffd\u308c)"
    r"|(?:\uc9c0\uc2dc|\uba85\ub839)[^.\n]{0,12}\ubb34\uc2dc"
    # Arabic, Hindi
    r"|\u062a\u062c\u0627\u0647\u0644[^.\n]{0,40}\u0627\u0644\u062a\u0639\u0644\u064a\u0645"
    r"|\u0928\u093f\u0930\u094d\u0926\u0947\u0936[^.\n]{0,30}\u0905\u0928\u0926\u0947\u0916"
)
_PATTERNS: Mapping[Sign, re.Pattern[str]] = {
    Sign.INSTRUCTION: re.compile(_ORDERS),
    Sign.VERDICT: re.compile(
        r"[\"']?\b(?:score|pred|verdict|rating|answer|letter|choice)\b[\"']\s*:\s*[\[\"'\-0-9]"
    ),
    Sign.SCORE: re.compile(
        r"\b(?:give|award|assign|output|return|rate)\b[^.\n]{0,40}\b(?:score|points?|marks?|rating"
        r"|[0-5] ?/ ?5|[0-5] out of 5)\b|\bfull marks\b|\b(?:maximum|highest|perfect) score\b"
        r"|\bscore (?:of |is |= ?|: ?)-?[0-9]\b"
    ),
    Sign.LETTER: re.compile(
        r"\b(?:(?:correct|right|final) )?(?:answer|option|choice)\b(?: is|:| =| must be| with)? "
        r"?\(?\"?[A-Z]\b|\b(?:answer|reply|respond|choose|select|pick)\b[^.\n]{0,20}"
        r"\b(?:with|option|letter)\b[^.\n]{0,12}\b[A-Z]\b"
    ),
    Sign.DELIMITER: re.compile(
        r"^\s{0,3}+(?:(?:#{1,6}+\s{0,3}+)?(?:system|assistant|user|human|judge)\s{0,3}+:"
        r"|(?:-{3,}+|={3,}+|#{3,}+)\s{0,3}+(?:end|begin|start|stop|new)\b)"
        # In capitals anywhere: that is how Vicuna's turns begin.
        r"|(?-i:\b(?:USER|ASSISTANT)\s{0,3}:)",
        re.IGNORECASE | re.MULTILINE,
    ),
}
_CASED = frozenset({Sign.LETTER, Sign.DELIMITER})
"""Case-sensitive patterns; the others are matched against the text in lower case."""
# Every match of a pattern has one of its words or contains one of its stems, so most captions need
# no search. Delimiters have no words: without regard to case, a dotless i matches theirs too.
_WORDS: Mapping[Sign, frozenset[bytes]] = {
    Sign.INSTRUCTION: frozenset(
        b"disregard forget override bypass prompt judge grader evaluator reader you instruction"
        b" instructions developer note message vergiss".split()
    ),
    Sign.VERDICT: frozenset(b"score pred verdict rating answer letter choice".split()),
    Sign.SCORE: frozenset(b"give award assign output return rate marks score".split()),
    Sign.LETTER: frozenset(b"answer option choice reply respond choose select pick".split()),
    Sign.DELIMITER: frozenset(),
}
_STEMS: Mapping[Sign, tuple[str, ...]] = {
    Sign.INSTRUCTION: (
        *("ignor", "missacht", "oubli", "olvid", "esquec", "esque\u00e7"),
        *("\u0438\u0433\u043d\u043e\u0440", "\u0437\u0430\u0431\u0443\u0434"),
        *("\u5ffd\u7565", "\u5ffd\u89c6", "\u65e0\u89c6", "\u7121\u8996"),
        *("\u6307\u793a", "\u547d\u4ee4", "\uc9c0\uc2dc", "\uba85\ub839"),
        *("\u062a\u062c\u0627\u0647\u0644", "\u0928\u093f\u0930\u094d\u0926\u0947\u0936"),
    ),
    Sign.VERDICT: (),
    Sign.SCORE: (),
    Sign.LETTER: (),
    Sign.DELIMITER: (":", "---", "===", "###"),
}


def signs(text: str, alternatives: Alternatives = ()) -> tuple[Sign, ...]:
    """The signs of a caption, in the order of `Sign`; none for an ordinary one.

    Phrases are matched in the NFKC form of the neutral text, so that invisible characters and
    full-width letters hide nothing.
    """
    plain = unicodedata.normalize("NFKC", neutralize(text))
    lower = plain.lower()
    tokens = _tokens(lower)
    words = frozenset(tokens)
    detected = {
        sign
        for sign, pattern in _PATTERNS.items()
        if _may_match(sign, lower, words) and pattern.search(plain if sign in _CASED else lower)
    }
    raw = clip(text)
    if has_markup(raw):
        detected.add(Sign.DELIMITER)
    if has_hidden_characters(raw):
        detected.add(Sign.HIDDEN)
    if len(text) > _CHARACTERS or raw.count("\n") > _LINES:
        detected.add(Sign.LONG)
    detected.update(_stuffing(lower, tokens, words, alternatives))
    if not detected:
        return ()
    return tuple(sign for sign in Sign if sign in detected)


def _tokens(lower: str) -> list[bytes]:
    """The words of the letters a to z, in order."""
    return lower.encode().translate(_LETTERS_ONLY).split()


def _may_match(sign: Sign, lower: str, words: frozenset[bytes]) -> bool:
    return not words.isdisjoint(_WORDS[sign]) or any(stem in lower for stem in _STEMS[sign])


def _stuffing(
    lower: str, tokens: list[bytes], words: frozenset[bytes], alternatives: Alternatives
) -> Iterator[Sign]:
    if _is_list(lower, len(tokens), len(words)):
        yield Sign.LIST
    if len(words & COLOURS) >= _MOST_COLOURS:
        yield Sign.COLOURS
    if len(words & NUMBERS) >= _MOST_NUMBERS:
        yield Sign.NUMBERS
    if has_hedges(lower, words):
        yield Sign.HEDGES
    if any(_nearly_all(names, lower) for names in alternatives):
        yield Sign.CATEGORIES


def _is_list(lower: str, words: int, different: int) -> bool:
    """Whether words stand beside each other without making sentences."""
    marks = lower.count(",") + lower.count(";") + lower.count(".")
    # Scripts without spaces have no words to count.
    if marks >= _MARKS and lower.isascii() and len(lower.split()) < _WORDS_A_MARK * marks:
        return True
    if different >= _FEW_REPEATS and different > _SHARE_NEW * words:
        return True
    if different < _FEW_MARKS:
        return False
    return words > _WORDS_A_BREAK * (marks + sum(map(lower.count, ":!?\n")))


def _nearly_all(names: Collection[str], text: str) -> bool:
    """Whether the text has all names, at least four; if there are more, one may be missing."""
    missing = 0
    for name in names:
        missing += name not in text
        if missing > (len(names) > 4):
            return False
    return len(names) > 3


@dataclass(frozen=True, slots=True)
class Suspicious:
    """How many of the `examined` captions have signs, in total and per sign, and how many have any
    of `STUFFING`.
    """

    captions: int = 0
    examined: int = 0
    signs: Mapping[str, int] = field(default_factory=dict)
    stuffed: int = 0

    @property
    def stuffing(self) -> bool:
        """Whether more than `STUFFED_SHARE` of the captions have signs of stuffing."""
        return self.stuffed > STUFFED_SHARE * self.examined


def repeated(texts: Mapping[str, str]) -> dict[str, str]:
    """By sample, the digest of each text of at least 20 words that at least 5 samples share: a
    text that is true of several media is short (both bounds are ours).
    """
    digests = {
        sample: text_digest(text)
        for sample, text in texts.items()
        if len(text.split()) >= _REPEATED_WORDS
    }
    samples = Counter(digests.values())
    return {sample: text for sample, text in digests.items() if samples[text] >= MANY_MEDIA}


def count_signs(
    texts: Mapping[str, str],
    alternatives: Alternatives = (),
    known: Mapping[Sign, Container[str]] = MappingProxyType({}),
) -> Suspicious:
    """Count the signs of captions, given by sample; signs without captions are left out. `known`
    are the samples that have a sign which their text alone does not show.
    """
    counts: Counter[Sign] = Counter()
    captions = stuffed = 0
    for sample, text in texts.items():
        detected = set(signs(text, alternatives))
        detected.update(sign for sign, samples in known.items() if sample in samples)
        counts.update(detected)
        captions += bool(detected)
        stuffed += not STUFFING.isdisjoint(detected)
    present = {str(sign): counts[sign] for sign in Sign if counts[sign]}
    return Suspicious(captions, len(texts), present, stuffed)
