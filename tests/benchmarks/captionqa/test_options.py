import hashlib
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caliper.benchmarks.captionqa.options import (
    label,
    question_permutation,
    released_generator,
    shuffle,
    yes_no_exact,
    yes_no_released,
)
from caliper.benchmarks.captionqa.reading import read_lenient, read_released

OPENINGS = (
    "is are was were do does did have has had can could will would should shall may might must"
)


@pytest.mark.parametrize(
    ("question", "choices", "released", "exact"),
    [
        ("The door: open?", ("Yes", "No"), True, True),
        ("Open or closed?", ("yes, it is", "no, it is not"), True, True),
        # "no" inside "Snow", "yes" inside "eyes".
        ("What covers it?", ("Snow", "Two eyes", "Sand"), True, False),
        ("What covers it?", ("Snow", "Sand"), False, False),
        ("What is said?", ("Yes", "Maybe"), False, False),
        ("Is it red or blue?", ("Red", "Blue"), True, False),
        ("is it red?", ("Red", "Blue"), True, False),
        ("Island or lake?", ("Island", "Lake"), False, False),
        ("Is", ("Red", "Blue"), False, False),
        ("What is it?", ("Red", "Blue"), False, False),
    ],
)
def test_yes_no_rules(
    question: str, choices: tuple[str, ...], *, released: bool, exact: bool
) -> None:
    assert yes_no_released(question, choices) is released
    assert yes_no_exact(question, choices) is exact


@pytest.mark.parametrize("opening", OPENINGS.split())
def test_released_rule_knows_every_opening(opening: str) -> None:
    assert yes_no_released(f"{opening.title()} it red?", ("Red", "Blue"))
    assert not yes_no_released(f"{opening}x it red?", ("Red", "Blue"))


def test_released_generator_gives_the_published_permutations() -> None:
    generator = released_generator()
    assert [list(shuffle(generator, size)) for size in (5, 5, 4, 2, 5, 3)] == [
        [2, 1, 0, 4, 3],
        [0, 2, 1, 3, 4],
        [2, 0, 1, 3],
        [1, 0],
        [4, 3, 0, 1, 2],
        [1, 0, 2],
    ]


def test_question_draw_is_the_documented_one() -> None:
    digest = hashlib.sha256(b"7\0nat_001\x003").digest()
    order = list(range(5))
    random.Random(int.from_bytes(digest[:8])).shuffle(order)
    assert question_permutation(7, "nat_001", 3, 5) == tuple(order)


@given(st.integers(), st.text(), st.integers(0, 10_000), st.integers(0, 120))
def test_question_draw_is_a_permutation_of_seed_item_and_ordinal(
    seed: int, item: str, ordinal: int, size: int
) -> None:
    drawn = question_permutation(seed, item, ordinal, size)
    assert sorted(drawn) == list(range(size))
    assert drawn == question_permutation(seed, item, ordinal, size)


def test_seed_item_and_ordinal_each_change_the_draw() -> None:
    drawn = {
        question_permutation(seed, item, ordinal, 30)
        for seed in (0, 1)
        for item in ("nat_1", "nat_2")
        for ordinal in (0, 1)
    }
    assert len(drawn) == 8


def test_labels_beyond_z_are_numbers_that_both_readings_read() -> None:
    assert [label(place) for place in (0, 25, 26, 98)] == ["A", "Z", "27", "99"]
    shown = tuple(f"option {place:03}" for place in range(99))
    for place in (0, 1, 25, 26, 98):
        assert read_released(label(place), shown).place == place
        assert read_lenient(label(place), shown).place == place
