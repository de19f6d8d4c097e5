"""Options of a question: the cannot option, their order, and their letters."""

from __future__ import annotations

import hashlib
import random
import re
import string
from collections.abc import Callable, Sequence

_OPENING = re.compile(
    r"(?:is|are|was|were|do|does|did|have|has|had|can|could|will|would|should|shall|may|might"
    r"|must) ",
    re.IGNORECASE,
)
_YES = re.compile(r"\byes\b", re.IGNORECASE)
_NO = re.compile(r"\bno\b", re.IGNORECASE)

YesNoRule = Callable[[str, Sequence[str]], bool]
Permutation = tuple[int, ...]


def yes_no_released(question: str, choices: Sequence[str]) -> bool:
    """Whether a question is a yes/no question by the released rule.

    It is if some choice contains "yes" and some choice contains "no" anywhere ("Snow" counts),
    or if the question opens with an auxiliary verb and a space.
    """
    lowered = [choice.lower() for choice in choices]
    in_choices = any("yes" in choice for choice in lowered) and any(
        "no" in choice for choice in lowered
    )
    return in_choices or _OPENING.match(question.strip()) is not None


def yes_no_exact(question: str, choices: Sequence[str]) -> bool:  # noqa: ARG001 - a YesNoRule
    """Whether some choice has the word "yes" and some choice the word "no".

    The question's opening does not matter: "Is it red or blue?" is not a yes/no question.
    """
    return any(map(_YES.search, choices)) and any(map(_NO.search, choices))


YES_NO_RULES: dict[str, YesNoRule] = {"released": yes_no_released, "exact": yes_no_exact}


def question_permutation(seed: int, item: str, ordinal: int, size: int) -> Permutation:
    """Return Caliper's permutation, which depends only on the seed, the item and the ordinal."""
    digest = hashlib.sha256(f"{seed}\0{item}\0{ordinal}".encode("utf-8", "surrogatepass")).digest()
    # The order must be reproducible, not unpredictable.
    return shuffle(random.Random(int.from_bytes(digest[:8])), size)  # noqa: S311


def released_generator() -> random.Random:
    """Return the single generator of the released script; its seed is 0, not the run's seed."""
    # Reproducible, not unpredictable, as above.
    return random.Random(0)  # noqa: S311


def shuffle(generator: random.Random, size: int) -> Permutation:
    """Draw the next permutation of 0 .. size - 1 from the generator."""
    order = list(range(size))
    generator.shuffle(order)
    return tuple(order)


def label(place: int) -> str:
    """Return the label of the option shown at `place`: A to Z, then the numbers from 27.

    Both readings interpret a number as a 1-based position, so these labels are readable too.
    """
    return string.ascii_uppercase[place] if place < 26 else str(place + 1)
