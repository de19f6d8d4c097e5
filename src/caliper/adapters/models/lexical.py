"""The model-free Answerer: the rules of a benchmark answer its questions."""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module
from importlib.metadata import version
from types import ModuleType

from caliper.benchmarks.registry import BUILT_IN, benchmark
from caliper.core.outcome import Reason
from caliper.core.question import Answer, Ask, Failure, Source
from caliper.core.run import Identity
from caliper.lexical import (
    angles,
    colours,
    counts,
    deeds,
    events,
    judgements,
    mentions,
    movements,
    names,
    neighbours,
    numbers,
    objects,
    ocr,
    overlap,
    scenes,
    shades,
    spatial,
    style,
    synonyms,
    text,
    vocabulary,
    words,
)
from caliper.lexical.revision import ANSWERER, revision, word_lists

_RULES: tuple[ModuleType, ...] = (
    angles, colours, counts, deeds, events, judgements, mentions, movements, names, neighbours,
    numbers, objects, ocr, overlap, scenes, shades, spatial, style, synonyms, text, vocabulary,
    words,
)  # fmt: skip


@lru_cache(maxsize=1)
def _revision() -> str:
    own = (import_module(f"{package}.rules") for package in BUILT_IN.values())
    libraries = [version("snowballstemmer"), version("rapidfuzz")]
    return revision(ANSWERER, word_lists((*_RULES, *own)), libraries)


class LexicalAnswerer:
    """Judges and reads with lexical rules: deterministic, without a model.

    For smoke runs and trends, never for comparison with published figures.
    """

    @property
    def identity(self) -> Identity:
        """Of the kind `lexical`, at the revision of the built-in rules. Not cached."""
        return Identity(kind="lexical", name="lexical-rules", revision=_revision())

    async def answer(self, ask: Ask) -> Answer:
        """A reply in the form that an LLM would use: JSON, a letter, or a digit.

        A Failure if the benchmark has no rules or the question needs the picture.
        """
        return reply_to(ask)

    async def close(self) -> None:
        """Does nothing: no resources are open."""


def reply_to(ask: Ask) -> Answer:
    """`LexicalAnswerer.answer` without an event loop."""
    if ask.item.source is Source.MEDIA:
        return Failure(Reason.NO_REPLY, "rules over words cannot look at the picture")
    pack = benchmark(ask.item.benchmark)
    if pack.rules is None:
        return Failure(Reason.NO_REPLY, f"{pack.title} has no rules for the lexical judge")
    return pack.rules(ask)
