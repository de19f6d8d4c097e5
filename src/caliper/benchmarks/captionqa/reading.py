"""Read which option a reply chooses.

`released` follows the authors' script step by step. `lenient` reads as a person would: letters
and texts of options, JSON, and "not mentioned". Neither ever raises.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from caliper.benchmarks.captionqa.questions import CANNOT
from caliper.lazy import lazy_module

if TYPE_CHECKING:
    from caliper.benchmarks import letters
else:
    letters = lazy_module("caliper.benchmarks.letters")  # Its patterns take long to compile.


@dataclass(frozen=True, slots=True)
class OptionChoice:
    """The index of the chosen option among those shown; None if unreadable.

    `repaired`: the released reading finds a different option, or none.
    """

    place: int | None
    repaired: bool = False


LetterReader = Callable[[str, Sequence[str], str], OptionChoice]
"""Read a reply, given the options shown and the question."""

_ANY_CAPITAL = re.compile(r"\b([A-Z])\b")
_ANY_NUMBER = re.compile(r"\b([1-9][0-9]?)\b")


def read_released(reply: str, options: Sequence[str], question: str = "") -> OptionChoice:  # noqa: ARG001 - one signature for all readings
    """Read a reply as the released script does, step by step, ignoring the question.

    Keep the text after the first "</think>", then after the first "Answer: ", then after the
    first newline, as far as they occur. In the upper-cased rest take the first standalone
    capital, if in range; else the first standalone number from 1 to 99 as a 1-based position;
    else nothing.
    """
    return OptionChoice(_released_place(reply, len(options)))


def _released_place(reply: str, count: int) -> int | None:
    rest = reply
    for mark in ("</think>", "Answer: ", "\n"):
        rest = rest.partition(mark)[2] if mark in rest else rest
    rest = rest.upper()
    capital = _ANY_CAPITAL.search(rest)
    if capital and _place(capital[1]) < count:
        return _place(capital[1])
    number = _ANY_NUMBER.search(rest)
    if number and int(number[1]) <= count:
        return int(number[1]) - 1
    return None


def _place(letter: str) -> int:
    return ord(letter) - ord("A")


def read_lenient(reply: str, options: Sequence[str], question: str = "") -> OptionChoice:
    """Read the option that the reply as a whole chooses (`letters.chosen`; ours).

    Statements that the caption does not contain the answer choose "Cannot answer from the
    caption" if that is shown.
    """
    cannot = options.index(CANNOT) if CANNOT in options else None
    place = letters.choose_option(reply, options, cannot, question)
    return OptionChoice(
        place, repaired=place is not None and place != _released_place(reply, len(options))
    )


READERS: dict[str, LetterReader] = {"lenient": read_lenient, "released": read_released}
