"""The example data, and who looks at captions without a model."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from tests.fakes.sources import EXAMPLES
from tests.fakes.stores import MemoryStore

from caliper.adapters.datasets.files import DatasetFiles
from caliper.adapters.models.lexical import LexicalAnswerer
from caliper.benchmarks.registry import benchmark
from caliper.lexical.ngrams import NgramEmbedder
from caliper.lexical.tagger import RuleTagger
from caliper.pipeline.asking.examiner import Models


class Example:
    def __init__(self, name: str, captions: str) -> None:
        self.name = name
        chosen = benchmark(name)
        folder = EXAMPLES / name
        data = {"captionqa": folder / "questions.json", "comprecap": folder / "anno.json"}
        self.dataset = DatasetFiles(data.get(name, folder))
        self.rows = list(self.dataset.rows(chosen.data))
        supplied = DatasetFiles(EXAMPLES / "captions" / "careful" / captions)
        captions = chosen.read_captions(supplied.rows(chosen.captions))
        self.captions: Mapping[str, str] = {key: text for key, text in captions if text is not None}

    def texts(self) -> list[str]:
        return [json.dumps(dict(row.fields), ensure_ascii=False) for row in self.rows]


EXAMPLE_CAPTIONS = {
    "capability": "capability",
    "captionqa": "captionqa.json",
    "comprecap": "comprecap.json",
}


@pytest.fixture
def example() -> Any:
    return lambda name: Example(name, EXAMPLE_CAPTIONS[name])


def lexical(_: int = 0) -> Models:
    answerer = LexicalAnswerer()
    roles = ("capability/judge", "comprecap/judge", "captionqa/reader")
    return Models(dict.fromkeys(roles, answerer), RuleTagger(), NgramEmbedder())


@pytest.fixture
def models() -> Any:
    return lexical


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()
