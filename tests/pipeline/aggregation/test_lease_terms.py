"""Several aggregators on one store and one log: the figures and the end are those of one."""

import pytest
from tests.fakes.clock import FakeClock
from tests.fakes.stores import MemoryStore

from caliper.core.errors import LeaseLost, StoreUnavailable
from caliper.pipeline.aggregation.lease import TERM, Lease

KEY = "lease.json"


def leases(*, clock: FakeClock | None = None) -> tuple[MemoryStore, FakeClock, Lease, Lease]:
    store, clock = MemoryStore(), clock or FakeClock()
    return store, clock, Lease(store, clock, KEY), Lease(store, clock, KEY)


async def test_a_lease_is_taken_over_after_a_term_without_renewal() -> None:
    _, clock, first, second = leases()
    await first.acquire()
    assert clock.slept == []
    await second.acquire()
    assert TERM <= clock.seconds < 2 * TERM
    assert (first.number, second.number) == (1, 2)
    with pytest.raises(LeaseLost):
        await first.renew()
    await second.renew()


async def test_a_renewed_lease_is_not_taken_over() -> None:
    class Renewing(FakeClock):
        """Renews the first lease whenever the second waits, at first."""

        async def sleep(self, seconds: float) -> None:
            await super().sleep(seconds)
            if self.seconds < 10 * TERM:
                await first.renew()

    _, clock, first, second = leases(clock=Renewing())
    await first.acquire()
    await second.acquire()
    assert clock.seconds > 10 * TERM


async def test_a_released_lease_is_taken_at_once() -> None:
    _, clock, first, second = leases()
    await first.acquire()
    await first.release()
    await second.acquire()
    assert (clock.slept, second.number) == ([], 2)


async def test_a_paused_holder_goes_on_if_nobody_took_over() -> None:
    _, clock, first, _ = leases()
    await first.acquire()
    clock.seconds += 100 * TERM
    await first.renew()
    assert first.number == 1


async def test_a_damaged_lease_is_taken_over_after_a_term() -> None:
    store, clock, first, _ = leases()
    for damaged in (b"", b"[]", b'{"number": "x"}'):
        store.objects[KEY] = damaged
        await first.acquire()
        assert clock.seconds >= TERM
        clock.seconds = 0


async def test_a_renewal_whose_answer_was_lost_is_repeated() -> None:
    class Lossy(MemoryStore):
        lost = False

        async def after(self, call: str, _: str) -> None:
            if self.lost and call == "replace":
                raise StoreUnavailable("the answer is lost")

    store = Lossy()
    lease = Lease(store, FakeClock(), KEY)
    await lease.acquire()
    store.lost = True
    with pytest.raises(StoreUnavailable):
        await lease.renew()
    store.lost = False
    await lease.renew()
    store.lost = True
    with pytest.raises(StoreUnavailable):
        await lease.acquire()
    store.lost = False
    await lease.acquire()


async def test_a_lease_outlives_a_store_that_was_down() -> None:
    store, clock, first, second = leases()
    await first.acquire()
    assert not await second.is_free()
    store.away = {"version": ""}
    with pytest.raises(StoreUnavailable):
        await second.is_free()
    clock.seconds += 2 * TERM
    store.away = {}
    assert not await second.is_free()
