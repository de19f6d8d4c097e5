"""What workers ask about runs: no error for a run that nobody can have, and no old answer."""

import asyncio

import pytest
from tests.fakes.clock import FakeClock
from tests.fakes.stores import Gate, MemoryStore

from caliper.core.terms import Terms
from caliper.pipeline.store.run_book import RunBook
from caliper.pipeline.store.runs import STARTED, note_cancel, note_start, run_store

RUN = "0123456789abcdef"


@pytest.mark.parametrize("run", ["", "x", "../spec", RUN.upper()])
async def test_a_malformed_run_was_never_started(run: str) -> None:
    assert await RunBook(MemoryStore(), FakeClock()).last_start(run) == 0


async def test_the_start_of_a_newer_release_is_unknown() -> None:
    store = MemoryStore()
    store.objects[f"runs/{RUN}/{STARTED}"] = b'{"schema": 999, "starts": 3}'
    assert await RunBook(store, FakeClock()).last_start(RUN) == 0


async def test_an_answer_from_before_a_start_does_not_stop_its_jobs() -> None:
    store, clock = MemoryStore(), FakeClock()
    run = run_store(MemoryStore(store), RUN)
    await note_start(run, Terms(), clock.now())
    await note_cancel(run)
    book = RunBook(store, clock)
    # It stalls with what was there before.
    store.after = gate = Gate("get", STARTED, first=True)
    early = asyncio.create_task(book.is_stopped(RUN))
    await gate.reached.wait()
    await note_start(run, Terms(), clock.now())
    late = asyncio.create_task(book.is_stopped(RUN))
    await asyncio.sleep(0)
    gate.opened.set()
    assert await early
    assert not await late
