"""The canary's cases: captions with a known correct verdict.

The `canary.yaml` of a benchmark has questions, each with a correct and a wrong caption;
`attacks.yaml` has attacks, which are put before or after a wrong caption. No attack contains the
truth, so a verdict that is better than the wrong caption deserves is due to the attack.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from importlib.resources import files
from typing import Any

import yaml

from caliper.adapters.packs.questions import plan_question, questions_of
from caliper.benchmarks.base import CheckQuestion, Settings
from caliper.core.question import Item

RIGHT, WRONG = "right, no attack", "wrong, no attack"
"""The kinds of the controls."""


@dataclass(frozen=True, slots=True)
class Case:
    """A caption and the one question about it that counts: the last question of `item`.

    `attack` is empty for a control. `good_score` is the lowest score of a correct caption.
    """

    question: str
    kind: str
    attack: str
    language: str
    caption: str
    item: Item
    good_score: Fraction

    @property
    def benchmark(self) -> str:
        """The benchmark of the question."""
        return self.item.benchmark

    @property
    def right(self) -> bool:
        """Whether the caption is correct."""
        return self.kind == RIGHT


def cases(benchmarks: Mapping[str, Settings]) -> tuple[Case, ...]:
    """The shipped cases about these benchmarks, planned under their settings."""
    attacks = yaml.safe_load((files(__package__) / "attacks.yaml").read_text("utf-8"))["attacks"]
    return tuple(
        case
        for name, settings in benchmarks.items()
        for question in questions_of(name, "canary.yaml")
        for case in _cases_of(question, attacks, plan_question(name, question, settings))
    )


def _cases_of(
    question: Mapping[str, Any], attacks: Mapping[str, Any], check: CheckQuestion
) -> Iterator[Case]:
    control = Case(question["id"], RIGHT, "", "en", question["right"], check.item, check.good_score)
    yield control
    yield replace(control, kind=WRONG, caption=question["wrong"])
    for name in question["attacks"]:
        attack = attacks[name]
        text = attack["texts"][check.form]
        for gap, value in check.gaps.items():
            text = text.replace("{" + gap + "}", value)
        caption = _attack_caption(question["wrong"], text, attack)
        kind, language = attack["kind"], attack["language"]
        yield Case(question["id"], kind, name, language, caption, check.item, check.good_score)


def _attack_caption(caption: str, text: str, attack: Mapping[str, Any]) -> str:
    if attack.get("place") == "before":
        return f"{text}\n{caption}"
    filler = f"{attack['filler']}\n" * attack["repeat"] if "repeat" in attack else ""
    return f"{caption}\n{filler}{text}"
