"""Signs that a caption was written for the judge rather than about the picture.

For counting only: nothing here changes a score, a prompt or a verdict. A sign is no proof. A
picture of a warning that says "ignore the alarm", described faithfully, has one.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from caliper.core.untrusted import LONGEST, hidden, marked, neutral


class Sign(StrEnum):
    """What looks odd about a caption."""

    INSTRUCTION = "instruction"  # orders to whoever judges: "ignore all previous instructions"
    VERDICT = "verdict"  # a reply in the form that judges give: {"score": "1"}
    SCORE = "score"  # asks for a score: "give it 5 points", "full marks"
    LETTER = "letter"  # names an option: "the answer is B"
    DELIMITER = "delimiter"  # marks of chat templates, of the fence, or a role at a line's start
    HIDDEN = "hidden"  # characters that nobody sees, or that turn the direction of writing
    LONG = "long"  # more characters than a prompt holds, or more than 500 lines


_LINES = 500

# "Ignore the instructions", as it is written in some languages that models read. Letters that
# look like Latin ones are written by their numbers.
_ORDERS = (
    # English: an order to forget what was said, and talk to or about whoever judges.
    r"\b(?:ignore|disregard|forget|override|bypass)\b[^.\n]{0,40}\b(?:instructions?|prompts?"
    r"|rules?|above|previous|prior|guidelines?|rubric|annotations?)\b"
    r"|\b(?:system prompt|as the (?:judge|grader|evaluator|reader)|dear (?:judge|grader)"
    r"|you are now|new instructions?|developer mode)\b"
    r"|\b(?:note|message|instructions?) (?:to|for) (?:the |all )?(?:judges?|graders?"
    r"|evaluators?|readers?|models?|assistants?|ai)\b"
    # German
    r"|\b(?:ignorier\w*|vergiss|missacht\w*)\b[^.\n]{0,40}\b(?:anweisung\w*|regeln?)\b"
    # French, Spanish, Portuguese, Italian
    r"|\b(?:ignor\w*|oubli\w*|olvid\w*|esque[c\u00e7]\w*)\b[^.\n]{0,40}"
    r"\b(?:instructions|consignes|r\u00e8gles|instruc\w+|istruzioni|reglas|regras|regole)\b"
    # Russian
    r"|\b(?:\u0438\u0433\u043d\u043e\u0440\u0438\u0440|\u0437\u0430\u0431\u0443\u0434)\w*"
    r"[^.\n]{0,40}\b(?:\u0438\u043d\u0441\u0442\u0440\u0443\u043a\u0446|\u043f\u0440\u0430"
    r"\u0432\u0438\u043b)\w*"
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
    Sign.INSTRUCTION: re.compile(_ORDERS, re.IGNORECASE),
    Sign.VERDICT: re.compile(
        r"[\"']?\b(?:score|pred|verdict|rating|answer|letter|choice)\b[\"']\s*:\s*[\[\"'\-0-9]",
        re.IGNORECASE,
    ),
    Sign.SCORE: re.compile(
        r"\b(?:give|award|assign|output|return|rate)\b[^.\n]{0,40}\b(?:score|points?|marks?|rating"
        r"|[0-5] ?/ ?5|[0-5] out of 5)\b|\bfull marks\b|\b(?:maximum|highest|perfect) score\b"
        r"|\bscore (?:of |is |= ?|: ?)-?[0-9]\b",
        re.IGNORECASE,
    ),
    Sign.LETTER: re.compile(
        r"\b(?:(?:correct|right|final) )?(?:answer|option|choice)\b(?: is|:| =| must be| with)? "
        r"?\(?\"?[A-Z]\b|\b(?:answer|reply|respond|choose|select|pick)\b[^.\n]{0,20}"
        r"\b(?:with|option|letter)\b[^.\n]{0,12}\b[A-Z]\b"
    ),
    Sign.DELIMITER: re.compile(
        r"^\s{0,3}(?:#{1,6}\s{0,3})?(?:system|assistant|user|human|judge)\s{0,3}:"
        # In capitals anywhere: so Vicuna's turns begin.
        r"|(?-i:\b(?:USER|ASSISTANT)\s{0,3}:)"
        r"|^\s{0,3}(?:-{3,}|={3,}|#{3,})\s{0,3}(?:end|begin|start|stop|new)\b",
        re.IGNORECASE | re.MULTILINE,
    ),
}
_TESTS: Mapping[Sign, Callable[[str], bool]] = {
    Sign.DELIMITER: marked,
    Sign.HIDDEN: hidden,
    Sign.LONG: lambda text: len(text) > LONGEST or text.count("\n") > _LINES,
}


def signs(text: str) -> tuple[Sign, ...]:
    """The signs of a caption, in the order of `Sign`; none for an ordinary one.

    Phrases are looked for in the neutral text in its compatibility form, so that hidden
    characters and full-width letters between or instead of ordinary ones hide nothing.
    """
    plain = unicodedata.normalize("NFKC", neutral(text))
    return tuple(
        sign
        for sign in Sign
        if (sign in _PATTERNS and _PATTERNS[sign].search(plain))
        or (sign in _TESTS and _TESTS[sign](text))
    )


@dataclass(frozen=True, slots=True)
class Suspicious:
    """How many of the `examined` captions have signs, and how many have each."""

    captions: int = 0
    examined: int = 0
    signs: Mapping[str, int] = field(default_factory=dict)


def count(texts: Iterable[str]) -> Suspicious:
    """The counts over captions; signs that none has are left out."""
    found = [signs(text) for text in texts]
    counts = {str(sign): sum(sign in each for each in found) for sign in Sign}
    present = {sign: number for sign, number in counts.items() if number}
    return Suspicious(sum(map(bool, found)), len(found), present)
