"""Nouns tagged by any spaCy model (CompreCap: en_core_web_lg)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from typing import Any

from caliper.core.errors import InvalidInput
from caliper.core.run import Identity
from caliper.lazy import require


class SpacyTagger:
    """Finds nouns with the pipeline of a spaCy model. `release` is spaCy's own version."""

    def __init__(self, pipeline: Any, release: str) -> None:
        self._pipeline = pipeline
        meta = pipeline.meta
        # The name under which the model is installed. A folder's path is not part of the
        # identity; the model's description, scores included, distinguishes trainings.
        name = f"{meta.get('lang', '')}_{meta.get('name', '')}"
        description = json.dumps(meta, sort_keys=True, default=str)
        revision = hashlib.sha256(f"{release}\n{description}".encode()).hexdigest()
        self.identity = Identity("spacy", name, revision, cached=True)

    def nouns(self, texts: Sequence[str]) -> list[tuple[str, ...]]:
        return [nouns_of(tokens) for tokens in self._pipeline.pipe(texts)]


def nouns_of(tokens: Iterable[Any]) -> tuple[str, ...]:
    """Lower-cased lemmas of the tokens whose tag starts with N (CompreCap, released script)."""
    return tuple(token.lemma_.lower() for token in tokens if token.tag_.startswith("N"))


def load_tagger(model: str) -> SpacyTagger:
    """Load the tagger of an installed spaCy model, or of one in a folder.

    Raises InvalidInput that says what to install if spaCy or the model is missing.
    """
    spacy = require("spacy")
    try:
        pipeline = spacy.load(model)
    except OSError as error:
        command = f"python -m spacy download {model}"
        message = f"there is no spaCy model {model!r}; install it with: {command}"
        raise InvalidInput(message) from error
    return SpacyTagger(pipeline, spacy.__version__)
