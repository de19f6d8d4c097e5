"""Suites and checkpoints over gRPC, on the registry of a store."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import grpc
import pytest
from tests.fakes.loopback_server import calling, failure, refusal, serving, stub_of
from tests.fakes.suites import checkpoint, suite

from caliper.adapters.remote.channel import Target
from caliper.adapters.remote.suites import RemoteSuites
from caliper.adapters.stores.directory import DirectoryStore
from caliper.adapters.wire import suites as wire
from caliper.api.suites.v1 import suites_pb2 as pb
from caliper.core.checkpoints import EntryFigure
from caliper.core.entry_states import EntryCause, EntryState
from caliper.core.errors import DataLoss, InvalidInput, NotFound, NotReady
from caliper.core.keys import canonical_json
from caliper.core.notices import Notice, NoticeDelivery, NoticeRecord
from caliper.core.spending import Spending
from caliper.core.suites import SuiteCause, SuiteState
from caliper.pipeline.suites.accounts import AccountTotals, SuiteAccounts
from caliper.pipeline.suites.administration import Administration
from caliper.pipeline.suites.notice_store import NoticeStore
from caliper.pipeline.suites.registry import SuiteRegistry
from caliper.pipeline.suites.slots import SlotState
from caliper.serving.suites import services
from caliper.wiring.clock import SystemClock

NIGHTLY = replace(suite(), values={"run": {"name": "\ud800"}}, keep=3, step="rev{step}")
HEADLINE = EntryFigure("capability", "average.f1", 50.0, 49.0, is_headline=True)
FIGURES = (HEADLINE, EntryFigure("capability", "average.recall", 0.0))


@pytest.fixture
def registry(tmp_path: Path) -> SuiteRegistry:
    return SuiteRegistry(DirectoryStore(tmp_path), SystemClock())


@pytest.fixture
async def channel(registry: SuiteRegistry) -> AsyncIterator[grpc.aio.Channel]:
    async with calling(*services(Administration(registry))) as channel:
        yield channel


@pytest.fixture
def stub(channel: Any) -> Any:
    return stub_of("CheckpointService", channel)


@pytest.fixture
async def remote(registry: SuiteRegistry) -> AsyncIterator[RemoteSuites]:
    async with (
        serving(*services(Administration(registry))) as server,
        RemoteSuites(Target(str(server.address))) as client,
    ):
        yield client


async def decide(registry: SuiteRegistry, step: int) -> None:
    """The entry of a step, as a loop leaves it."""
    stored, _ = await registry.entries("nightly")
    (entry,) = [each for each in stored if each.entry.checkpoint.step == step]
    claimed = await registry.move(entry, EntryCause.CLAIM)
    assert claimed is not None
    found = ({"benchmark": "capability", "decision": "passed", "value": 0.1},)
    await registry.move(claimed, EntryCause.SUCCESS, figures=FIGURES, findings=found, calls=7)


async def test_what_is_registered_remotely_is_in_the_registry(
    remote: RemoteSuites, registry: SuiteRegistry
) -> None:
    assert (await remote.apply(NIGHTLY))[1]
    record, is_new = await remote.apply(NIGHTLY)
    assert not is_new
    assert record == await registry.record("nightly") == await remote.record("nightly")
    given = checkpoint(1, name="step 1 \ud800", tags=("a", "b"))
    ((entry, created),) = await remote.register(given)
    assert (created, entry.checkpoint, entry.state) == (True, given, EntryState.REGISTERED)
    # A repeat is answered with what there is.
    await decide(registry, 1)
    ((again, created),) = await remote.register(given, ["nightly"])
    assert (created, again.state, again.figures) == (False, EntryState.PASSED, (HEADLINE,))
    (found,) = await remote.find("rev1")
    stored, _ = await registry.entries("nightly")
    assert found == stored[0].entry
    assert found.figures == FIGURES
    assert list((await remote.whole_entries(["nightly"])).entries) == [found]


async def test_entries_and_suites_are_changed(remote: RemoteSuites) -> None:
    await remote.apply(NIGHTLY)
    await remote.register(checkpoint(1))
    (entry,) = await remote.change_entries("step-1", (), EntryCause.SKIP)
    assert entry.state is EntryState.SKIPPED
    with pytest.raises(NotReady, match="it is skipped and cannot be skipped"):
        await remote.change_entries("step-1", (), EntryCause.SKIP)
    (entry,) = await remote.change_entries("step-1", (), EntryCause.RETRY)
    assert entry.state is EntryState.REGISTERED
    states = [(await remote.change("nightly", cause)).state for cause in SuiteCause]
    assert states == [SuiteState.PAUSED, SuiteState.ACTIVE, SuiteState.RETIRED]
    with pytest.raises(NotReady, match="the suite is retired and cannot be paused"):
        await remote.change("nightly", SuiteCause.PAUSE)
    with pytest.raises(NotReady, match="no suite takes checkpoints"):
        await remote.register(checkpoint(2))


async def test_what_is_unknown_is_not_found(remote: RemoteSuites) -> None:
    with pytest.raises(NotFound, match="unknown suite 'daily'"):
        await remote.record("daily")
    with pytest.raises(NotFound, match="unknown suite 'a/b'"):
        await remote.change("a/b", SuiteCause.PAUSE)
    with pytest.raises(NotFound, match="unknown suite 'daily'"):
        await remote.register(checkpoint(1), ["daily"])
    await remote.apply(NIGHTLY)
    with pytest.raises(NotFound, match="unknown checkpoint 'step-9'"):
        await remote.find("step-9")
    # However many there are.
    for step in range(300):
        await remote.register(checkpoint(step, name=f"{step}-{'x' * 150}"))
    with pytest.raises(NotFound, match="unknown checkpoint 'step-9'"):
        await remote.find("step-9")
    with pytest.raises(InvalidInput, match="several checkpoints"):
        await remote.find("rev")


async def test_lists_come_in_pages_by_step(
    remote: RemoteSuites, stub: Any, registry: SuiteRegistry, tmp_path: Path
) -> None:
    await remote.apply(NIGHTLY)
    await remote.apply(suite("daily"))
    for step in (3, 1, 2):
        await remote.register(checkpoint(step))
    (tmp_path / "suites/nightly/entries" / NIGHTLY.version / "rev9.json").write_text("{")
    (tmp_path / "suites/weekly").mkdir()
    (tmp_path / "suites/weekly/suite.json").write_text("[]")
    listing = await remote.entries()
    places = [(each.suite, each.checkpoint.step) for each in listing.entries]
    assert places == [(name, step) for name in ("daily", "nightly") for step in (1, 2, 3)]
    assert len(listing.unreadable) == 2
    seen, token = [], None
    while token != "":
        request = pb.ListCheckpointsRequest(suites=["nightly"], page_size=2, page_token=token or "")
        page = await stub.ListCheckpoints(request)
        assert len(page.unreadable) == (token is None)
        seen.append([each.checkpoint.step for each in page.entries])
        token = page.next_page_token
    assert seen == [[1, 2], [3]]
    suites = await remote.suites()
    assert [each.suite.name for each in suites.records] == ["daily", "nightly"]
    assert len(suites.unreadable) == 1
    with pytest.raises(DataLoss):
        await remote.record("weekly")


def given(**changes: Any) -> pb.RegisterCheckpointRequest:
    message = wire.encode_checkpoint(checkpoint(1))
    for field, value in changes.items():
        message.ClearField(field)  # type: ignore[arg-type]
        message.MergeFrom(pb.Checkpoint(**{field: value}))
    return pb.RegisterCheckpointRequest(checkpoint=message)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("source", ""),
        ("source", "x" * 2001),
        ("source", "a\nb"),
        ("revision", "../../etc"),
        ("revision", ""),
        ("name", "x" * 201),
        ("name", "a\nb"),
        ("name", "\ufdd0"),
        ("step", 10**18),
        ("tags", [f"tag-{number}" for number in range(33)]),
        ("tags", [""]),
    ],
)
async def test_a_bad_checkpoint_names_its_field(
    stub: Any, registry: SuiteRegistry, field: str, value: Any
) -> None:
    await registry.apply(NIGHTLY)
    fields, _ = await refusal(stub.RegisterCheckpoint(given(**{field: value})))
    assert len(fields) == 1
    assert fields[0].startswith("checkpoint")
    if value != "\ufdd0":
        assert fields == [f"checkpoint.{field}"]
    assert (await registry.entries("nightly"))[0] == []


@pytest.mark.parametrize(
    ("field", "changes"),
    [
        ("suite.name", {"name": "../x"}),
        ("suite.version", {"version": "a/b"}),
        ("suite.baseline", {"baseline": "next"}),
        ("suite.values", {"values": "[]"}),
        ("suite.values", {"values": "{"}),
        ("suite.keep", {"keep": 0}),
        ("suite.step", {"step": "step-"}),
    ],
)
async def test_a_bad_suite_names_its_field(channel: Any, field: str, changes: Any) -> None:
    message = wire.encode_suite(NIGHTLY)
    for name, value in changes.items():
        setattr(message, name, value)
    stub = stub_of("SuiteService", channel)
    assert (await refusal(stub.ApplySuite(pb.ApplySuiteRequest(suite=message))))[0] == [field]


async def test_a_bad_token_of_a_page_is_told(stub: Any, channel: Any) -> None:
    request = pb.ListCheckpointsRequest(page_token="nightly/none")
    assert (await refusal(stub.ListCheckpoints(request)))[0] == ["page_token"]
    suites = stub_of("SuiteService", channel)
    listing = pb.ListSuitesRequest(page_token="none")
    assert (await refusal(suites.ListSuites(listing)))[0] == ["page_token"]
    assert (await failure(suites.GetSuite(pb.GetSuiteRequest()))).code() is (
        grpc.StatusCode.NOT_FOUND
    )


async def test_what_was_spent_told_and_served_is_that_of_the_registry(
    remote: RemoteSuites, registry: SuiteRegistry, tmp_path: Path
) -> None:
    store, book = DirectoryStore(tmp_path), Administration(registry)
    await remote.apply(NIGHTLY)
    for step in (1, 2, 3):
        await remote.register(checkpoint(step))
    entries = (await book.entries()).entries
    for entry in entries:
        deliveries = {
            "ci \ud800": NoticeDelivery(2, delivered=entry.registered),
            "chat": NoticeDelivery(3, due=5.0, error="refused \ud800", held=7.0),
        }
        record = NoticeRecord(Notice.of(entry, entry.notices[0]), deliveries)
        await NoticeStore(store).add(record)
    accounts = SuiteAccounts(store, SystemClock(), "nightly")
    cost, estimate = Spending(7, 100, 0.5), Spending(9, 120, 0.75)
    month, _ = await accounts.begin(entries[0], {}, estimate)
    await accounts.end(entries[0], month, cost)
    await accounts.begin(entries[1], {}, estimate)
    account = await remote.account("nightly")
    assert account == AccountTotals(month, cost, estimate, 2) == await book.account("nightly")
    lease = {"schema": 1, "holder": "nightly step-1 \ud800 0a1b2c3d"}
    await store.put("slots/gpu/lease.json", canonical_json(lease))
    waiting = {"schema": 1, "holder": "nightly step-2 0a1b2c3d"}
    await store.put("slots/gpu/queue/00000001.json", canonical_json(waiting))
    slot = SlotState("gpu", "nightly step-1 \ud800", ("nightly step-2",))
    assert await remote.slots() == [slot] == await book.slots()
    told = await remote.notices("nightly")
    assert [each.notice.checkpoint for each in told] == ["step-1", "step-2", "step-3"]
    assert told[0].deliveries == {
        "ci \ud800": NoticeDelivery(2, delivered=entries[0].registered),
        "chat": NoticeDelivery(3, error="refused \ud800"),
    }
    ids = [each.notice.id for each in told]
    assert ids == [each.notice.id for each in await book.notices("nightly")]
    assert await remote.notices("nightly", [ids[1], "../suite"]) == told[1:2]
    assert await remote.notices("nightly", []) == []
    for method in (remote.account, remote.notices, remote.progress):
        with pytest.raises(NotFound, match="unknown suite 'daily'"):
            await method("daily")


async def test_pages_of_notices_go_on_behind_one_that_was_removed(
    remote: RemoteSuites, stub: Any, tmp_path: Path
) -> None:
    await remote.apply(NIGHTLY)
    store = NoticeStore(DirectoryStore(tmp_path))
    for step in range(4):
        await remote.register(checkpoint(step))
        (entry,) = await remote.find(f"rev{step}")
        await store.add(NoticeRecord(Notice.of(entry, entry.notices[0])))
    ids = sorted(await store.ids("nightly"))
    first = await stub.ListNotices(pb.ListNoticesRequest(suite="nightly", page_size=2))
    assert [each.id for each in first.notices] == ids[:2]
    await store.remove("nightly", [ids[1]], "2000")
    request = pb.ListNoticesRequest(suite="nightly", page_token=first.next_page_token)
    rest = await stub.ListNotices(request)
    assert ({each.id for each in rest.notices}, rest.next_page_token) == ({*ids[2:]}, "")
