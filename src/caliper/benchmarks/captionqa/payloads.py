"""The payload of CaptionQA's questions."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ChoiceQuestion:
    """A multiple-choice question, with its order of options fixed when planned (paper 3.4).

    `choices` are the original ones, `answer` the index of the right one, or -1 when the
    ground truth is bad. `has_cannot` tells that "Cannot answer from the caption" stands
    behind them. `permutation` orders the options: shown[i] = options[permutation[i]].
    `category` is the first full category, "Top - Sub".
    """

    domain: str
    category: str
    question: str
    choices: tuple[str, ...]
    answer: int
    has_cannot: bool
    permutation: tuple[int, ...]

    @property
    def shown(self) -> tuple[str, ...]:
        """The options in the order in which they are asked."""
        options = (*self.choices, CANNOT) if self.has_cannot else self.choices
        return tuple(options[place] for place in self.permutation)


CANNOT = "Cannot answer from the caption"
