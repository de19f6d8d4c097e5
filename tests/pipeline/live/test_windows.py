from random import Random

from hypothesis import given
from hypothesis import strategies as st

from caliper.core.tally import Tally
from caliper.pipeline.live.windows import RollingWindow, SampleScore

Put = tuple[str, int, int]
"""Sample, milliseconds, scored questions."""
PUTS = st.lists(st.tuples(st.sampled_from("abcdef"), st.integers(0, 40), st.integers(0, 5)))


def judged(
    time: int, scored: int, sample: str = "a", partition: int = 0, offset: int = 0
) -> SampleScore:
    tally = Tally()
    tally.add("cell", sample, scored=scored, n=1)
    return SampleScore((time, partition, offset), scored, tally)


def held(window: RollingWindow) -> set[str]:
    return set(window.tally.clusters("cell"))


def test_the_last_hold_at_least_so_many_scored_verdicts() -> None:
    window = RollingWindow(min_scored=5)
    for time, sample in enumerate("abcd"):
        window.put(("run", sample), judged(time, 2, sample))
        window.trim(time)
    assert held(window) == {"b", "c", "d"}
    assert window.tally.total("cell") == {"scored": 6, "n": 3}


def test_an_hour_goes_by_the_brokers_time() -> None:
    window = RollingWindow(age=10)
    window.put(("run", "old"), judged(5, 1, "old"))
    window.put(("run", "new"), judged(12, 1, "new"))
    assert not window.trim(15)
    assert window.trim(16)
    assert held(window) == {"new"}
    assert window.trim(23)
    assert len(window) == 0
    assert list(window.tally) == []


def test_a_sample_that_is_told_of_again_moves() -> None:
    window = RollingWindow(min_scored=2)
    window.put(("run", "a"), judged(0, 1, "a"))
    window.put(("run", "b"), judged(1, 1, "b"))
    window.put(("run", "a"), judged(2, 1, "a"))
    window.put(("run", "c"), judged(3, 1, "c"))
    window.trim(3)
    assert held(window) == {"a", "c"}


def test_ties_go_by_partition_and_offset() -> None:
    window = RollingWindow(min_scored=1)
    window.put(("run", "b"), judged(0, 1, "b", partition=1, offset=0))
    window.put(("run", "c"), judged(0, 1, "c", partition=0, offset=9))
    window.trim(0)
    assert held(window) == {"b"}


def test_there_is_a_most() -> None:
    window = RollingWindow(age=100, max_samples=2)
    for time, sample in enumerate("abc"):
        window.put(("run", sample), judged(time, 1, sample))
    window.trim(3)
    assert held(window) == {"b", "c"}


@given(PUTS, st.integers(0, 12), st.randoms(use_true_random=False))
def test_order_changes_nothing(puts: list[Put], scored: int, draw: Random) -> None:
    """As long as a sample's own messages come in their order, which its partition sees to."""
    newest = {sample: (time, count) for sample, time, count in sorted(puts, key=lambda put: put[1])}
    entries = list(newest.items())
    windows = []
    for _ in range(2):
        window = RollingWindow(min_scored=scored, age=30)
        for offset, (sample, (time, count)) in enumerate(entries):
            place = "abcdef".index(sample)
            window.put(("run", sample), judged(time, count, sample, place, 0 * offset))
            window.trim(40)
        windows.append(window)
        draw.shuffle(entries)
    assert windows[0].tally == windows[1].tally
    assert len(windows[0]) == len(windows[1])
