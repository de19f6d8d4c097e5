import asyncio
from collections.abc import Sequence

from tests.fakes.clock import FakeClock

from caliper.pipeline.store.group_commit import GroupCommit


class Disk:
    """Keeps what is written together; writes only while `open` is set."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.commit = GroupCommit(self.write, self.clock)
        self.groups: list[Sequence[int]] = []
        self.open = asyncio.Event()
        self.open.set()

    async def write(self, items: Sequence[int]) -> None:
        self.groups.append(items)
        await self.open.wait()


async def test_items_that_come_alone_do_not_wait() -> None:
    disk = Disk()
    for item in range(3):
        await disk.commit.add(item)
    assert disk.groups == [[0], [1], [2]]
    assert disk.clock.seconds == 0


async def test_items_that_come_during_a_write_go_together_after_a_rest() -> None:
    disk = Disk()
    disk.open.clear()
    writes = [asyncio.create_task(disk.commit.add(0))]
    await asyncio.sleep(0.001)
    writes += [asyncio.create_task(disk.commit.add(item)) for item in (1, 2)]
    await asyncio.sleep(0.001)
    assert disk.clock.seconds > 0
    disk.open.set()
    await asyncio.gather(*writes)
    assert disk.groups == [[0], [1, 2]]


async def test_after_a_group_the_next_one_rests() -> None:
    disk = Disk()
    await asyncio.gather(*map(disk.commit.add, (0, 1)))
    await disk.commit.add(2)
    assert disk.groups == [[0, 1], [2]]
    assert disk.clock.seconds > 0
