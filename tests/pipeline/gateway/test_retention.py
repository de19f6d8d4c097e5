"""Old runs go once a day, by a setting."""

import asyncio

import pytest
from tests.fakes import runs
from tests.fakes.clock import FakeClock
from tests.fakes.stores import MemoryStore
from tests.fakes.telemetry import until

from caliper.core.errors import StoreUnavailable
from caliper.core.keys import canonical_json
from caliper.pipeline.gateway.retention import purge_daily
from caliper.pipeline.store.runs import END, SPEC, STARTED, run_store, write_json

DAY = 86_400


class ShakyStore(MemoryStore):
    """Cannot be listed the first time."""

    async def before(self, call: str, _: str) -> None:
        if call == "list" and self.count("list") == 1:
            raise StoreUnavailable("away")


async def ended(store: MemoryStore, name: str, clock: FakeClock) -> str:
    """Store a run that ends now."""
    spec = runs.spec(name=name)
    own, now = run_store(store, spec.run_id), clock.now().isoformat()
    await own.put(SPEC, canonical_json(spec.to_json()))
    await write_json(own, STARTED, started=now, starts=1)
    await write_json(own, END, state="complete", ended_at=now, start=1)
    return spec.run_id


async def nothing(*_: object) -> tuple[()]:
    """Keeps no run."""
    return ()


async def test_runs_go_once_they_are_old(caplog: pytest.LogCaptureFixture) -> None:
    store, clock = ShakyStore(), FakeClock()
    old = await ended(store, "old", clock)
    clock.seconds = 5 * DAY
    new = await ended(store, "new", clock)
    clock.seconds = 7.5 * DAY
    cleaning = asyncio.create_task(purge_daily(store, 7, clock, nothing))
    await until(lambda: f"runs/{old}/{SPEC}" not in store.objects)
    # The first day it failed.
    assert clock.seconds == 8.5 * DAY
    assert f"runs/{new}/{SPEC}" in store.objects
    await until(lambda: f"runs/{new}/{SPEC}" not in store.objects)
    assert clock.seconds == 12.5 * DAY
    cleaning.cancel()
    assert caplog.messages[0] == "old runs are removed tomorrow: away"


async def test_the_first_run_goes_before_the_objects_of_all_are_listed() -> None:
    store, clock = MemoryStore(), FakeClock()
    names = [await ended(store, f"run {place}", clock) for place in range(20)]
    clock.seconds = 30 * DAY
    cleaning = asyncio.create_task(purge_daily(store, 7, clock, nothing))
    await until(lambda: not any(f"runs/{run}/{SPEC}" in store.objects for run in names))
    cleaning.cancel()
    # Or else memory, and what a restart begins anew, grow with the number of old runs.
    calls = [call for call, _ in store.calls]
    assert calls[: calls.index("delete")].count("size") <= 10
