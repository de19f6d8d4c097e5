"""`caliper suite events`: what was told, in this folder and by an installation."""

import asyncio
from pathlib import Path

import pytest
from tests.fakes.command import Command
from tests.fakes.loopback_server import serving
from tests.fakes.suites import checkpoint, suite

from caliper.core.checkpoints import EntryFigure
from caliper.core.entry_states import EntryCause
from caliper.core.notices import Notice, NoticeDelivery, NoticeRecord
from caliper.local.suite_runs import suite_store
from caliper.pipeline.suites.administration import Administration
from caliper.pipeline.suites.notice_store import NoticeStore
from caliper.pipeline.suites.registry import SuiteRegistry
from caliper.serving.suites import services
from caliper.wiring.clock import SystemClock

EVENTS = ("suite", "events", "nightly")


async def test_an_installation_lists_what_a_folder_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    store = suite_store()
    registry = SuiteRegistry(store, SystemClock())
    book, caliper = Administration(registry), Command(tmp_path)
    await registry.apply(suite())
    await registry.register(suite(), checkpoint(1))
    (stored,), _ = await registry.entries("nightly")
    await registry.change_entry(stored.key, EntryCause.CLAIM)
    figures = (
        EntryFigure("capability", "average.f1", 50.0, 49.0, is_headline=True),
        EntryFigure("capability", "average.recall", 0.0),
    )
    entry = await registry.change_entry(stored.key, EntryCause.SUCCESS, figures=figures)
    deliveries = {
        "ci": NoticeDelivery(1, error="refused"),
        "chat": NoticeDelivery(1, delivered=entry.since),
        "mail": NoticeDelivery(),
    }
    for mark in entry.notices:
        await NoticeStore(store).add(NoticeRecord(Notice.of(entry, mark), deliveries))
    own = await asyncio.to_thread(caliper, *EVENTS, code=0)
    async with serving(*services(book)) as server:
        there = ("--server", server.address)
        assert (await asyncio.to_thread(caliper, *EVENTS, *there, code=0)).out == own.out
        replay = (*there, "--replay", Notice.of(entry, entry.notices[0]).id)
        again = await asyncio.to_thread(caliper, *EVENTS, *replay, code=0)
        # Another folder's id.
        unknown = await asyncio.to_thread(caliper, *EVENTS, *replay[:-1], "x", code=2)
        told = (await asyncio.to_thread(caliper, *EVENTS, *there, "--json", code=0)).told
    text = " ".join(own.out.split())
    for each in ("passed: capability 50.0", "attempt 1: refused (tried again)", "mail waiting"):
        assert each in text
    assert again.out.splitlines() == ["chat  waiting", "ci  waiting", "mail  waiting"]
    assert "unknown event 'x'" in unknown.err
    first, *rest = told
    assert [each["attempts"] for each in first["deliveries"].values()] == [0, 0, 0]
    assert {each["deliveries"]["ci"]["error"] for each in rest} == {"refused"}
