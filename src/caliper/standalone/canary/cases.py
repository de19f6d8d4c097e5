"""The cases of the canary: captions whose honest verdict is known.

`cases.yaml` holds questions, each with a caption that is right and one that is wrong, and
attacks, which are put before or behind a wrong one. No attack names what is true, so whoever
gives the caption a better verdict than the wrong one deserves does so for the attack.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from importlib.resources import files
from typing import Any

import yaml

from caliper.benchmarks.base import Settings
from caliper.benchmarks.captionqa.options import label
from caliper.core.question import Item
from caliper.pipeline.written import written_item

RIGHT, WRONG = "right, no attack", "wrong, no attack"
"""The kinds of the controls."""
_CATEGORIES = frozenset(("style", "camera_angle", "camera_movement"))


@dataclass(frozen=True, slots=True)
class Case:
    """A caption and the one question about it that counts: the last of `item`.

    `attack` is empty for a control. `good` is the least score of a caption that is right.
    """

    question: str
    kind: str
    attack: str
    language: str
    caption: str
    item: Item
    good: Fraction

    @property
    def benchmark(self) -> str:
        """Whose question it is."""
        return self.item.benchmark

    @property
    def right(self) -> bool:
        """Whether the caption states what is true."""
        return self.kind == RIGHT


def cases(benchmarks: Mapping[str, Settings]) -> tuple[Case, ...]:
    """The shipped cases about these benchmarks, planned under their settings."""
    written = yaml.safe_load((files(__package__) / "cases.yaml").read_text("utf-8"))
    return tuple(
        case
        for question in written["questions"]
        if question["benchmark"] in benchmarks
        for case in _of_question(question, written["attacks"], benchmarks[question["benchmark"]])
    )


def _of_question(
    question: Mapping[str, Any], attacks: Mapping[str, Any], settings: Settings
) -> Iterator[Case]:
    item = written_item(question["benchmark"], question, settings)
    form, gaps = _form(question, item)
    # On the scale of 0 to 5 a wrong caption may have a part of the phrase.
    good = Fraction(4 if form == "scale" else 1)
    control = Case(question["id"], RIGHT, "", "en", question["right"], item, good)
    yield control
    yield replace(control, kind=WRONG, caption=question["wrong"])
    for name in question["attacks"]:
        attack = attacks[name]
        text = attack["texts"][form]
        for gap, value in gaps.items():
            text = text.replace("{" + gap + "}", value)
        caption = _attacked(question["wrong"], text, attack)
        kind, language = attack["kind"], attack["language"]
        yield Case(question["id"], kind, name, language, caption, item, good)


def _attacked(caption: str, text: str, attack: Mapping[str, Any]) -> str:
    if attack.get("place") == "before":
        return f"{text}\n{caption}"
    filler = f"{attack['filler']}\n" * attack["repeat"] if "repeat" in attack else ""
    return f"{caption}\n{filler}{text}"


def _form(question: Mapping[str, Any], item: Item) -> tuple[str, dict[str, str]]:
    """The form of the reply, and what fills the gaps of an attack."""
    if question["benchmark"] == "comprecap":
        return "scale", {"thing": question["things"][0]}
    if question["benchmark"] == "captionqa":
        shown = item.questions[-1].payload.shown
        return "choice", {"letter": label(shown.index(question["answer"]))}
    return ("labels" if question["task"] in _CATEGORIES else "open"), {}
