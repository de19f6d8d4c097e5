"""Owners of runs and captions, and who may see them."""

import asyncio
from collections.abc import Iterable

import pytest
from tests.fakes.stores import MemoryStore

from caliper.core.owners import Owner, Sharing, Viewer
from caliper.pipeline.store.owners import Ownership

ANA, BEN, CLEO = Owner("ana", "red"), Owner("ben", "red"), Owner("cleo", "blue")
KEY, CONTENT = "supplied/a.owners.json", "supplied/a.jsonl.gz"


class Calls:
    """Who calls at present."""

    def __init__(self) -> None:
        self.viewer: Viewer | None = None

    def ownership(self, sharing: Sharing = Sharing.TEAM) -> Ownership:
        return Ownership(lambda: self.viewer, sharing)


@pytest.fixture
def calls() -> Calls:
    return Calls()


async def uploaded(store: MemoryStore, calls: Calls, *owners: Owner) -> None:
    for owner in owners:
        calls.viewer = Viewer(owner)
        await calls.ownership().claim(store, KEY, CONTENT)
        await store.put(CONTENT, b"captions")


async def permitted(
    store: MemoryStore, calls: Calls, sharing: Sharing, viewers: Iterable[Viewer | None]
) -> list[bool]:
    found = []
    for calls.viewer in viewers:
        found.append(await calls.ownership(sharing).permits(store, KEY))
    return found


@pytest.mark.parametrize(
    ("sharing", "ben", "cleo"),
    [(Sharing.PRIVATE, False, False), (Sharing.TEAM, True, False), (Sharing.ALL, True, True)],
)
async def test_who_sees_what_ana_uploaded(
    calls: Calls, sharing: Sharing, ben: bool, cleo: bool
) -> None:
    store = MemoryStore()
    await uploaded(store, calls, ANA)
    viewers = [Viewer(ANA), Viewer(BEN), Viewer(CLEO), Viewer(CLEO, is_admin=True), None]
    assert await permitted(store, calls, sharing, viewers) == [True, ben, cleo, True, True]


async def test_what_two_uploaded_belongs_to_both(calls: Calls) -> None:
    store = MemoryStore()
    await uploaded(store, calls, ANA, CLEO, ANA)
    viewers = [Viewer(each) for each in (ANA, BEN, CLEO, Owner("dora", "green"))]
    assert await permitted(store, calls, Sharing.PRIVATE, viewers) == [True, False, True, False]
    assert await permitted(store, calls, Sharing.TEAM, viewers) == [True, True, True, False]
    assert store.objects[KEY].count(b"ana") == 1


async def test_two_who_upload_at_once_are_both_owners() -> None:
    store = MemoryStore()
    claims = (Ownership(lambda each=each: Viewer(each)) for each in (ANA, CLEO))  # type: ignore[misc]
    await asyncio.gather(*(each.claim(store, KEY, CONTENT) for each in claims))
    assert all(each in store.objects[KEY] for each in (b"ana", b"cleo"))


async def test_what_had_no_owner_stays_everybodys(calls: Calls) -> None:
    store = MemoryStore()
    await store.put(CONTENT, b"captions")
    await uploaded(store, calls, ANA)
    assert KEY not in store.objects
    assert await permitted(store, calls, Sharing.PRIVATE, [Viewer(CLEO)]) == [True]


async def test_without_a_caller_nothing_is_read_or_written(calls: Calls) -> None:
    store = MemoryStore()
    await calls.ownership().claim(store, KEY, CONTENT)
    assert await calls.ownership(Sharing.PRIVATE).permits(store, KEY)
    assert store.calls == []


@pytest.mark.parametrize("damage", [b"{", b'{"schema": 999}', b'{"schema": 1, "owners": 5}'])
async def test_unreadable_owners_hide_from_all_but_administrators(
    calls: Calls, damage: bytes
) -> None:
    store = MemoryStore()
    await uploaded(store, calls, ANA)
    store.objects[KEY] = damage
    viewers = [Viewer(ANA), Viewer(ANA, is_admin=True)]
    assert await permitted(store, calls, Sharing.TEAM, viewers) == [False, True]
