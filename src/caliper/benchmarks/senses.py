"""Distinguish short words that name an option from other senses of the same words (ours).

"Right, let me look", "she has left", "no idea", "one of them" and "light-hearted" name none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from caliper.benchmarks.spellings import SpelledWord

_NEVER_ON_A_SIDE = frozenset(("answer", "option", "choice", "letter", "you"))
_NOUN_BEHIND = re.compile(
    r"[ \t]{1,3}(?!(?:because|since|as|it|there|the|he|she|they|this|that)\b)\w", re.IGNORECASE
)
_NOUN = re.compile(r"\s(?!(?:is|was|as|because|since|and|or|but|due|for|seems)\b)[a-z]")
_ONE_OF_SEVERAL = frozenset(("the", "no", "which", "this", "that", "each", "any", "every"))
_LEAVING = frozenset(
    ("has", "have", "had", "having", "he", "she", "they", "who", "just", "nothing", "time")
)
_ASIDE = re.compile(
    r",?\s(?:let|moment|second|minute|options?|choices|answers|letters)\b", re.IGNORECASE
)
_OFFER = re.compile(
    r",\s(?:I|we)(?:['\u2019]ll|\s(?:can|can['\u2019]t|cannot|could|will|would|won['\u2019]t))\b"
    r"(?!\s(?:see|say|tell|confirm)\b)",
    re.IGNORECASE,
)
_COMPOUND = re.compile(r"-(?!colou?r|tone|hand|side|most|facing)[a-z]", re.IGNORECASE)
_AUXILIARIES = frozenset(("of", "can", "cannot", "can't", "could", "might", "must", "should"))
_APPROVING = frozenset(("that's", "you're", "all", "every", "no"))
_RIGHT_BEHIND = re.compile(
    r",?\s(?:away|now|here|there|enough|to\s(?!the\b))|,\s(?:let|so|I|we|ok|okay|first|looking)\b",
    re.IGNORECASE,
)
_LEFT_BEHIND = re.compile(r"\s(?:the|an?|his|her|its|their|behind|for)\b", re.IGNORECASE)


def names_option(words: Sequence[SpelledWord], at: int, last: int, option: str, text: str) -> bool:
    """Whether the words from `at` to `last` name the option and do not have another sense."""
    if at != last:
        return True
    token = words[at]
    if len(token.spelling) == 1 and token.spelling.isalpha():
        article = token.spelling == "A" and _NOUN.match(text, token.end)
        return token.spelling == option.strip()[-1:] and not article
    if not token.word.isdigit() and _COMPOUND.match(text, token.end):
        return False
    return token.word not in _OTHER_SENSES or not _OTHER_SENSES[token.word](words, at, text)


def _is_determiner(words: Sequence[SpelledWord], at: int, text: str) -> bool:
    end = words[at].end
    if at > 1 and words[at - 2].word == "there":
        return True
    return bool(_NOUN_BEHIND.match(text, end) or _OFFER.match(text, end))


def _is_aside(words: Sequence[SpelledWord], at: int, text: str) -> bool:
    return _ASIDE.match(text, words[at].end) is not None or (
        words[at].word == "second" and at > 0 and words[at - 1].word == "a"
    )


def _is_approval(words: Sequence[SpelledWord], at: int, text: str) -> bool:
    before = {token.word for token in words[max(0, at - 3) : at]}
    agrees = at > 0 and words[at - 1].word in _APPROVING
    aside = _RIGHT_BEHIND.match(text, words[at].end) is not None
    return agrees or aside or bool(before & _NEVER_ON_A_SIDE)


def _is_verb(words: Sequence[SpelledWord], at: int, text: str) -> bool:
    before = words[at - 1].word if at else ""
    is_side = before in ("the", "his", "her", "its", "their", "to", "on")
    left = not is_side and _LEFT_BEHIND.match(text, words[at].end) is not None
    return before in _LEAVING or left


def _is_pronoun(words: Sequence[SpelledWord], at: int, text: str) -> bool:
    before = words[at - 1].word if at else ""
    if words[at].spelling.isdigit():
        return False
    return (
        before in _ONE_OF_SEVERAL
        or (at + 1 < len(words) and words[at + 1].word in _AUXILIARIES)
        or _is_aside(words, at, text)
    )


_OTHER_SENSES: Mapping[str, Callable[[Sequence[SpelledWord], int, str], bool]] = {
    "yes": lambda words, at, text: _OFFER.match(text, words[at].end) is not None,
    "no": _is_determiner,
    "first": _is_aside,
    "second": _is_aside,
    "2": _is_aside,
    "right": _is_approval,
    "left": _is_verb,
    "1": _is_pronoun,
    "may": lambda words, at, _: words[at].spelling == "may",
}
