from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from caliper.core.tally import Amount, Tally, add_up

CELLS = ("scene", "style")
CLUSTERS = ("1.jpg", "2.jpg")
NAMES = ("score", "asked")
AMOUNTS: st.SearchStrategy[Amount] = st.integers() | st.fractions()
Entry = tuple[str, str, str, Amount]
ENTRIES = st.lists(
    st.tuples(st.sampled_from(CELLS), st.sampled_from(CLUSTERS), st.sampled_from(NAMES), AMOUNTS),
    max_size=8,
)


def tally(entries: list[Entry]) -> Tally:
    filled = Tally()
    for cell, cluster, name, amount in entries:
        filled.add(cell, cluster, **{name: amount})
    return filled


@given(ENTRIES, ENTRIES)
def test_merging_is_commutative(first: list[Entry], second: list[Entry]) -> None:
    assert tally(first).merge(tally(second)) == tally(second).merge(tally(first))


@given(ENTRIES, ENTRIES, ENTRIES)
def test_merging_is_associative(
    first: list[Entry], second: list[Entry], third: list[Entry]
) -> None:
    one, two, three = tally(first), tally(second), tally(third)
    assert one.merge(two).merge(three) == one.merge(two.merge(three))


@given(ENTRIES, ENTRIES)
def test_merging_is_adding_everything_to_one(first: list[Entry], second: list[Entry]) -> None:
    merged = tally(first).merge(tally(second))
    assert merged == tally(first + second)
    absorbing = tally(first)
    absorbing.absorb(tally(second))
    assert absorbing == merged


@given(ENTRIES, ENTRIES)
def test_merging_leaves_both_as_they_were(first: list[Entry], second: list[Entry]) -> None:
    one, two = tally(first), tally(second)
    merged = one.merge(two)
    merged.add("scene", "1.jpg", asked=1)
    assert (one, two) == (tally(first), tally(second))


@given(ENTRIES)
def test_the_total_is_the_sum_over_clusters(entries: list[Entry]) -> None:
    for cell in CELLS:
        expected: dict[str, Amount] = {}
        for where, _, name, amount in entries:
            if where == cell:
                expected[name] = expected.get(name, 0) + amount
        assert tally(entries).total(cell) == expected


@given(st.permutations([Fraction(1, 3), Fraction(10**30), Fraction(-(10**30)), 7, Fraction(1, 7)]))
def test_sums_are_exact(amounts: list[Amount]) -> None:
    filled = tally([("scene", "1.jpg", "score", amount) for amount in amounts])
    assert filled.total("scene") == {"score": Fraction(157, 21)}


def test_equal_sums_share_memory_until_one_grows() -> None:
    tally = Tally()
    tally.add("cell", "first", n=1)
    tally.add("cell", "second", n=1)
    sums = tally.clusters("cell")
    assert sums["first"] is sums["second"]
    tally.add("cell", "first", n=1)
    assert (sums["first"], sums["second"]) == ({"n": 2}, {"n": 1})


def test_a_cell_that_is_not_there() -> None:
    empty = Tally()
    assert "scene" not in empty
    assert (empty.total("scene"), dict(empty.clusters("scene")), list(empty)) == ({}, {}, [])
    assert empty == Tally()
    assert empty != 0


def test_adding_up_nothing() -> None:
    assert add_up([]) == {}


SOMETHING = st.integers(1, 9) | st.fractions(min_value=1, max_value=9)
COUNTED = st.lists(
    st.tuples(st.sampled_from(CELLS), st.sampled_from(CLUSTERS), st.sampled_from(NAMES), SOMETHING),
    max_size=8,
)


def nonzero(found: Tally) -> dict[tuple[str, str], dict[str, Amount]]:
    """All there is of cells and clusters, names of which nothing is left aside."""
    return {
        (cell, cluster): {name: amount for name, amount in sums.items() if amount}
        for cell in found
        for cluster, sums in found.clusters(cell).items()
    }


@given(COUNTED, COUNTED)
def test_what_was_absorbed_can_be_withdrawn(first: list[Entry], second: list[Entry]) -> None:
    both = tally(first).merge(tally(second))
    both.withdraw(tally(second).entries())
    assert nonzero(both) == nonzero(tally(first))
    assert set(both) == set(tally(first))
