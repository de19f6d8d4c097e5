"""Which messages a member hands out, and who is charged when members die."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.fakes.handouts import Log

from caliper.adapters.streams.progress import SPAN
from caliper.core.envelopes import Delivery, position_of


def values(deliveries: list[Delivery]) -> list[bytes]:
    return [delivery.message.value for delivery in deliveries]


def test_nothing_is_handed_out_before_a_commit_says_so() -> None:
    member = Log(3).member("me")
    member.turn()
    assert member.handout.take() is None
    assert values(member.all_ready()) == [b"0/0", b"0/1", b"0/2"]


def test_nothing_is_wanted_while_enough_waits() -> None:
    member = Log(100).member("me", room=4)
    while member.handout.fetchable():
        member.turn()
        member.commit()
    found = 0
    while member.handout.take() is not None:
        found += 1
        member.handout.reserve()
        member.commit()
    assert found == 4


def test_nothing_goes_out_that_is_far_from_the_oldest_message() -> None:
    member = Log(3 * SPAN, 10).member("me", room=4 * SPAN)
    found = member.all_ready()
    while more := member.all_ready():
        found += more
    far = [delivery.offset for delivery in found if delivery.partition == 0]
    assert max(far) == SPAN - 1
    for delivery in found[1:]:
        member.handout.settle(delivery)
    assert member.all_ready() == []
    assert (found[0].partition, found[0].offset) == (0, 0)
    member.handout.settle(found[0])
    assert max(delivery.offset for delivery in member.all_ready()) == 2 * SPAN - 1


def test_a_window_holds_messages_until_all_are_settled() -> None:
    log = Log(2)
    member = log.member("me")
    assert not member.handout.holds_messages
    one, other = member.all_ready()
    member.handout.settle(one)
    assert member.handout.holds_messages
    member.commit()
    # The next owner knows of one in flight, which has not arrived yet.
    heir = log.member("heir")
    assert heir.handout.holds_messages
    assert values(heir.all_ready()) == [b"0/1"]
    member.handout.settle(other)
    assert not member.handout.holds_messages


def test_a_retried_message_goes_before_later_ones() -> None:
    member = Log(3).member("me")
    first, *_ = member.all_ready()
    member.handout.retry(first)
    again, *_ = member.all_ready()
    assert (again.message, again.attempt) == (first.message, 2)


def test_a_delivery_of_an_earlier_attempt_settles_nothing() -> None:
    member = Log(1).member("me")
    [first] = member.all_ready()
    member.handout.retry(first)
    [again] = member.all_ready()
    member.handout.settle(first)
    assert member.handout.owns(again)


def test_a_partition_that_moved_takes_its_deliveries_with_it() -> None:
    log = Log(2, 2)
    first = log.member("first")
    held = first.all_ready()
    log.marks |= first.handout.release([1])
    assert [first.handout.owns(delivery) for delivery in held] == [
        delivery.partition == 0 for delivery in held
    ]


def test_what_a_living_member_works_on_waits_for_it() -> None:
    log = Log(6)
    first = log.member("first")
    first.take_up_to(2, held := [])
    log.marks |= first.handout.release([0])
    second = log.member("second")
    assert values(second.all_ready()) == [b"0/2", b"0/3", b"0/4", b"0/5"]
    # If the partition moves on, so does the claim.
    log.marks |= second.handout.release([0])
    third = log.member("third")
    assert third.all_ready() == []
    log.seconds += 10.0
    assert values(third.all_ready()) == [b"0/0", b"0/1", b"0/2", b"0/3", b"0/4", b"0/5"]
    assert values(held) == [b"0/0", b"0/1"]


def test_what_a_leaving_member_gave_up_goes_out_at_once() -> None:
    log = Log(2)
    first = log.member("first")
    first.all_ready()
    first.handout.give_up()
    first.leave()
    assert values(log.member("second").all_ready()) == [b"0/0", b"0/1"]


@pytest.mark.parametrize(("session", "longest"), [(1.0, 1.0), (15.0, 10.0)])
def test_an_accused_message_waits_for_a_session_at_most(session: float, longest: float) -> None:
    waits = []
    for name in map(str, range(40)):
        log = Log(1)
        log.member("first").all_ready()
        log.member("second").all_ready()
        last = log.member(name, session=session)
        while not last.all_ready():
            log.seconds += 0.1
        waits.append(log.seconds)
    assert 0.8 * longest < max(waits) <= longest + 0.1
    assert min(waits) < 0.2 * longest


def test_no_suspect_waits_for_a_living_member() -> None:
    log = Log(2)
    log.member("lost").all_ready()
    first = log.member("first")
    assert values(first.all_ready()) == [b"0/0"]
    log.marks |= first.handout.release([0])
    assert values(log.member("second").all_ready()) == [b"0/0"]


def test_a_partition_that_comes_back_does_so_under_another_tenure() -> None:
    log = Log(2, 2)
    member = log.member("first")
    before = {delivery.partition: delivery for delivery in member.all_ready()}
    for delivery in before.values():
        member.handout.retry(delivery)
    log.marks |= member.handout.release([1])
    member.adopt(1)
    after = {delivery.partition: delivery for delivery in member.all_ready()}
    assert after[0].tenure == before[0].tenure
    assert after[1].tenure not in (before[0].tenure, before[1].tenure)


def test_after_an_unclean_stop_messages_go_out_one_at_a_time_until_past_what_was_out() -> None:
    log = Log(6)
    first = log.member("first", room=4)
    first.take_up_to(4, [])
    second = log.member("second", room=4)
    for expected in (b"0/0", b"0/1", b"0/2", b"0/3"):
        [alone] = second.all_ready()
        assert alone.message.value == expected
        assert second.all_ready() == []
        second.handout.settle(alone)
    assert values(second.all_ready()) == [b"0/4", b"0/5"]


@pytest.mark.parametrize("in_flight", [1, 4, 16])
def test_what_was_only_prefetched_is_hardly_suspected(in_flight: int) -> None:
    log = Log(200)
    first = log.member("first", room=64)
    held: list[Delivery] = []
    for _ in range(40):
        held += first.some_ready(in_flight - len(held))
        first.handout.settle(held.pop(0))
    first.take_up_to(in_flight, held)
    first.turn()
    first.commit()
    second, alone = log.member("second", room=64), 0
    while len(found := second.all_ready()) == 1:
        alone += 1
        second.handout.settle(found[0])
    assert in_flight <= alone <= 2 * in_flight


def test_the_partitions_of_others_wait_while_there_are_suspects() -> None:
    log = Log(2, 3)
    lost = log.member("lost")
    lost.handout.release([1])
    lost.all_ready()
    survivor = log.member("survivor")
    [alone] = survivor.all_ready()
    assert alone.message.value == b"0/0"
    survivor.handout.settle(alone)
    [alone] = survivor.all_ready()
    survivor.handout.settle(alone)
    assert values(survivor.all_ready()) == [b"1/0", b"1/1", b"1/2"]


def test_suspects_wait_for_the_jobs_that_their_new_owner_has_already() -> None:
    log = Log(1, 1)
    survivor = Log(0, 1).member("survivor")
    [running] = survivor.all_ready()
    log.member("lost").all_ready()
    survivor.log = log
    survivor.adopt(0)
    assert survivor.all_ready() == []
    survivor.handout.settle(running)
    assert values(survivor.all_ready()) == [b"0/0"]


def test_suspects_whose_retention_ended_do_not_block() -> None:
    log = Log(4)
    log.member("lost").all_ready()
    survivor = log.member("survivor")
    assert survivor.handout.missing_suspects() == [0]
    survivor.positions[0] = 4
    survivor.handout.skip_to(0, 4)
    log.lengths[0] = 5
    assert values(survivor.all_ready()) == [b"0/4"]


FATES = st.lists(
    st.sampled_from(["settle", "settle", "settle", "retry", "keep", "leave", "die"]), max_size=80
)


@given(fates=FATES, lengths=st.lists(st.integers(0, 12), min_size=1, max_size=3))
@settings(max_examples=150, deadline=None)
def test_whatever_befalls_members_every_message_is_settled(
    fates: list[str], lengths: list[int]
) -> None:
    log = Log(*lengths)
    member, names, settled, attempts = log.member("0", room=5), 0, set(), Counter[int]()
    for fate in [*fates, "leave"]:
        log.seconds += 4.0
        found = member.all_ready()
        for delivery in found:
            assert delivery.attempt >= attempts[delivery.position]
            match fate:
                case "settle":
                    member.handout.settle(delivery)
                    settled.add(delivery.position)
                case "retry":
                    member.handout.retry(delivery)
                case _:
                    pass
        if fate in ("leave", "die"):
            if fate == "leave":
                member.leave()
            names += 1
            member = log.member(str(names), room=5)
    log.seconds += 10.0
    while found := member.all_ready():
        for delivery in found:
            member.handout.settle(delivery)
            settled.add(delivery.position)
    counts = dict(enumerate(lengths))
    assert settled == {position_of(part, n) for part in counts for n in range(counts[part])}
    assert {part: mark.offset for part, mark in log.marks.items()} == {
        part: counts[part] for part in log.marks
    }
