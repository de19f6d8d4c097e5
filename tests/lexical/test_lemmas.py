from __future__ import annotations

import pytest

from caliper.lexical.lemmas import singular


@pytest.mark.parametrize(
    ("plural", "expected"),
    [
        ("dogs", "dog"),
        ("benches", "bench"),
        ("dishes", "dish"),
        ("boxes", "box"),
        ("dresses", "dress"),
        ("houses", "house"),
        ("horses", "horse"),
        ("vases", "vase"),
        ("buses", "bus"),
        ("cactuses", "cactus"),
        ("cities", "city"),
        ("ties", "tie"),
        ("movies", "movie"),
        ("potatoes", "potato"),
        ("horseshoes", "horseshoe"),
        ("bookshelves", "bookshelf"),
        ("olives", "olive"),
        ("beaches", "beach"),
        ("firemen", "fireman"),
        ("policewomen", "policewoman"),
        ("grandchildren", "grandchild"),
        ("t-shirts", "t-shirt"),
    ],
)
def test_plurals(plural: str, expected: str) -> None:
    assert singular(plural) == expected


@pytest.mark.parametrize(
    "noun", ["grass", "bus", "tennis", "glass", "lens", "jeans", "specimen", "abdomen", "s", ""]
)
def test_what_is_no_plural_stays(noun: str) -> None:
    assert singular(noun) == noun
