"""Examine a caption against a scene graph, and ask CompreQA questions (paper 3.3)."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

from caliper.benchmarks.base import Settings, fence, lacks_caption
from caliper.benchmarks.comprecap.matches import Match, distinct, match, mentions, object_score
from caliper.benchmarks.comprecap.questions import CompreQaQuestion, PhraseQuestion, SceneMeasure
from caliper.benchmarks.comprecap.reading import SCORE_READERS, read_letter, read_score
from caliper.benchmarks.comprecap.settings import setting_value
from caliper.benchmarks.exchanges import Reader, Reading, Result, examine_each
from caliper.core.outcome import Evidence, Reason, Scored, Unscored
from caliper.core.question import (
    Ask,
    Batch,
    Decoding,
    Embed,
    Examination,
    Item,
    Nouns,
    Question,
    Source,
    Vector,
)
from caliper.core.report import Generation

MAX_TOKENS = 256
"""Maximum output tokens per reply (released script)."""
REPEATS = 3
"""Default number of times a judge scores each phrase (paper 4.1)."""
_CHOICE_DECODING = Decoding(max_tokens=MAX_TOKENS)
_PHRASE, _RELATION, _COMPREQA = "comprecap/phrase", "comprecap/relation", "comprecap/compreqa"

UNPAIRED = "the released script pairs this relation with no sentence"
"""Explanation of the score 0 for a relation without a sentence."""


@dataclass(frozen=True, slots=True)
class Scene:
    """A decomposed caption: its pieces, the matched nouns, and the pieces per category."""

    pieces: tuple[str, ...]
    matches: Mapping[str, Match]
    mentions: Mapping[str, set[int]]

    @classmethod
    def of(
        cls,
        parts: tuple[str, ...],
        nouns: Sequence[Sequence[str]],
        categories: Sequence[str],
        vectors: Mapping[str, Vector],
    ) -> Scene:
        """The scene of a caption's pieces and their nouns. `vectors` has those of `scene_texts`."""
        words = distinct(word for piece_nouns in nouns for word in piece_nouns)
        matches = match(words, categories, vectors)
        return cls(parts, matches, mentions(matches, nouns))

    def above(self, micro: int) -> Scene:
        """The same caption, without matches of less similarity than `micro` millionths (ours: the
        paper has no threshold).
        """
        matches = {name: each for name, each in self.matches.items() if each.micro >= micro}
        return Scene(self.pieces, matches, {name: self.mentions[name] for name in matches})

    def about(self, categories: Sequence[str]) -> str:
        """Join the pieces that mention any of the categories; empty if none does."""
        places = (place for name in categories for place in self.mentions.get(name, ()))
        return join(self.pieces, places)


def examine(item: Item, caption: str | None, settings: Settings) -> Examination:
    """Ask all questions of an item, except those that planning marked unscored.

    Questions about a caption need nouns, then embeddings, then the judge's scores. A phrase whose
    categories the caption does not mention scores 0 without a call. A blank caption mentions
    nothing, unless the settings leave it unscored (ours: the released script skips its picture).
    """
    scene: Scene | None = None
    askable = item.source is Source.CAPTION and any(not one.unscored for one in item.questions)
    if askable and caption is not None and not lacks_caption(item, caption, settings):
        measure: SceneMeasure = item.questions[0].payload
        scene = yield from _decompose(caption, measure.categories)

    def settle(question: Question[Any], repeat: int) -> Ask | Result:
        payload = question.payload
        if isinstance(payload, CompreQaQuestion):
            return _choice(item, question, repeat)
        if scene is None or caption is None:
            return Unscored(Reason.NO_CAPTION), Evidence()
        if isinstance(payload, SceneMeasure):
            return _objects(payload, scene)
        sentence = scene.about(payload.mentions)
        if not sentence:
            return _not_mentioned(payload)
        return _phrase(item, question, repeat, sentence, caption, settings)

    readers = _reader(settings), _reader(settings, truncated=True)
    return (yield from examine_each(item, settle, *readers))


def _decompose(caption: str, categories: tuple[str, ...]) -> Generator[Batch, Any, Scene]:
    parts = pieces(caption)
    nouns: Sequence[tuple[str, ...]] = (yield Nouns(parts)) if parts else ()
    texts = scene_texts(nouns, categories)
    vectors = (yield Embed(texts)) if texts else ()
    return Scene.of(parts, nouns, categories, dict(zip(texts, vectors, strict=True)))


def scene_texts(nouns: Sequence[Sequence[str]], categories: Sequence[str]) -> tuple[str, ...]:
    """The texts whose vectors a scene needs: its nouns and categories; none without nouns."""
    words = distinct(word for piece_nouns in nouns for word in piece_nouns)
    return distinct((*words, *categories)) if words else ()


def _objects(measure: SceneMeasure, scene: Scene) -> Result:
    summary = "; ".join(
        f"{name}: {category_match.noun} {category_match.micro / 1e6:.6f}"
        if (category_match := scene.matches.get(name))
        else f"{name}: not mentioned"
        for name in measure.categories
    )
    score = object_score(measure.categories, scene.matches)
    return Scored(score), Evidence(explanation=summary)


def _not_mentioned(phrase: PhraseQuestion) -> Result:
    missing = " or ".join(phrase.mentions)
    explanation = f"no piece of the caption mentions {missing}" if missing else UNPAIRED
    return Scored(Fraction(0), mentioned=False), Evidence(explanation=explanation)


def generation(source: Source, settings: Settings, repeats: int | None) -> Generation:
    """Return the templates, decoding and repeats that `examine` uses. CompreQA is asked once."""
    if source is Source.MEDIA:
        return Generation((_COMPREQA,), _CHOICE_DECODING)
    prompts = dict.fromkeys((_PHRASE, _relation_prompt(settings)))
    return Generation(tuple(prompts), _decoding(settings), repeats or REPEATS)


def _relation_prompt(settings: Settings) -> str:
    return _RELATION if setting_value(settings, "relation_prompt") == "relation" else _PHRASE


def _decoding(settings: Settings) -> Decoding:
    temperature, top_p = (float(setting_value(settings, name)) for name in ("temperature", "top_p"))
    return Decoding(temperature, top_p, MAX_TOKENS)


def _phrase(
    item: Item,
    question: Question[Any],
    repeat: int,
    sentence: str,
    caption: str,
    settings: Settings,
) -> Ask:
    fields = {"sentence": sentence, "phrase": question.payload.phrase}
    relation = question.payload.kind == "relation"
    return Ask(
        item,
        question,
        repeat,
        _relation_prompt(settings) if relation else _PHRASE,
        fields,
        _decoding(settings),
        untrusted="sentence",
        fence=fence(settings, caption),
    )


def _choice(item: Item, question: Question[Any], repeat: int) -> Ask:
    fields = {"question": question.payload.question}
    return Ask(item, question, repeat, _COMPREQA, fields, _CHOICE_DECODING)


def _reader(settings: Settings, *, truncated: bool = False) -> Reader:
    reading = setting_value(settings, "reading")
    score_of = SCORE_READERS[reading]
    if truncated and reading == "bounded":
        score_of = partial(read_score, truncated=True)

    def read(ask: Ask, reply: str) -> Reading:
        payload = ask.question.payload
        if isinstance(payload, CompreQaQuestion):
            return read_letter(payload.question, payload.answer, reply, truncated=truncated)
        return score_of(reply)

    return read


# Captioners may leave a literal backslash-n and the end-of-sequence token in their text.
_SEPARATORS = re.compile(r"\n|\\n|</s>|\.")


def pieces(caption: str) -> tuple[str, ...]:
    """Return the caption's non-empty pieces, trimmed (released script).

    It is split at newlines, a literal backslash-n, `</s>` and full stops.
    """
    parts = (part.strip() for part in _SEPARATORS.split(caption))
    return tuple(part for part in parts if part)


def join(parts: Sequence[str], places: Iterable[int]) -> str:
    """Join the pieces at these indices with `. `, each once and in the caption's order."""
    return ". ".join(parts[place] for place in sorted(set(places)))
