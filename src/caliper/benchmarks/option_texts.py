"""Find options that a reply names by their text (ours).

Comparison ignores case, character width, plural endings, articles and number formats: "2"
equals "two" and "$129.9" equals "$129.90".
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from caliper.benchmarks.senses import names_option
from caliper.benchmarks.spellings import SpelledWord, is_part_of_number, singular, stem, tokens

_SMALL_WORDS = frozenset(
    (
        "a",
        "an",
        "the",
        "of",
        "to",
        "in",
        "on",
        "at",
        "it",
        "is",
        "are",
        "with",
        "by",
        "his",
        "her",
        "its",
        "their",
        "un",
        "une",
        "el",
        "los",
        "las",
        "der",
        "das",
        "ein",
        "eine",
    )
)
_NEGATIONS = frozenset(
    (
        "not",
        "no",
        "never",
        "without",
        "neither",
        "nor",
        "cannot",
        "unlike",
        "except",
        "excluding",
        "than",
    )
)
_NEGATED_PAIRS = frozenset((("rather", "than"), ("instead", "of"), ("free", "of")))
# "At least two" may be three.
_BOUND = re.compile(
    r"\b(?:(?:more|less|fewer|greater|other)\sthan|at\s(?:least|most)|up\sto|over|under|above|below"
    r"|(?:minimum|maximum)\sof)\s[$\u00a3\u20ac\u00a5]?$",
    re.IGNORECASE,
)
_BOUNDARY = re.compile(r"[.,;:!?\n]|\b(?:but|so|because|however)\b", re.IGNORECASE)
_DENIED_BEFORE = re.compile("[\u4e0d\u6ca1\u975e]")
_DENIED_BEHIND = re.compile(
    "(?:\u3067\u306f|\u3058\u3083)(?:\u306a\u3044|\u3042\u308a\u307e\u305b\u3093)"
)
_YES_NO_OPENING = re.compile(
    r"\A\W{0,8}\b(?:(?P<yes>yeah|yep|yup|yea)|nope|nah)(?=\W{0,4}(?:[,.!;:\n]|$))", re.IGNORECASE
)
_YES_NO_ALONE = re.compile(
    r"\A\W{0,8}(?:(?P<yes>true|correct|affirmative|indeed)|false|incorrect|negative)\W{0,8}\Z",
    re.IGNORECASE,
)
_NONE_ALONE = re.compile(
    r"none(?:\s(?:of|the|these|those|them|above|options|choices|listed|given)){0,5}", re.IGNORECASE
)
_NONE_LISTED = re.compile(
    r"\bnone\sof\s(?:the\s(?:listed|given|above|offered|options|choices|answers)|these|those)\b",
    re.IGNORECASE,
)
# Here "A" is not the article: "A. Blue".
_LABELLED = re.compile(r"\W{0,3}A[)\]*]{0,3}[.:)]", re.IGNORECASE)
_FIRST_UNSPACED_SCRIPT = "\u2e80"


@dataclass(frozen=True, slots=True)
class OptionMention:
    """A mention of the option at index `place`; `negated` as in "not red" or "over 5"."""

    place: int
    start: int
    end: int
    negated: bool = False


class OptionTexts:
    """A matcher that finds the options of a question in replies."""

    def __init__(self, options: Sequence[str]) -> None:
        self.options = options
        words_of_options = [tokens(option) for option in options]
        self.exact = [tuple(token.word for token in each) for each in words_of_options]
        self.numbered = any(token.word[0].isdigit() for each in words_of_options for token in each)
        self.lettered = any(
            len(option.strip()) == 1 and option.strip().isalpha() for option in options
        )
        pair = [at for word in ("yes", "no") for at in self._places((word,))]
        self.yes_no = tuple(pair) if len(pair) == 2 else None
        nones = [at for at, words in enumerate(self.exact) if words[:2] == ("none", "of")]
        self._none = nones[0] if len(nones) == 1 else None
        self._answers = ("yes", "no") if any(each[:1] == ("yes",) for each in self.exact) else ()
        keys = [self._key(words) for words in self.exact]
        plain = [tuple(map(stem, key)) for key in keys]
        # If "dog" and "dogs" are two options, only the ending distinguishes them.
        self._plain = max(Counter(plain).values(), default=1) == 1
        self._keys = plain if self._plain else keys
        self._by_first: dict[str, list[int]] = {}
        for place, key in enumerate(self._keys):
            if key and self._keys.count(key) == 1:
                self._by_first.setdefault(key[0], []).append(place)

    def _places(self, words: tuple[str, ...]) -> list[int]:
        return [at for at, exact in enumerate(self.exact) if exact == words]

    def plain(self, text: str) -> str:
        """Replace an opening synonym of yes or no ("yep", "nope") with "Yes" or "No"."""
        word = _YES_NO_ALONE.match(text) or _YES_NO_OPENING.match(text) if self.yes_no else None
        if word is None or any(word[0].strip().casefold() in words for words in self.exact):
            return text
        return ("Yes" if word["yes"] else "No") + text[word.end() :]

    def shares_words(self, place: int) -> bool:
        """Whether another option has all its words and more: "blue" and "dark blue"."""
        own = set(self.exact[place])
        return any(own < set(words) for words in self.exact)

    def exact_match(self, text: str) -> int | None:
        """Return the one option equal to the whole text, ignoring case and punctuation."""
        folded = text.strip().casefold()
        matches = [
            at for at, option in enumerate(self.options) if option.strip().casefold() == folded
        ]
        words = tuple(token.word for token in tokens(text))
        if not matches and words:
            matches = self._places(words)
        is_question = len(words) > 1 and text.rstrip().endswith("?")
        if not matches and _LABELLED.match(text):
            return None
        if not matches and not is_question and (key := self._comparison_key(words)):
            matches = [at for at, option_key in enumerate(self._keys) if option_key == key]
        if not matches and len(words) == 1 and words[0].isdigit():
            matches = [at for at, option_key in enumerate(self._keys) if words[0] in option_key]
        if not matches and words:
            joined = "".join(words)
            matches = [at for at, exact in enumerate(self.exact) if "".join(exact) == joined]
        if not matches and self._none is not None and _NONE_ALONE.fullmatch(" ".join(words)):
            matches = [self._none]
        return matches[0] if len(matches) == 1 else None

    def _comparison_key(self, words: tuple[str, ...]) -> tuple[str, ...]:
        key = self._key(words)
        return tuple(map(stem, key)) if self._plain else key

    def _key(self, words: tuple[str, ...]) -> tuple[str, ...]:
        """Drop small words, and a leading "yes" or "no" if other words follow."""
        if len(words) > 1 and words[0] in self._answers and words[1] not in self._answers:
            words = words[1:]
        last = len(words) - 1
        content_words = (
            word
            for at, word in enumerate(words)
            if word not in _SMALL_WORDS or (at == last and word == "a")
        )
        return tuple(content_words) or words

    def mentions(self, text: str) -> list[OptionMention]:
        """Return the mentions of options, in order; of overlapping ones the longer."""
        words = tokens(text)
        candidates = [*self._in_words(text, words), *self._in_unspaced(text)]
        if self._none is not None:
            none_matches = _NONE_LISTED.finditer(text)
            candidates += [
                OptionMention(self._none, match.start(), match.end()) for match in none_matches
            ]
        candidates.sort(key=lambda mention: (mention.start, -mention.end))
        disjoint: list[OptionMention] = []
        for mention in candidates:
            if not disjoint or mention.start >= disjoint[-1].end:
                disjoint.append(mention)
        return disjoint

    def _in_words(self, text: str, words: Sequence[SpelledWord]) -> Iterator[OptionMention]:
        boundaries = [match.start() for match in _BOUNDARY.finditer(text)]
        compared = [stem(token.word) if self._plain else token.word for token in words]
        clause = negation = 0
        for at, token in enumerate(words):
            while clause < len(boundaries) and boundaries[clause] < token.start:
                clause, negation = clause + 1, 0
            for place in self._by_first.get(compared[at], ()):
                last = self._end_of(place, compared, at)
                # The single word "stand" does not name the option Standing.
                if last == at and not self._is_inflected(token.word, place):
                    continue
                if last is None or not names_option(words, at, last, self.options[place], text):
                    continue
                if is_part_of_number(words, at, last, text):
                    continue
                bounded = token.word[0].isdigit() and _BOUND.search(
                    text, max(0, token.start - 16), token.start
                )
                yield OptionMention(
                    place, token.start, words[last].end, negation > 0 or bool(bounded)
                )
            negation += _negates(words, at)

    def _is_inflected(self, word: str, place: int) -> bool:
        """Whether the word is the option's own, or an inflection as "stands" for Standing."""
        same_stem = [own for own in self.exact[place] if stem(own) == stem(word)]
        return any(
            singular(own) == singular(word) or (own.endswith("ing") and word.endswith(("s", "ed")))
            for own in same_stem
        )

    def _end_of(self, place: int, compared: Sequence[str], at: int) -> int | None:
        """Return the index of the last word of the option mentioned from `at`.

        Up to two other words may precede a long word of the option.
        """
        last = at
        for key_word in self._keys[place][1:]:
            reach = 4 if len(key_word) > 2 else 2
            ahead = compared[last + 1 : last + reach]
            step = ahead.index(key_word) + 1 if key_word in ahead else None
            if step and any(_denies(word) or word == "or" for word in ahead[: step - 1]):
                return None
            if step is None:
                return None
            last += step
        return last

    def _in_unspaced(self, text: str) -> Iterator[OptionMention]:
        for place, option in enumerate(self.options):
            if option.strip()[:1] >= _FIRST_UNSPACED_SCRIPT:
                for match in re.finditer(re.escape(option.strip()), text):
                    before, after = text[max(0, match.start() - 3) : match.start()], match.end()
                    negated = bool(
                        _DENIED_BEFORE.search(before) or _DENIED_BEHIND.match(text, after)
                    )
                    yield OptionMention(place, match.start(), match.end(), negated)


def _negates(words: Sequence[SpelledWord], at: int) -> bool:
    word = words[at].word
    pair = (word, words[at + 1].word) if at + 1 < len(words) else ()
    return _denies(word) or pair in _NEGATED_PAIRS


def _denies(word: str) -> bool:
    return word in _NEGATIONS or word.endswith("n't")
