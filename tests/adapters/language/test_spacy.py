from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from types import SimpleNamespace

import pytest

from caliper.adapters.language.spacy import SpacyTagger, load_tagger, nouns_of
from caliper.core.errors import InvalidInput


@dataclass(frozen=True)
class Word:
    """A token as spaCy would tag it."""

    tag_: str
    lemma_: str


class Tagged:
    """A pipeline whose texts come tagged: `tag:lemma tag:lemma`."""

    def __init__(self, version: str = "3.8.0") -> None:
        self.meta = {"lang": "en", "name": "core_web_tiny", "version": version}

    def pipe(self, texts: Iterable[str]) -> Iterator[list[Word]]:
        for text in texts:
            yield [Word(*pair.split(":")) for pair in text.split()]


def test_nouns_are_the_lemmas_of_tags_with_n() -> None:
    tokens = [
        Word("DT", "the"),
        Word("NNS", "Dog"),
        Word("NNP", "Rex"),
        Word("VBZ", "run"),
        Word("", "x"),
    ]
    assert nouns_of(tokens) == ("dog", "rex")


def test_texts_are_tagged_in_order_with_repeats() -> None:
    tagger = SpacyTagger(Tagged(), "3.8.7")
    assert tagger.nouns(["NN:cat VB:see NN:cat", "", "NN:dog"]) == [("cat", "cat"), (), ("dog",)]


def test_the_identity_changes_with_the_model_and_with_spacy() -> None:
    identity = SpacyTagger(Tagged(), "3.8.7").identity
    assert (identity.kind, identity.name, identity.cached) == ("spacy", "en_core_web_tiny", True)
    assert SpacyTagger(Tagged(), "3.8.7").identity == identity
    assert SpacyTagger(Tagged("3.8.1"), "3.8.7").identity != identity
    assert SpacyTagger(Tagged(), "3.8.8").identity != identity


def test_without_spacy_the_message_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "spacy", None)
    with pytest.raises(InvalidInput, match=r"needs spacy: pip install 'caliper-captions\[spacy\]'"):
        load_tagger("en_core_web_lg")


def test_without_the_model_the_message_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def load(name: str) -> Tagged:
        if name != "en_core_web_tiny":
            raise OSError("[E050] Can't find model")
        return Tagged()

    monkeypatch.setitem(sys.modules, "spacy", SimpleNamespace(load=load, __version__="3.8.7"))
    assert load_tagger("en_core_web_tiny").nouns(["NN:cat"]) == [("cat",)]
    with pytest.raises(InvalidInput, match="python -m spacy download en_core_web_lg"):
        load_tagger("en_core_web_lg")
