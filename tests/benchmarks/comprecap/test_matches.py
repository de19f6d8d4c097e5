from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from caliper.benchmarks.comprecap.matches import (
    Match,
    distinct,
    match,
    mentions,
    object_score,
    similarity,
)

VECTORS = {
    "puppy": (3.0, 4.0, 0.0),
    "grass": (0.0, 0.0, 2.0),
    "hound": (4.0, 3.0, 0.0),
    "dog": (1.0, 0.0, 0.0),
    "lawn": (0.0, 1.0, 1.0),
    "cat": (0.0, 1.0, 0.0),
    "nothing": (0.0, 0.0, 0.0),
}


def test_a_pair_is_the_maximum_of_its_row_and_of_its_column() -> None:
    # puppy: dog .6, lawn .565685; hound: dog .8, lawn .424264; grass: dog 0, lawn .707107.
    found = match(["puppy", "grass", "hound"], ["dog", "lawn"], VECTORS)
    assert found == {"dog": Match("hound", 800_000), "lawn": Match("grass", 707_107)}


def test_a_category_whose_noun_fits_another_better_is_not_mentioned() -> None:
    # puppy is the best noun of both, and nearer to cat (.8) than to dog (.6).
    assert match(["puppy"], ["dog", "cat"], VECTORS) == {"cat": Match("puppy", 800_000)}


def test_of_equal_maxima_the_first_stands() -> None:
    twins = VECTORS | {"pup": VECTORS["puppy"], "whelp": VECTORS["puppy"]}
    assert match(["pup", "whelp"], ["dog"], twins) == {"dog": Match("pup", 600_000)}


def test_no_similarity_is_no_match() -> None:
    assert match(["grass"], ["dog"], VECTORS) == {}
    assert match(["nothing"], ["dog"], VECTORS) == {}


def test_without_nouns_nothing_is_mentioned() -> None:
    assert match([], ["dog"], VECTORS) == {}


def test_the_object_score_is_exact() -> None:
    matches = {"dog": Match("hound", 800_000), "lawn": Match("grass", 707_107)}
    assert object_score(["dog", "lawn", "cat"], matches) == Fraction(1_507_107, 3_000_000)


def test_every_piece_with_the_matched_noun_mentions_the_category() -> None:
    nouns = [("hound", "grass"), ("puppy",), ("hound", "hound")]
    assert mentions({"dog": Match("hound", 1)}, nouns) == {"dog": {0, 2}}


def test_distinct_keeps_the_first_of_each() -> None:
    assert distinct(["b", "a", "b"]) == ("b", "a")


numbers = st.lists(st.floats(-1, 1, width=32), min_size=3, max_size=3).map(tuple)


@given(st.lists(numbers, max_size=6), st.lists(numbers, min_size=1, max_size=4))
def test_matching_is_one_to_one_and_at_row_and_column_maxima(
    nouns: list[tuple[float, ...]], categories: list[tuple[float, ...]]
) -> None:
    vectors = {f"n{place}": vector for place, vector in enumerate(nouns)}
    words = tuple(vectors)
    names = tuple(f"c{place}" for place in range(len(categories)))
    vectors |= dict(zip(names, categories, strict=True))
    found = match(words, names, vectors)
    assert len({pair.noun for pair in found.values()}) == len(found)

    def micro(word: str, name: str) -> int:
        lengths = (
            sum(x * x for x in vectors[word]) ** 0.5 * sum(x * x for x in vectors[name]) ** 0.5
        )
        return similarity(vectors[word], vectors[name], lengths)

    for name, pair in found.items():
        assert abs(pair.micro - max(micro(word, name) for word in words)) <= 1
        assert abs(pair.micro - max(micro(pair.noun, other) for other in names)) <= 1
