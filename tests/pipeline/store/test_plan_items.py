"""What a limit draws of a plan, and the form in which items are stored."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fakes import runs
from tests.fakes.runs import BOTH, FOUND
from tests.fakes.stores import MemoryStore

from caliper.core.errors import InvalidInput, UnknownName
from caliper.core.question import Item, Question, Source
from caliper.pipeline.store.items import decode_item, encode_item
from caliper.pipeline.store.plan import (
    draw,
)


def an_item(key: str, source: Source = Source.CAPTION) -> Item:
    full = f"qa/{key}" if source is Source.MEDIA else key
    return Item("capability", full, key, key, (key,), (Question(0, None),), source)


def task(item: Item) -> str:
    return item.key.removeprefix("qa/").split("/")[0]


KEYS = [f"{name}/{number}" for name in ("scene", "style") for number in range(9)]
ITEMS = [an_item(key) for key in KEYS]
QUESTIONS = [an_item(key, Source.MEDIA) for key in KEYS]


@given(st.permutations(ITEMS), st.integers(1, 12), st.integers(0, 3))
def test_the_draw_depends_on_seed_and_item_only(rows: list[Item], limit: int, seed: int) -> None:
    drawn = draw(rows, limit, seed, task)
    assert set(map(key_of, drawn)) == set(map(key_of, draw(ITEMS, limit, seed, task)))
    assert [item for item in rows if item in drawn] == drawn
    for name in ("scene", "style"):
        assert sum(task(item) == name for item in drawn) == min(limit, 9)


def key_of(item: Item) -> str:
    return item.key


@given(st.integers(1, 8))
def test_a_larger_limit_keeps_what_a_smaller_one_drew(limit: int) -> None:
    smaller, larger = (draw(ITEMS, size, 0, task) for size in (limit, limit + 1))
    assert set(map(key_of, smaller)) < set(map(key_of, larger))


def test_another_seed_draws_other_items() -> None:
    draws = {tuple(map(key_of, draw(ITEMS, 3, seed, task))) for seed in range(5)}
    assert len(draws) == 5


@given(st.sets(st.sampled_from(range(18))), st.integers(1, 9))
def test_the_draw_takes_questions_from_the_media_along(asked: set[int], limit: int) -> None:
    questions = [QUESTIONS[place] for place in sorted(asked)]
    drawn = draw(ITEMS + questions, limit, 0, task)
    captioned = {item.key for item in drawn if item.source is Source.CAPTION}
    assert captioned == set(map(key_of, draw(ITEMS, limit, 0, task)))
    expected = {f"qa/{key}" for key in captioned} & set(map(key_of, questions))
    assert {item.key for item in drawn if item.source is Source.MEDIA} == expected


def test_questions_that_belong_to_no_item_are_drawn_by_themselves() -> None:
    strays = [an_item(f"scene/unjoined-{number}", Source.MEDIA) for number in range(9)]
    drawn = draw(ITEMS + strays, 2, 0, task)
    assert sum(item.source is Source.MEDIA for item in drawn) == 2


@pytest.mark.parametrize("field", ["benchmark", "key", "questions", "source", "first", "media"])
async def test_an_item_that_lacks_something_is_none(field: str) -> None:
    planned = await runs.planned(BOTH, FOUND, MemoryStore())
    written = encode_item(planned.items[0])
    del written[field]
    with pytest.raises(InvalidInput, match="not an item of a plan"):
        decode_item(written)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("questions", None), ("questions", [3]), ("questions", [{"ordinal": 0}]),
        ("source", "dream"), ("media", None), ("benchmark", None), ("benchmark", ["x"]),
    ],
)  # fmt: skip
async def test_an_item_with_something_else_in_a_field_is_none(field: str, value: Any) -> None:
    planned = await runs.planned(BOTH, FOUND, MemoryStore())
    with pytest.raises(InvalidInput):
        decode_item({**encode_item(planned.items[0]), field: value})


async def test_payloads_that_are_no_objects() -> None:
    planned = await runs.planned(BOTH, FOUND, MemoryStore())
    payloads: list[Any] = [None, 3, "text", [1], {}]
    for item in (planned.items[0], planned.items[-1]):
        for payload in payloads:
            written = encode_item(item)
            written["questions"][0]["payload"] = payload
            with pytest.raises(InvalidInput):
                decode_item(written)


def test_an_item_of_a_benchmark_that_nobody_knows() -> None:
    with pytest.raises(UnknownName, match="known: capability"):
        decode_item({"benchmark": "coco"})
