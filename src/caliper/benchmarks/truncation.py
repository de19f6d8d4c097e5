"""Find what a reply had certainly stated when its token limit cut it off (ours)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from caliper.benchmarks.replies import answer_text
from caliper.benchmarks.statements import Stance, Statement, Value, Voices, settle

_OWN_LINE = re.compile(r"\n\s{0,4}(?:```\w{0,8}\s{1,2})?\Z")
# It shows how the output has to look.
_FORMAT = re.compile(
    r"\b(?:formats?|examples?|templates?|schema|outputs|scores|possible|like)\b[^.!?\n]{0,40}\n"
    r"\s{0,4}(?:```\w{0,8}\s{1,2})?\Z",
    re.IGNORECASE,
)
_LAST_NUMBER = re.compile(r"(?<![0-9.,:/])[0-9][0-9.,:/]{0,20}\Z")


def settle_reply(
    statements: Sequence[Statement[Value]], voices: Voices, *, truncated: bool
) -> Value | None:
    """Return the answer as `settle` does; in a truncated reply only a declared one counts."""
    if truncated and all(statement.mark < Stance.OWN for statement in statements):
        return None
    return settle(statements, voices)


def mark_of_object(voices: Voices, at: int, *, truncated: bool) -> Stance:
    """Return the mark of an object; one on a line of its own is declared if the rest is cut."""
    mark = voices.mark_of_object(at)
    if not truncated or mark is not Stance.STATED:
        return mark
    own_line = _OWN_LINE.search(voices.text, max(0, at - 16), at)
    is_format = _FORMAT.search(voices.text, max(0, at - 100), at)
    return Stance.OWN if own_line and not is_format else mark


def certain_part(reply: str, options: Sequence[str]) -> str:
    """Return a truncated reply without an option or number that may go on to another option.

    "There are 1" may end as "There are 10". A reply that is only an option stays whole.
    """
    said = reply.rstrip()
    texts = [option.strip() for option in options]
    folded = [text.casefold() for text in texts]
    if answer_text(said).strip().casefold() in folded:
        return reply
    number = _LAST_NUMBER.search(said, max(0, len(said) - 24))
    if number:
        longer = rf"(?<![0-9]){re.escape(number[0])}[.,:/]?[0-9]"
        if re.search(longer, "\n".join(texts)):
            return said[: number.start()]
    for text in filter(None, folded):
        rest, end = said[: len(said) - len(text)], said[len(said) - len(text) :]
        if end.casefold() == text and not rest[-1:].isalnum():
            longer = rf"{re.escape(text)}[^\w\n]"
            if any(re.match(longer, other) for other in folded):
                return rest
    return reply
