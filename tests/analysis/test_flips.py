from collections.abc import Iterable
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from tests.fakes import reports

from caliper.analysis.flips import Change, Changes, Flip, Flips

ROW = reports.verdict(0, question_id="q0", score=1.0)


def change(second: int, by: float, benchmark: str = "capability") -> Change:
    return Change(benchmark, second + 100, second, by)


def test_all_are_counted_and_the_largest_of_each_direction_kept() -> None:
    found = Changes(2)
    found.add([change(0, 1.0), change(1, -1.0), change(2, 4.0)])
    found.add([change(3, 1.0), change(4, -5.0), change(5, -1.0)])
    assert (found.better, found.worse) == (3, 3)
    assert [each.second for each in found.largest(better=True)] == [2, 0]
    assert [each.second for each in found.largest(better=False)] == [4, 1]


def test_none_are_kept_where_none_are_wanted() -> None:
    found = Changes(0)
    found.add([change(0, 1.0)])
    assert (found.better, found.largest(better=True), found.largest(better=False)) == (1, (), ())


@given(
    st.lists(st.sampled_from([-2.0, -1.0, 1.0, 2.0]), max_size=30),
    st.integers(0, 10),
    st.integers(1, 7),
)
def test_the_largest_are_the_same_however_they_come(
    sizes: list[float], limit: int, shard: int
) -> None:
    changes = [change(place, by, "ab"[place % 2]) for place, by in enumerate(sizes)]
    found, backwards = Changes(limit), Changes(limit)
    for start in range(0, len(changes), shard):
        found.add(changes[start : start + shard])
    backwards.add(reversed(changes))
    for better in (False, True):
        wanted = sorted(_of(changes, better=better), key=lambda one: one.sort_key)[:limit]
        assert found.largest(better=better) == tuple(wanted)
        assert backwards.largest(better=better) == tuple(wanted)


def _of(changes: Iterable[Change], *, better: bool) -> list[Change]:
    return [each for each in changes if (each.size > 0) is better]


def test_listed_flips_go_by_direction() -> None:
    up = Flip(replace(ROW, score=0.0), replace(ROW, score=1.0))
    down = Flip(replace(ROW, score=1.0), replace(ROW, score=-1.0))
    found = Flips(1, 1, 0, 0, (down, up))
    assert (found.of(better=True), found.of(better=False)) == ((up,), (down,))
