"""CompreQA questions drawn from scene graphs."""

import pytest
from tests.fakes import tiny

from caliper.benchmarks.base import PlanRequest
from caliper.benchmarks.comprecap.planning import plan
from caliper.benchmarks.comprecap.questions import CompreQaQuestion
from caliper.benchmarks.comprecap.reading import options
from caliper.core.errors import InvalidInput
from caliper.core.question import Item, Source
from caliper.core.rows import Row

SPOT = tiny.mask(1, *[0] * 99)
WALL = tiny.mask(*[0] * 10, *[1] * 90)
CLOCKS = ("a round clock.", "a red clock", "a square clock", "A Red  clock.")


def scene(image: str, *things: dict[str, object]) -> Row:
    wall = tiny.thing("wall", "a grey wall", WALL)
    return Row("anno.json", 1, {"image": image, "info": [wall, *things]})


ROWS = [
    *(scene(f"{place}.jpg", tiny.thing("clock", text, SPOT)) for place, text in enumerate(CLOCKS)),
    scene("cup.jpg", tiny.thing("cup", "a cup", SPOT), tiny.thing("cup", "a mug", SPOT)),
    scene("bare.jpg", tiny.thing("pen", "a pen", "broken")),
]


def items(rows: list[Row] = ROWS, seed: int = 0) -> list[Item]:
    """The items about the pictures."""
    request = PlanRequest({}, seed=seed, qa_rows=rows)
    return [item for item in plan([], request) if item.source is Source.MEDIA]


def drawn(rows: list[Row] = ROWS, seed: int = 0) -> dict[str, list[CompreQaQuestion]]:
    return {item.sample: [q.payload for q in item.questions] for item in items(rows, seed)}


def right(question: CompreQaQuestion) -> str:
    return options(question.question)[question.answer]


def test_as_many_absent_objects_as_tiny_ones() -> None:
    found = drawn()
    # A picture with a broken mask has no questions, and lends no object to others.
    assert set(found) == {"0.jpg", "1.jpg", "2.jpg", "3.jpg", "cup.jpg"}
    for image, questions in found.items():
        presence = [question for question in questions if question.kind == "p"]
        own, other = ("cup", "clock") if image == "cup.jpg" else ("clock", "cup")
        assert {one.category: right(one) for one in presence} == {own: "Yes", other: "No"}
    assert all("wall" not in one.category for some in found.values() for one in some)


def test_descriptions_of_the_same_category_in_other_pictures() -> None:
    found = drawn()
    for place, text in enumerate(CLOCKS):
        (question,) = [one for one in found[f"{place}.jpg"] if one.kind == "cap"]
        shown = options(question.question)
        assert len(shown) == 3
        assert right(question) == text.rstrip(".")
        # A red clock is never a wrong description of a red clock.
        assert len({" ".join(each.casefold().split()) for each in shown.values()}) == 3
    # Two cups: it would not be clear which one is asked about.
    assert {one.kind for one in found["cup.jpg"]} == {"p"}


def test_the_seed_decides() -> None:
    assert items() == items()
    assert drawn(seed=1) != drawn()
    orders = {right(one) + one.answer for seed in range(20) for one in drawn(seed=seed)["0.jpg"]}
    # Every option stands in every place.
    assert {"YesA", "YesB", "NoA", "NoB", "a round clockC"} <= orders


def test_scene_graphs_without_tiny_objects_are_an_error() -> None:
    with pytest.raises(InvalidInput, match="no object covers less than 5%") as caught:
        items([scene("a.jpg")])
    assert caught.value.file == "anno.json"


def test_descriptions_that_look_like_options_are_left_out() -> None:
    odd = [
        scene(f"{place}.jpg", tiny.thing("clock", f"a clock D. or B. {place}", SPOT))
        for place in range(3)
    ]
    assert {one.kind for some in drawn([*odd, ROWS[4]]).values() for one in some} == {"p"}
