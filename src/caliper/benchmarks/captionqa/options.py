"""Options of a question: which get the cannot option, in what order, under what letters."""

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
    """Tell by the released rule whether a question is answered yes or no.

    Some choice contains "yes" and some choice contains "no", wherever ("Snow" counts), or
    the question opens with an auxiliary verb and a space.
    """
    lowered = [choice.lower() for choice in choices]
    in_choices = any("yes" in choice for choice in lowered) and any(
        "no" in choice for choice in lowered
    )
    return in_choices or _OPENING.match(question.strip()) is not None


def yes_no_exact(question: str, choices: Sequence[str]) -> bool:  # noqa: ARG001 - a YesNoRule
    """Tell the same by whole words: some choice has the word "yes", some choice the word "no".

    How the question opens does not matter: "Is it red or blue?" is not answered yes or no.
    """
    return any(map(_YES.search, choices)) and any(map(_NO.search, choices))


YES_NO_RULES: dict[str, YesNoRule] = {"released": yes_no_released, "exact": yes_no_exact}


def drawn_for_question(seed: int, item: str, ordinal: int, size: int) -> Permutation:
    """Caliper's permutation: it depends on the seed, the item and the ordinal, nothing else."""
    digest = hashlib.sha256(f"{seed}\0{item}\0{ordinal}".encode("utf-8", "surrogatepass")).digest()
    # A reproducible order is what is wanted; nobody must be kept from guessing it.
    return shuffled(random.Random(int.from_bytes(digest[:8])), size)  # noqa: S311


def released_generator() -> random.Random:
    """The one generator of the released script. Its seed is 0 whatever the run's seed is."""
    # The same: a reproducible order, no secret.
    return random.Random(0)  # noqa: S311


def shuffled(generator: random.Random, size: int) -> Permutation:
    """The next permutation of 0 .. size - 1; it advances the generator."""
    order = list(range(size))
    generator.shuffle(order)
    return tuple(order)


def label(place: int) -> str:
    """What stands before the option shown at `place`: A to Z, then the numbers from 27.

    Both readings take a number for a place counted from 1, so those can be read as well.
    """
    return string.ascii_uppercase[place] if place < 26 else str(place + 1)
