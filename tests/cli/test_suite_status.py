"""`caliper suite status`: what waits, what is evaluated and how far, and what is stuck."""

from datetime import timedelta
from pathlib import Path

import pytest
from tests.fakes.loopback_server import serving
from tests.fakes.suites import checkpoint, suite

from caliper.adapters.remote.channel import Target
from caliper.adapters.remote.suites import RemoteSuites
from caliper.cli.suite_status import budget_lines, status_lines, suite_status, under_way
from caliper.core.entry_states import EntryCause
from caliper.core.keys import canonical_json, fields_of
from caliper.core.notices import Notice, NoticeDelivery, NoticeRecord
from caliper.core.spending import Spending
from caliper.local.suite_runs import suite_store
from caliper.pipeline.store.runs import write_json
from caliper.pipeline.suites.accounts import SuiteAccounts
from caliper.pipeline.suites.administration import Administration
from caliper.pipeline.suites.notice_store import NoticeStore
from caliper.pipeline.suites.registry import SuiteRegistry
from caliper.serving.suites import services
from caliper.wiring.clock import SystemClock


async def lines_of(registry: SuiteRegistry, *queue: str) -> list[str]:
    book = Administration(registry)
    entries, progress = (await book.entries()).entries, await book.progress("nightly")
    status = {"suite": "nightly", **under_way(entries, progress, queue)}
    return list(status_lines(status))


async def test_one_screen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    clock, store = SystemClock(), suite_store()
    registry = SuiteRegistry(store, clock)
    await registry.apply(suite())
    for step in range(8):
        await registry.register(suite(), checkpoint(step))
    stored, _ = await registry.entries("nightly")
    for each in stored[:2]:
        await registry.change_entry(each.key, EntryCause.CLAIM)
    await registry.change_entry(stored[1].key, EntryCause.TROUBLE, reason="refused")
    first = "nightly: evaluating step-0 (rev0) for 0 min"
    waiting = (
        "nightly: waiting step-1 (rev1) (refused), step-2 (rev2), step-3 (rev3), "
        "step-4 (rev4), step-5 (rev5) and 2 more"
    )
    # One that was taken just now has told nothing.
    assert await lines_of(registry) == [first, waiting]
    queued = await lines_of(registry, "weekly step-0 (rev0)", "nightly step-0 (rev0)")
    assert queued[0] == f"{first}, waiting for a slot"
    await write_json(store, stored[0].lease_key, seen=registry.now(), done=12, whole=1500)
    assert await lines_of(registry) == [f"{first}, 12 of 1,500 questions", waiting]
    fields = {"done": 312, "whole": 1000, "phase": "captioning"}
    await write_json(store, stored[0].lease_key, seen=registry.now(), **fields)
    assert (await lines_of(registry))[0] == f"{first}, captioning 312 of 1,000"
    long_ago = clock.now() - timedelta(hours=2)
    await write_json(store, stored[0].lease_key, seen=long_ago.isoformat(), done="x", whole=1 << 99)
    stuck = f"step-0 (rev0): no loop has evaluated it since {long_ago:%Y-%m-%dT%H:%M:%S} UTC"
    assert await lines_of(registry) == [first, waiting, f"nightly: stuck {stuck}"]


async def test_an_installation_says_of_a_suite_what_a_folder_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    clock, store = SystemClock(), suite_store()
    registry = SuiteRegistry(store, clock)
    book = Administration(registry)
    given = suite(month={"calls": 1_000}, notify={"ci": {}}, serve={"triton": "H:1/M"})
    await book.apply(given)
    for step in (1, 2, 3):
        await book.register(checkpoint(step))
    stored, _ = await registry.entries("nightly")
    entry = stored[0].entry
    told = {"done": 312, "whole": 1000, "phase": "captioning"}
    for each, seen in zip(stored, (registry.now(), "2026-01-01T00:00:00+00:00"), strict=False):
        await registry.change_entry(each.key, EntryCause.CLAIM)
        await write_json(store, each.lease_key, seen=seen, **told)
    record = NoticeRecord(Notice.of(entry, entry.notices[0]), {"ci": NoticeDelivery(1, error="no")})
    await NoticeStore(store).add(record)
    await SuiteAccounts(store, clock, "nightly").begin(entry, {}, Spending(40))
    holder = {"schema": 1, "holder": "weekly step-7 0a1b2c3d"}
    await store.put("slots/default/lease.json", canonical_json(holder))
    slots = {each.name: fields_of(each) for each in await book.slots()}
    own = await suite_status(book, given, slots)
    async with (
        serving(*services(book)) as server,
        RemoteSuites(Target(str(server.address))) as remote,
    ):
        assert {each.name: fields_of(each) for each in await remote.slots()} == slots
        assert await suite_status(remote, given, slots) == own
    running, stuck = own["running"]
    assert told.items() <= running.items()
    assert stuck["seen"][:10] == "2026-01-01"
    label = "step-2 (rev2)"
    assert own["stuck"] == [f"{label}: no loop has evaluated it since 2026-01-01T00:00:00 UTC"]
    assert (own["slot"]["served"], own["undelivered"]) == ("weekly step-7", 1)
    assert own["month"]["reserved"]["calls"] == own["month"]["used"]["calls"] == 40
    (line,) = budget_lines({"suite": "nightly", **own})
    used = f"40 of 1,000 calls used in {own['month']['month']} by 1 checkpoints"
    assert line == f"nightly: {used}, 40 calls of it reserved; one more takes an unknown number"
