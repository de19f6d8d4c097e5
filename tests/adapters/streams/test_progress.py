import pytest
from hypothesis import given
from hypothesis import strategies as st

from caliper.adapters.streams.progress import SPAN, CommitMark, PartitionProgress, TryCounts

OFFSETS = st.integers(0, SPAN - 1)


def taken(count: int, start: int = 0) -> PartitionProgress:
    progress = PartitionProgress(end=start)
    for offset in range(start, start + count):
        assert progress.take(offset)
    return progress


def marked(progress: PartitionProgress, member: str, alone: int | None = None) -> CommitMark:
    mark = progress.mark(member, alone)
    assert mark is not None
    return mark


def test_only_what_is_settled_without_a_gap_is_committed() -> None:
    progress = taken(4)
    progress.settle(0)
    progress.settle(2)
    assert progress.prefix == 1
    progress.settle(1)
    assert progress.prefix == 3
    progress.settle(3)
    assert progress.prefix == 4


def test_a_partition_nobody_took_from_has_nothing_to_commit() -> None:
    assert PartitionProgress().mark("me") is None


def test_what_is_settled_behind_a_gap_is_not_taken_again() -> None:
    progress = taken(5)
    for offset in (1, 3):
        progress.settle(offset)
    after = PartitionProgress.restore(marked(progress, ""), "you")
    assert [offset for offset in range(5) if after.take(offset)] == [0, 2, 4]


def test_attempts_travel_with_the_commit() -> None:
    progress = taken(3)
    progress.retry(1)
    progress.retry(1)
    after = PartitionProgress.restore(marked(progress, ""), "you")
    assert [after.try_counts(offset) for offset in range(3)] == [
        TryCounts(),
        TryCounts(3),
        TryCounts(),
    ]


def test_after_a_good_end_nobody_is_suspected() -> None:
    progress = taken(3)
    progress.released |= {0, 1}
    after = PartitionProgress.restore(marked(progress, ""), "you")
    assert not after.suspicious


def test_what_was_released_at_an_unclean_stop_is_suspected_until_it_is_settled() -> None:
    progress = taken(3, start=10)
    progress.released |= {10, 11}
    after = PartitionProgress.restore(marked(progress, "me"), "you")
    assert after.suspicious
    for offset in (10, 11, 12):
        after.take(offset)
    after.settle(10)
    assert after.suspicious
    after.settle(11)
    assert not after.suspicious


def test_suspicion_outlives_an_owner_that_ends_well() -> None:
    progress = taken(3)
    progress.released |= {0, 1}
    second = PartitionProgress.restore(marked(progress, "me"), "you")
    third = PartitionProgress.restore(marked(second, ""), "they")
    assert third.suspects_before == 2


def test_an_owner_that_comes_back_to_its_own_commit_did_not_die() -> None:
    progress = taken(3)
    progress.released |= {0}
    after = PartitionProgress.restore(marked(progress, "me", alone=0), "me")
    assert not after.suspicious
    assert after.try_counts(0) == TryCounts()


def test_only_the_message_that_was_alone_is_charged() -> None:
    progress = taken(3)
    progress.released |= {0}
    mark = marked(progress, "first", alone=0)
    for member in ("second", "third"):
        again = PartitionProgress.restore(mark, member)
        again.take(0)
        again.released.add(0)
        mark = marked(again, member, alone=0)
    last = PartitionProgress.restore(mark, "fourth")
    assert [last.try_counts(offset).crashes for offset in range(3)] == [3, 0, 0]


def test_a_message_that_was_alone_is_no_suspect_any_more() -> None:
    progress = taken(2)
    progress.released |= {0, 1}
    after = PartitionProgress.restore(marked(progress, "me", alone=0), "you")
    for offset in (0, 1):
        after.take(offset)
    after.settle(1)
    assert not after.suspicious


def test_a_span_of_unsettled_messages_is_full() -> None:
    progress = taken(SPAN)
    assert progress.full
    progress.settle(1)
    assert progress.full
    progress.settle(0)
    assert not progress.full


def test_the_longest_commit_fits() -> None:
    progress = taken(SPAN, start=10**12)
    progress.suspects_before = 10**12 + SPAN
    for offset in range(10**12, 10**12 + SPAN, 2):
        progress.tries[offset] = TryCounts(999, 9)
        progress.settle(offset + 1)
    everything = taken(SPAN, start=10**12)
    everything.tries = {offset: TryCounts(999, 9) for offset in everything.open}
    for each in (progress, everything):
        assert len(marked(each, "12345678", alone=10**12).text) < 4096


@pytest.mark.parametrize(
    "text", ["", "x", "[]", "1", '{"done":5,"tries":[],"until":"a","alone":-1}',
             '{"tries":{"a":[1,2],"3":[1],"4":[true,1],"5":7}}', '{"done":"zz"}', '{"new":1}'],
)  # fmt: skip
def test_a_text_that_nobody_of_us_wrote_says_nothing(text: str) -> None:
    progress = PartitionProgress.restore(CommitMark(7, text), "me")
    assert (progress.prefix, progress.done, progress.suspicious) == (7, set(), False)
    assert all(progress.try_counts(offset) == TryCounts() for offset in range(8, 20))


@given(st.sets(OFFSETS), st.sets(OFFSETS), st.integers(0, 2**40))
def test_a_commit_loses_nothing(settled: set[int], retried: set[int], start: int) -> None:
    progress = taken(SPAN, start)
    for offset in settled:
        progress.settle(start + offset)
    for offset in retried - settled:
        progress.retry(start + offset)
    after = PartitionProgress.restore(marked(progress, ""), "you")
    assert after.end is not None
    found = [offset for offset in range(after.end, start + SPAN) if after.take(offset)]
    assert found == sorted(progress.open)
    assert all(after.try_counts(offset) == progress.try_counts(offset) for offset in found)
