import gc
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from tests.fakes.full_storage import longest_file

from caliper.benchmarks.capability.questions import ElementQuestion
from caliper.core.caption import CutShort
from caliper.core.errors import StoreFull
from caliper.core.keys import canonical_json
from caliper.core.question import Item, Question
from caliper.pipeline.store.disk_spill import SpilledItems, SpilledTexts, temporary_folder
from caliper.pipeline.store.items import encode_item


def item_of(sample: str, key: str, questions: int) -> Item:
    asked = (
        Question(ordinal, ElementQuestion("scene", "a harbour", "")) for ordinal in range(questions)
    )
    return Item("capability", key, sample, "1.mp4", ("1.mp4",), tuple(asked))


def open_files() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


BROKEN = "half \ud83d a face"


def test_texts_come_back_in_the_order_of_their_first_names() -> None:
    texts = SpilledTexts([("b", "1"), ("a", BROKEN), ("b", "2")])
    texts.update([("c", ""), (BROKEN, "named")])
    assert list(texts.items()) == [("b", "2"), ("a", BROKEN), ("c", ""), (BROKEN, "named")]
    assert texts == {"a": BROKEN, "b": "2", "c": "", BROKEN: "named"}
    assert len(texts) == 4
    assert "d" not in texts
    with pytest.raises(KeyError):
        texts["d"]


def test_no_texts_are_false() -> None:
    assert not SpilledTexts()


def test_texts_can_be_looked_up_while_they_are_gone_through() -> None:
    texts = SpilledTexts((str(number), "text" * number) for number in range(3000))
    assert all(texts.get(name) == text for name, text in texts.items())


def test_items_of_a_sample_come_together_and_take_their_index() -> None:
    first, second, third = item_of("one", "a", 2), item_of("two", "b", 1), item_of("one", "c", 3)
    spilled = SpilledItems([first, second, third])
    assert (spilled.count, spilled.samples, spilled.size) == (3, 2, 6)
    assert [item.sample for item in spilled] == ["one", "one", "two"]
    lines = [item.line(7) for item in spilled]
    assert lines == [
        canonical_json(encode_item(replace(item, first=7))) for item in (first, third, second)
    ]


def test_a_file_is_open_for_as_long_as_it_is_needed() -> None:
    # From Python 3.13 on a database that is left to the collector is an error here, too.
    long = "text" * 1000
    # Other tests may have left some to the collector.
    gc.collect()
    before = open_files()
    texts = SpilledTexts((str(number), long) for number in range(3000))
    items = SpilledItems(item_of(str(number), long, 1) for number in range(3000))
    assert open_files() == before + 2
    del texts, items
    gc.collect()
    assert open_files() == before


def test_a_text_that_was_cut_short_stays_so() -> None:
    texts = SpilledTexts([("a", CutShort("A dog ru")), ("b", "A dog runs.")])
    assert isinstance(texts["a"], CutShort)
    assert not isinstance(texts["b"], CutShort)
    texts.update([("a", "A dog runs.")])
    assert not isinstance(texts["a"], CutShort)


def test_a_disk_that_is_full_at_the_first_temporary_folder(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # As in a new process: Python looks for a folder that it can write to.
    monkeypatch.setattr(tempfile, "tempdir", None)
    with (
        longest_file(0),
        pytest.raises(StoreFull, match="no room for temporary files"),
        temporary_folder(),
    ):
        pass
    with temporary_folder() as folder:
        assert list(folder.iterdir()) == []
