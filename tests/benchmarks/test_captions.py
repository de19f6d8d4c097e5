"""Supplied captions as an object from sample to caption, the default of benchmarks."""

from typing import Any

import pytest

from caliper.benchmarks.benchmark import captions_by_sample
from caliper.core.errors import InvalidInput
from caliper.core.rows import Row


def rows(*entries: tuple[str, Any]) -> list[Row]:
    return [
        Row("captions.json", line, {"key": key, "value": value})
        for line, (key, value) in enumerate(entries, 1)
    ]


def test_captions_are_texts_by_sample() -> None:
    texts = {"a.jpg": "A dog.", "b.jpg": "", "c.jpg": None}
    assert dict(captions_by_sample(rows(*texts.items()))) == texts


@pytest.mark.parametrize("value", [3, ["A cat."], {"caption": "A cat."}, True])
def test_a_caption_that_is_no_text_is_refused(value: Any) -> None:
    with pytest.raises(InvalidInput, match=r"^captions.json:1: a.jpg: expected a caption"):
        list(captions_by_sample(rows(("a.jpg", value))))


def test_two_captions_of_one_sample_are_refused() -> None:
    with pytest.raises(InvalidInput, match=r"^captions.json:2: a.jpg: it has two captions"):
        list(captions_by_sample(rows(("a.jpg", "x"), ("a.jpg", "y"))))
