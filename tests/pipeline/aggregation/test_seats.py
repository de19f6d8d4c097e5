"""Which of several aggregators is to lead which slot."""

from tests.fakes.clock import FakeClock
from tests.fakes.stores import MemoryStore

from caliper.pipeline.aggregation.lease import TERM
from caliper.pipeline.aggregation.seats import Seats
from caliper.pipeline.aggregation.slots import SLOTS, Slot, SlotIndex
from caliper.pipeline.store.run_book import RunBook


class Room:
    """The seats as several aggregators see them."""

    def __init__(self, number: int) -> None:
        self.store, self.clock = MemoryStore(), FakeClock()
        self.weights = [0] * number
        self.seats = [
            Seats(self.store, self.clock, lambda one=one: self.weights[one])  # type: ignore[misc]
            for one in range(number)
        ]

    def slots(self, one: int) -> list[int]:
        """The slots that one is to lead."""
        index = SlotIndex(RunBook(self.store, self.clock))
        slots = [Slot(number, index) for number in range(SLOTS)]
        return [slot.number for slot in slots if self.seats[one].lease_of(slot).is_wanted()]

    async def second(self, *present: int) -> None:
        for one in present:
            await self.seats[one].look()
        self.clock.seconds += 1


async def test_one_alone_leads_all_slots() -> None:
    room = Room(1)
    assert room.slots(0) == []
    await room.second(0)
    assert room.slots(0) == [0, 1, 2, 3]


async def test_those_who_come_get_their_part_within_two_looks() -> None:
    room = Room(5)
    await room.second(0)
    await room.second(0, 1)
    await room.second(0, 1)
    assert [room.slots(one) for one in (0, 1)] == [[0, 2], [1, 3]]
    for _ in range(2):
        await room.second(0, 1, 2, 3, 4)
    assert [room.slots(one) for one in range(5)] == [[0], [1], [2], [3], []]


async def test_the_slots_of_one_that_is_gone_go_to_the_others() -> None:
    room = Room(2)
    for _ in range(2):
        await room.second(0, 1)
    for _ in range(round(TERM)):
        assert room.slots(1) == [1, 3]
        await room.second(1)
    await room.second(1)
    assert room.slots(1) == [0, 1, 2, 3]


async def test_one_that_wakes_without_its_seat_takes_the_next_free_one() -> None:
    room = Room(5)
    for _ in range(2):
        await room.second(0, 1, 2, 3, 4)
    for _ in range(2 + round(TERM)):
        await room.second(1, 2, 3, 4)
    assert room.slots(4) == [0]
    await room.second(0)
    assert room.slots(0) == []
    for _ in range(2 + round(TERM)):
        await room.second(0, 1, 2, 4)
    assert [room.slots(one) for one in range(5)] == [[3], [1], [2], [3], [0]]


async def test_the_workers_are_shared_by_the_weights_of_what_waits() -> None:
    room = Room(2)
    room.weights = [4, 16]
    for _ in range(2):
        await room.second(0, 1)
    assert [each.share for each in room.seats] == [0.2, 0.8]
    room.weights = [4, 0]
    for _ in range(2):
        await room.second(0, 1)
    assert [each.share for each in room.seats] == [1, 0]
    # Nothing waits: who gets something first need not ask.
    room.weights = [0, 0]
    for _ in range(2):
        await room.second(0, 1)
    assert [each.share for each in room.seats] == [1, 1]
