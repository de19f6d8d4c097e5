"""`caliper suite status`: what waits, what is evaluated and how far, and what is stuck."""

from datetime import timedelta
from pathlib import Path

import pytest
from tests.fakes.grpc_serving import serving
from tests.fakes.suites import checkpoint, suite

from caliper.adapters.remote.channel import Target
from caliper.adapters.remote.suites import RemoteSuites
from caliper.cli.suite_status import budget_lines, status_lines, suite_status, under_way
from caliper.core.checkpoints import CheckpointEntry
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


async def entries(registry: SuiteRegistry) -> list[CheckpointEntry]:
    return [each.entry for each in (await registry.entries("nightly"))[0]]


async def test_one_screen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    clock, store = SystemClock(), suite_store()
    registry = SuiteRegistry(store, clock)
    for step in range(8):
        await registry.register(suite(), checkpoint(step))
    stored, _ = await registry.entries("nightly")
    for each in stored[:2]:
        await registry.change_entry(each.key, EntryCause.CLAIM)
    await registry.change_entry(stored[1].key, EntryCause.TROUBLE, reason="refused")
    await write_json(store, stored[0].lease_key, seen=registry.now(), done=12, whole=1500)
    status = {"suite": "nightly", **await under_way(await entries(registry), local=True)}
    assert list(status_lines(status)) == [
        "nightly: evaluating step-0 (rev0) for 0 min, 12 of 1,500 questions",
        (
            "nightly: waiting step-1 (rev1) (refused), step-2 (rev2), step-3 (rev3), "
            "step-4 (rev4), step-5 (rev5) and 2 more"
        ),
    ]
    fields = {"done": 312, "whole": 1000, "phase": "captioning"}
    await write_json(store, stored[0].lease_key, seen=registry.now(), **fields)
    status = {"suite": "nightly", **await under_way(await entries(registry), local=True)}
    first = "nightly: evaluating step-0 (rev0) for 0 min, captioning 312 of 1,000"
    assert next(status_lines(status)) == first
    long_ago = clock.now() - timedelta(hours=2)
    await write_json(store, stored[0].lease_key, seen=long_ago.isoformat())
    status = {"suite": "nightly", **await under_way(await entries(registry), local=True)}
    lines = list(status_lines(status))
    stuck = f"{long_ago:%Y-%m-%dT%H:%M:%S} UTC"
    assert lines[0] == "nightly: evaluating step-0 (rev0) for 0 min"
    assert lines[-1] == f"nightly: stuck step-0 (rev0): no loop has evaluated it since {stuck}"
    # Of an installation nobody knows how far.
    remote = await under_way(await entries(registry), local=False)
    assert (remote["stuck"], len(remote["waiting"])) == ([], 7)


async def test_an_installation_says_of_a_suite_what_a_folder_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    clock, store = SystemClock(), suite_store()
    book = Administration(SuiteRegistry(store, clock))
    given = suite(month={"calls": 1_000}, notify={"ci": {}}, serve={"triton": "H:1/M"})
    await book.apply(given)
    await book.register(checkpoint(1))
    (entry,) = (await book.entries()).entries
    record = NoticeRecord(Notice.of(entry, entry.notices[0]), {"ci": NoticeDelivery(1, error="no")})
    await NoticeStore(store).add(record)
    await SuiteAccounts(store, clock, "nightly").begin(entry, {}, Spending(40))
    holder = {"schema": 1, "holder": "weekly step-7 0a1b2c3d"}
    await store.put("slots/default/lease.json", canonical_json(holder))
    slots = {each.name: fields_of(each) for each in await book.slots()}
    own = await suite_status(book, given, slots, local=False)
    async with (
        serving(*services(book)) as server,
        RemoteSuites(Target(str(server.address))) as remote,
    ):
        assert {each.name: fields_of(each) for each in await remote.slots()} == slots
        assert await suite_status(remote, given, slots, local=False) == own
    assert (own["slot"]["served"], own["undelivered"]) == ("weekly step-7", 1)
    assert own["month"]["reserved"]["calls"] == own["month"]["used"]["calls"] == 40
    (line,) = budget_lines({"suite": "nightly", **own})
    used = f"40 of 1,000 calls used in {own['month']['month']} by 1 checkpoints"
    assert line == f"nightly: {used}, 40 calls of it reserved; one more takes about 0 calls"
