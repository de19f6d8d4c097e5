"""CompreQA questions drawn from scene graphs (paper 3.2), where the published ones do not fit.

**Tiny objects** are the categories of a picture whose masks together cover less than 5% of it.
**P:** can each of them be seen; and as many that cannot: categories that are tiny in other pictures
and not annotated in this one. **Cap:** which description fits an object that is the only one of its
category; the wrong ones are descriptions of objects of that category in two other pictures. A
category without two others has no such question.

The paper has wrong descriptions from GPT-4 that people correct until they conflict with the
picture. Drawn ones may happen to fit, and an object that nobody annotated may be there. So such
questions serve trends; for published figures use the published questions.

Questions depend only on the seed and the image, so those of a picture stay the same when others are
added, except descriptions drawn from these.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256

from caliper.benchmarks.comprecap.questions import CompreQaQuestion, SceneMeasure
from caliper.benchmarks.comprecap.reading import options

TINY = 0.05
"""The share of a picture's pixels that a tiny object covers less of (paper 3.2)."""
WRONG = 2
"""Wrong descriptions of a question (paper 3.2)."""


@dataclass(frozen=True, slots=True)
class AnnotatedScene:
    """The objects of a picture, and the description of each instance."""

    image: str
    measure: SceneMeasure
    descriptions: tuple[str, ...]

    @property
    def tiny(self) -> list[str]:
        """The categories whose masks cover less than `TINY` of the picture, in order."""
        measure = self.measure
        return [
            name
            for name in measure.categories
            if sum(
                atom.pixels
                for atom in measure.atoms
                if any(measure.instances[place] == name for place in atom.instances)
            )
            < TINY * measure.pixels
        ]

    def described(self, category: str) -> list[str]:
        """The descriptions of the instances of a category."""
        pairs = zip(self.measure.instances, self.descriptions, strict=True)
        return [text for name, text in pairs if name.casefold() == category.casefold()]


def draft_questions(
    scenes: Sequence[AnnotatedScene], seed: int
) -> Iterator[tuple[str, CompreQaQuestion]]:
    """Yield the questions about each picture, those of kind p first."""
    tiny = {scene.image: scene.tiny for scene in scenes}
    everywhere = sorted({name for names in tiny.values() for name in names})
    for scene in scenes:
        generator = random.Random(_number(seed, scene.image))  # noqa: S311 - reproducible draws
        annotated = {name.casefold() for name in scene.measure.categories}
        absent = [name for name in everywhere if name.casefold() not in annotated]
        count = min(len(tiny[scene.image]), len(absent))
        drawn = generator.sample(absent, count)
        for name in (*tiny[scene.image], *drawn):
            text = f"Can the '{name}' be seen in this image?"
            right, wrong = ("Yes", "No") if name.casefold() in annotated else ("No", "Yes")
            yield scene.image, _question("p", name, text, right, [wrong], generator)
        for name in tiny[scene.image]:
            others = _others(scenes, scene, name)
            own = scene.described(name)
            if len(own) == 1 and len(others) >= WRONG:
                text = f"Which description best fits the '{name}' in the image?"
                wrong_ones = generator.sample(others, WRONG)
                question = _question("cap", name, text, own[0], wrong_ones, generator)
                # A description that looks like several options cannot be asked about.
                if len(options(question.question)) == WRONG + 1:
                    yield scene.image, question


def _number(seed: int, image: str) -> int:
    return int.from_bytes(sha256(f"{seed}\0{image}".encode()).digest()[:8])


def _others(scenes: Sequence[AnnotatedScene], own: AnnotatedScene, category: str) -> list[str]:
    """The descriptions of this category in other pictures, without those of this picture."""
    mine = {_plain(text) for text in own.described(category)}
    texts: dict[str, str] = {}
    for scene in scenes:
        if scene.image != own.image:
            texts.update({_plain(text): text for text in scene.described(category)})
    return [texts[key] for key in sorted(texts.keys() - mine)]


def _plain(text: str) -> str:
    return " ".join(text.casefold().rstrip(" .").split())


def _question(
    kind: str,
    category: str,
    text: str,
    right: str,
    wrong: Sequence[str],
    generator: random.Random,
) -> CompreQaQuestion:
    shown = [right, *wrong]
    order = generator.sample(range(len(shown)), len(shown))
    return with_options(kind, category, text, [shown[place] for place in order], order.index(0))


def with_options(
    kind: str, category: str, text: str, shown: Sequence[str], place: int
) -> CompreQaQuestion:
    """A question with its options in it, of which that at `place` is right."""
    letters = [chr(ord("A") + number) for number in range(len(shown))]
    texts = (
        f"{letter}. {option.strip().rstrip('.')}."
        for letter, option in zip(letters, shown, strict=True)
    )
    return CompreQaQuestion(kind, category, " ".join((text, *texts)), letters[place])
