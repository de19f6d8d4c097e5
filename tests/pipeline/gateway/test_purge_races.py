"""Runs that are started while old runs are deleted."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta

import pytest
from tests.fakes.chat_server import ChatServer, answer
from tests.fakes.installation import installation, over
from tests.fakes.sources import EXAMPLES
from tests.fakes.stores import MemoryStore

from caliper.adapters.remote.gateway import RemoteGateway
from caliper.core.run import RunState
from caliper.local.config import RunConfig, read_config
from caliper.local.submission import send
from caliper.pipeline.gateway.purge import Retention, delete_run, old_runs
from caliper.wiring.clock import SystemClock
from caliper.wiring.grounds import memory_ground
from caliper.wiring.service_settings import QaReaderSettings

NOW = SystemClock().now() + timedelta(hours=3)
ALL = Retention(age=timedelta(0))
RED, BLUE = b'{"schema":1,"owners":[{"team":"red"}]}', b'{"schema":1,"owners":[{"team":"blue"}]}'


class MeetingStore(MemoryStore):
    """A store in which something happens once, after a call for a key."""

    def __init__(self) -> None:
        super().__init__()
        self._event: tuple[str, str, Callable[[], Awaitable[None]]] | None = None

    def meet(self, call: str, key: str, event: Callable[[], Awaitable[None]]) -> None:
        self._event = call, key, event

    @property
    def has_met(self) -> bool:
        return self._event is None

    async def after(self, call: str, key: str) -> None:
        if self._event and (call, key) == self._event[:2]:
            event, self._event = self._event[2], None
            await event()


def config(name: str) -> RunConfig:
    careful = read_config(EXAMPLES / "careful.yaml")
    part = {"captionqa": careful.benchmarks["captionqa"]}
    return careful.model_copy(update={"benchmarks": part, "limit": 2, "name": name})


@asynccontextmanager
async def served(store: MemoryStore) -> AsyncIterator[RemoteGateway]:
    """The gateway of an installation with loose replies, which can be told apart."""
    async with ChatServer(otherwise=answer("A")) as chat:
        ground = replace(memory_ground(store), store=store, whole=None)
        reader = QaReaderSettings(model=f"tgi:{chat.url}")
        async with installation(ground, reader=reader) as gateway:
            yield gateway


async def completed(gateway: RemoteGateway, name: str) -> str:
    run = (await send(config(name), gateway)).spec.run_id
    assert (await over(gateway, run)).state is RunState.COMPLETE
    return run


@pytest.mark.parametrize("gone", ["spec.json", "end.json"])
async def test_a_run_that_is_started_once_its_spec_is_gone_stays(gone: str) -> None:
    store = MeetingStore()
    async with served(store) as gateway:
        run = await completed(gateway, "old")
        owners = f"runs/{run}/owners.json"
        store.objects[owners] = RED
        (old,) = [each async for each in old_runs(store, ALL, NOW)]

        async def start() -> None:
            # As whoever starts it claims it.
            store.objects[owners] = BLUE
            assert (await send(config("old"), gateway)).spec.run_id == run

        store.meet("delete", f"runs/{run}/{gone}", start)
        assert not await delete_run(store, old)
        assert store.has_met
        assert store.objects[owners] == BLUE
        assert (await over(gateway, run)).state is RunState.COMPLETE
        assert [each.spec.run_id for each in (await gateway.list()).evaluations] == [run]


async def test_a_complete_run_that_is_asked_for_while_it_is_deleted_stays() -> None:
    store = MeetingStore()
    async with served(store) as gateway:
        run = await completed(gateway, "old")
        before = dict(store.objects)
        (old,) = [each async for each in old_runs(store, ALL, NOW)]

        async def start() -> None:
            assert (await send(config("old"), gateway)).state is RunState.COMPLETE

        (entry,) = [key for key in before if key.startswith("run-index/")]
        store.meet("delete", entry, start)
        assert not await delete_run(store, old)
        assert store.has_met
        assert store.objects == before
        assert (await gateway.get(run)).state is RunState.COMPLETE


async def test_replies_of_a_run_that_began_after_the_runs_were_listed_stay() -> None:
    store = MeetingStore()
    async with served(store) as gateway:
        await completed(gateway, "old")
        for key in replies(store):
            # The next run has to ask for the others.
            book = json.loads(store.objects[key])
            book["replies"] = dict(list(book["replies"].items())[:1])
            store.objects[key] = json.dumps(book).encode()
        asked: set[str] = set()

        async def start() -> None:
            run = await completed(gateway, "new")
            asked.update(key for key in replies(store) if run.encode() in store.objects[key])

        store.meet("list", "runs/", start)
        removed = [await delete_run(store, old) async for old in old_runs(store, ALL, NOW)]
        assert removed == [True]
        assert store.has_met
        assert asked
        assert asked <= replies(store)


def replies(store: MemoryStore) -> set[str]:
    return {key for key in store.objects if key.startswith("jobs/")}
