"""Captions whose share of mistakes is set, for questions about colours.

Of the standard library only: a model in Triton has a copy of this file.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

RATES = {"nat": 0.2, "doc": 0.3, "ecom": 0.25, "emb": 0.25}
"""The share of facts that the first checkpoint gets wrong, by the prefix of a sample's id."""
COLOURS = ("red", "green", "blue", "yellow", "white", "black", "brown", "grey")
WORDS = ("carmine", "verdant", "ultramarine", "saffron", "alabaster", "sable", "umber", "ashen")
"""Other words for these colours, which the judge knows, and rules over words do not."""
OTHER_WORDS, REWORDED = 0.4, 0.4
"""The share of facts told in other words, and of facts of a checkpoint whose words are drawn anew.

With them, lexical rules see of a verdict what they see of real ones, or less: see RULES_KNOW of the
questions.
"""
THINGS = (
    *("cup", "chair", "lamp", "book", "ball", "box", "door", "kite", "bag", "bench"),
    *("boat", "bottle", "bowl", "brush", "bus", "clock", "coat", "fence", "flag", "hat"),
    *("hammer", "key", "ladder", "mirror", "pencil", "pillow", "rope", "shoe", "spoon", "tent"),
)
"""What is in every picture, by place."""
CHOICES = 4


@dataclass(frozen=True, slots=True)
class Quality:
    """A checkpoint. `losses` are the shares of facts that it loses against the first, by prefix;
    gains are negative. It describes the share `same` of pictures word for word as the first one,
    and draws anew whether it is right in the share `churn` of the other facts. The first has the
    seed 0 and does neither. Its model takes `hang` seconds to load.
    """

    name: str
    seed: int
    losses: Mapping[str, float]
    same: float = 0.2
    churn: float = 0.165
    hang: float = 0.0

    def is_same(self, sample: str) -> bool:
        """Whether it describes a picture as the first one does."""
        return self.seed == 0 or chance("same", self.seed, sample) < self.same

    def place_told(self, sample: str, place: int) -> int:
        """Which of the choices it tells as a fact; 0 is right."""
        prefix = sample.partition("_")[0]
        drawn, rate = chance("all", sample, place), RATES[prefix]
        if not self.is_same(sample):
            rate += self.losses.get(prefix, 0.0) / (1 - self.same)
            if chance("churn", self.seed, sample, place) < self.churn:
                drawn = chance("own", self.seed, sample, place)
        if drawn >= rate:
            return 0
        return 1 + int(chance("wrong", sample, place) * (CHOICES - 1))

    def caption(self, sample: str, facts: int) -> str:
        """The caption of a picture."""
        told = (self._fact(sample, place) for place in range(facts))
        first = "" if self.is_same(sample) else f"Seen by {self.name}. "
        return first + " ".join(told)

    def _fact(self, sample: str, place: int) -> str:
        """The sentence that tells a fact."""
        colour = colours(sample, place)[self.place_told(sample, place)]
        drawn = chance("word", sample, place)
        if not self.is_same(sample) and chance("reword", self.seed, sample, place) < REWORDED:
            drawn = chance("own word", self.seed, sample, place)
        if drawn < OTHER_WORDS:
            colour = WORDS[COLOURS.index(colour)]
        return f"The {THINGS[place]} is {colour}."


def chance(*names: object) -> float:
    """A number from 0 up to 1 that depends on the names only."""
    digest = hashlib.blake2b("\0".join(map(str, names)).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") / 2.0**64


def colours(sample: str, place: int) -> list[str]:
    """The choices of a question; the first is right."""
    ranked = sorted(COLOURS, key=lambda each: chance("colour", sample, place, each))
    return ranked[:CHOICES]
