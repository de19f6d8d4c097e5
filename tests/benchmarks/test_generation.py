from collections.abc import Iterable, Iterator, Mapping

import pytest
from tests.fakes.sources import EXAMPLES

from caliper.adapters.datasets.files import DatasetFiles
from caliper.benchmarks.base import PlanRequest
from caliper.benchmarks.registry import BUILT_IN, benchmark
from caliper.core.question import Ask, Embed, Examination, Item, Nouns, Source
from caliper.core.rows import Row

DATA = {
    "capability": "capability",
    "captionqa": "captionqa/questions.json",
    "comprecap": "comprecap/anno.json",
}
QA = {"capability": "capability_qa", "comprecap": "comprecap"}
CHOSEN: list[tuple[str, dict[str, str]]] = [
    *((name, {}) for name in BUILT_IN),
    ("capability", {"category_labels": "one"}),
    ("captionqa", {"temperature": "0.7", "max_tokens": "64"}),
    ("comprecap", {"relation_prompt": "relation", "temperature": "0.1", "top_p": "0.5"}),
]


def planned(name: str, settings: Mapping[str, str], repeats: int | None) -> Iterator[Item]:
    chosen = benchmark(name)
    qa_rows: Iterable[Row] = ()
    if chosen.qa_data is not None:
        qa_rows = DatasetFiles(EXAMPLES / QA[name]).rows(chosen.qa_data)
    request = PlanRequest(settings, repeats=repeats, captions=(), qa_rows=qa_rows)
    yield from chosen.plan(DatasetFiles(EXAMPLES / DATA[name]).rows(chosen.data), request)


def asked(examination: Examination) -> tuple[Ask, ...]:
    """The asks of an examination, all nouns and no two words alike."""
    batch = next(examination)
    while isinstance(batch, Nouns | Embed):
        if isinstance(batch, Nouns):
            batch = examination.send([tuple(text.split()) for text in batch.texts])
        else:
            size = len(batch.texts)
            vectors = [tuple(float(at == place) for at in range(size)) for place in range(size)]
            batch = examination.send(vectors)
    return batch


def caption_of(item: Item) -> str:
    measure = item.questions[0].payload
    return " ".join(getattr(measure, "categories", ("a dog",)))


@pytest.mark.parametrize(("name", "settings"), CHOSEN)
@pytest.mark.parametrize("repeats", [None, 2])
def test_questions_are_asked_as_told(
    name: str, settings: dict[str, str], repeats: int | None
) -> None:
    chosen = benchmark(name)
    seen: dict[Source, set[str]] = {}
    for item in planned(name, settings, repeats):
        told = chosen.generation(item.source, settings, repeats)
        caption = caption_of(item) if item.source is Source.CAPTION else None
        asks = asked(chosen.examine(item, caption, settings))
        assert asks
        assert {ask.decoding for ask in asks} == {told.decoding}
        assert {ask.question.repeats for ask in asks} == {told.repeats}
        seen.setdefault(item.source, set()).update(ask.prompt for ask in asks)
    for source, prompts in seen.items():
        assert prompts == set(chosen.generation(source, settings, repeats).prompts)
    assert set(seen) == {Source.CAPTION, Source.MEDIA}
