"""Replies in packs: nothing is lost, and few objects are left."""

import asyncio

import pytest
from tests.fakes.clock import FakeClock
from tests.fakes.packs import Installation, key, step
from tests.fakes.stores import MemoryStore

from caliper.core.errors import StoreFull
from caliper.pipeline.store import packs
from caliper.pipeline.store.pack_rows import Frame
from caliper.pipeline.store.packer import GRACE
from caliper.pipeline.store.packs import FRESH, Packs, pack_key


@pytest.fixture
def there() -> Installation:
    return Installation()


async def test_replies_of_a_run_become_one_object(there: Installation) -> None:
    await there.fill(range(35))
    await there.fill(range(35), "captions")
    assert there.count("packs/") == len(there.whole.objects) == 70
    await there.pack()
    assert list(there.whole.objects) == list(await there.front.packs.names())
    assert len(there.whole.objects) == 1
    for front in (there.front, there.another()):
        for number in range(35):
            assert await front.get(key(number)) == f"jobs {number}".encode()
    assert await there.another().get(key(36)) is None
    assert await there.another().size(key(36)) is None
    assert await there.another().size(key(1)) is not None


async def test_replies_that_end_together_go_together(there: Installation) -> None:
    numbers = range(50)
    await asyncio.gather(*(there.front.put(key(each), str(each).encode()) for each in numbers))
    assert there.count("packs/") == len(there.whole.objects) == 1
    for front in (there.front, there.another()):
        assert [await front.get(key(each)) for each in numbers] == [b"%d" % n for n in numbers]


async def test_who_gives_up_takes_no_reply_of_others_along(there: Installation) -> None:
    one, other = (asyncio.ensure_future(there.front.put(key(each), b"x")) for each in range(2))
    await asyncio.sleep(0)
    one.cancel()
    await other
    assert await there.another().get(key(1)) == b"x"


async def test_replies_that_cannot_be_written_fail_and_are_written_later(
    there: Installation,
) -> None:
    there.whole.full = True
    puts = [there.front.put(key(each), b"x") for each in range(3)]
    failures = await asyncio.gather(*puts, return_exceptions=True)
    assert [type(each) for each in failures] == [StoreFull] * 3
    assert await there.front.get(key(1)) is None
    there.whole.full = False
    await there.front.put(key(1), b"x")
    assert await there.front.get(key(1)) == await there.another().get(key(1)) == b"x"


async def test_others_find_a_reply_within_seconds(there: Installation) -> None:
    other = there.another()
    assert await other.get(key(1)) is None
    await there.front.put(key(1), b"x")
    there.clock.seconds += FRESH + 1
    assert await other.get(key(1)) == b"x"


async def test_a_loose_reply_is_found_until_it_grew(there: Installation) -> None:
    await there.whole.put(key(3), b"loose")
    for front in (there.front, there.another()):
        assert await front.get(key(3)) == b"loose"
        assert await front.size(key(3)) == 5
    await there.front.put(key(3), b"grown")
    for front in (there.front, there.another()):
        assert await front.get(key(3)) == b"grown"
    await there.front.delete(key(3))
    assert there.whole.objects == {}


async def test_few_replies_stay_as_they_are(there: Installation) -> None:
    await there.fill(range(3))
    await there.pack()
    assert there.count("packs/") == 3


async def test_many_packs_become_few(there: Installation) -> None:
    for first in range(0, 400, 10):
        await there.fill(range(first, first + 10))
        await there.pack()
    await there.pack()
    assert there.count("packs/") < 10
    for number in range(400):
        assert await there.another().get(key(number)) == f"jobs {number}".encode()


async def test_a_reply_book_that_grew_is_the_one_that_is_read(there: Installation) -> None:
    await there.fill(range(20))
    await there.pack()
    other = there.another()
    assert await other.get(key(3)) == b"jobs 3"
    await there.front.put(key(3), b"more")
    for _ in range(2):
        there.clock.seconds += FRESH + 1
        assert await other.get(key(3)) == b"more"
        await there.front.put(key(3), b"much more")
        assert await there.front.get(key(3)) == b"much more"
        await there.fill(range(30, 50))
        await there.pack()
        assert await there.another().get(key(3)) == b"much more"
        await there.front.put(key(3), b"more")


async def test_other_objects_are_never_packed(there: Installation) -> None:
    others = {"runs/1/spec.json": b"1", "jobs/ab/c.json": b"2", "jobs/ab/x.y.json": b"3"}
    for name, data in others.items():
        await there.front.put(name, data)
    await there.fill(range(20))
    await there.pack()
    assert others.items() <= there.whole.objects.items()
    assert [await there.front.get(name) for name in others] == list(others.values())


async def test_deleted_replies_are_gone_and_others_stay(there: Installation) -> None:
    await there.fill(range(20))
    await there.pack()
    await there.fill(range(20, 25))
    await there.front.put(key(1), b"grown")
    await there.front.delete(key(1), key(2), key(21), "jobs/none")
    for front in (there.front, there.another()):
        found = {number for number in range(25) if await front.get(key(number)) is not None}
        assert found == set(range(25)) - {1, 2, 21}
    await there.front.delete(*(key(number) for number in range(25)))
    assert not there.whole.objects


async def test_a_full_store_lets_runs_go(there: Installation) -> None:
    await there.fill(range(20))
    await there.pack()
    await there.front.put("runs/1/spec.json", b"1")
    there.whole.full = True
    await there.front.delete(key(1), "runs/1/spec.json")
    assert list(there.whole.objects) == list(await there.front.packs.names())
    there.whole.full = False
    await there.front.delete(key(1))
    assert await there.another().get(key(1)) is None


async def test_what_was_purged_and_asked_again_is_not_deleted(there: Installation) -> None:
    await there.fill(range(20))
    await step(there.packer)
    await there.another().delete(key(3))
    await there.another().put(key(3), b"asked anew")
    there.clock.seconds += GRACE
    await step(there.packer)
    assert await there.another().get(key(3)) == b"asked anew"


async def test_a_pack_that_is_gone_is_looked_for_again(there: Installation) -> None:
    await there.fill(range(20))
    await there.pack()
    reader = there.another()
    await reader.get(key(1))
    (name,) = await reader.packs.names()
    await there.another().delete(key(2))
    assert name not in there.whole.objects
    assert await reader.get(key(1)) == b"jobs 1"


@pytest.mark.parametrize("damage", [b"", b"rubbish", None])
async def test_a_damaged_pack_heals(
    there: Installation, damage: bytes | None, caplog: pytest.LogCaptureFixture
) -> None:
    await there.fill(range(20))
    await there.pack()
    (name,) = there.whole.objects
    data = there.whole.objects[name]
    # None: its end is lost, and with it the data of some replies.
    there.whole.objects[name] = data[:-200] if damage is None else damage
    front, lost = there.another(), 0
    for number in range(20):
        if not await front.get(key(number)):
            lost += 1
            await front.put(key(number), f"jobs {number}".encode())
    assert lost > 0
    assert {name in each.getMessage() for each in caplog.records} == {True}
    await there.fill(range(30, 100))
    for _ in range(10):
        await there.pack()
    for number in range(20):
        assert await there.another().get(key(number)) == f"jobs {number}".encode()


async def test_packs_of_a_newer_form_are_left_alone(there: Installation) -> None:
    newer = f"{packs.PREFIX}{0:016x}-{0:08x}-20.pack2"
    await there.whole.put(newer, b"newer")
    for first in range(0, 400, 10):
        await there.fill(range(first, first + 10))
        await there.pack()
    await there.front.delete(key(1))
    assert there.whole.objects[newer] == b"newer"


async def test_rows_beyond_the_bound_are_neither_read_nor_held() -> None:
    store, clock = MemoryStore(), FakeClock()
    front = Packs(store, clock, cached=250 * 28, small=0)
    names = [pack_key(key(number)) or b"" for number in range(300)]
    for first in range(0, 300, 10):
        frames = [Frame.of(each, 0, b"x") for each in names[first : first + 10]]
        await front.write(frames, clock.now())
    found = [await front.find(each) is not None for each in names]
    assert found == [False] * 50 + [True] * 250
    oldest = (await front.names())[-1]
    del store.objects[oldest]
    assert await front.find(names[-1])


async def test_a_pack_that_goes_while_it_is_read_leaves_nothing_behind(there: Installation) -> None:
    await there.fill(range(20))
    await there.pack()
    front = there.another().packs
    (name,) = await front.names()
    await front.rows(name)
    del there.whole.objects[name]
    assert await front.frames(name) == []
