"""Nouns by spaCy, with whichever of its models is named (CompreCap: en_core_web_lg)."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from caliper.core.errors import InvalidInput
from caliper.ports.models import Identity

INSTALL = "pip install 'caliper-captions[spacy]'"


class Token(Protocol):
    """What is used of a spaCy token: its fine-grained tag and its lemma."""

    @property
    def tag_(self) -> str: ...

    @property
    def lemma_(self) -> str: ...


class Pipeline(Protocol):
    """What is used of a loaded spaCy model."""

    @property
    def meta(self) -> Mapping[str, Any]: ...

    def pipe(self, texts: Iterable[str]) -> Iterator[Iterable[Token]]:
        """The tokens of each text, in the order of the texts."""
        ...


class SpacyTagger:
    """Finds nouns by a loaded spaCy model. `release` is spaCy's own version."""

    def __init__(self, pipeline: Pipeline, model: str, release: str) -> None:
        self._pipeline = pipeline
        version = pipeline.meta.get("version", "")
        self._identity = Identity("spacy", model, f"{version}+spacy-{release}", cached=True)

    @property
    def identity(self) -> Identity:
        """Kind spacy, the model's name, and the versions of the model and of spaCy."""
        return self._identity

    def nouns(self, texts: Sequence[str]) -> list[tuple[str, ...]]:
        """The nouns of each text: lower-cased lemmas in order, repeats kept."""
        return [nouns_of(tokens) for tokens in self._pipeline.pipe(texts)]


def nouns_of(tokens: Iterable[Token]) -> tuple[str, ...]:
    """Lower-cased lemmas of the tokens whose tag starts with N (CompreCap, released script)."""
    return tuple(token.lemma_.lower() for token in tokens if token.tag_.startswith("N"))


def load_tagger(model: str) -> SpacyTagger:
    """The tagger of an installed spaCy model, or of one in a folder.

    Raises InvalidInput that says what to install when spaCy or the model is missing.
    """
    try:
        spacy = importlib.import_module("spacy")
    except ImportError as error:
        raise InvalidInput(f"spaCy is not installed; install it with: {INSTALL}") from error
    try:
        pipeline = spacy.load(model)
    except OSError as error:
        command = f"python -m spacy download {model}"
        message = f"there is no spaCy model {model!r}; install it with: {command}"
        raise InvalidInput(message) from error
    return SpacyTagger(pipeline, model, spacy.__version__)
