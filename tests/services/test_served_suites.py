"""Checkpoints that an installation has served in pods, on real Kafka, MinIO and API server; the
test is the node that makes pods ready, and their servers are one of its own.
"""

import asyncio
import io
import json
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aiohttp import web
from tests.fakes import tiny
from tests.fakes.chat_server import ChatServer, answer
from tests.fakes.command import Command
from tests.fakes.opinions import steadfast
from tests.fakes.pods import MANIFEST, PodNamespace, place_in
from tests.fakes.separate import ENDS_WITHIN, STAGES, Ground, Installation, installation
from tests.fakes.suite_folders import suite
from tests.servers.access import access_to, variables_of
from tests.servers.kube_api import KubeApi

from caliper.adapters.remote.channel import Target
from caliper.adapters.remote.suites import RemoteSuites
from caliper.adapters.stores.access import StoreAccess
from caliper.core.checkpoints import CheckpointEntry
from caliper.core.entry_states import EntryState
from caliper.pipeline.store.runs import read_starts, run_store
from caliper.pipeline.store.supplies import read_captions

SAMPLES, STEPS = 3, (1, 2)


class PatientCaptioner:
    """A step of a ChatServer: captions by the revision that is asked, the second time once it
    may.
    """

    def __init__(self) -> None:
        self.asked, self.may = asyncio.Event(), asyncio.Event()

    async def __call__(
        self, server: ChatServer, request: web.Request, asked: dict[str, Any]
    ) -> web.StreamResponse:
        if len(server.requests) == 2:
            self.asked.set()
            await self.may.wait()
        model = asked["model"]
        return await answer(f"A park, says {model}.", model=model)(server, request, asked)


@asynccontextmanager
async def node(place: PodNamespace) -> AsyncIterator[None]:
    """Make whatever pod is created ready."""

    async def work() -> None:
        while True:
            with suppress(AssertionError):
                # It may be deleted before it is ready.
                await place.make_ready()
            await asyncio.sleep(0.2)

    task = asyncio.create_task(work())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


@dataclass
class PodInstallation:
    """An installation whose suites have their checkpoints served in pods of a place."""

    there: Installation
    place: PodNamespace
    models: StoreAccess

    @property
    def server(self) -> str:
        return f"127.0.0.1:{self.there.ports['gateway']}"

    async def call(self, *words: Any) -> None:
        """Run a command on the installation."""
        variables = variables_of(self.models, self.there.ground.bucket)
        caliper = Command(self.place.account.parent, variables)
        await asyncio.to_thread(caliper, *words, "--server", self.server, code=0)

    async def deliver(self) -> None:
        """Two checkpoints, of which the servers get nothing to see."""
        with self.models.connections() as pool:
            client, name = self.models.client(pool), self.models.bucket
            client.make_bucket(name)
            for step in STEPS:
                client.put_object(name, f"{step}/weights", io.BytesIO(b"w"), 1)
        for step in STEPS:
            revision = ("--revision", f"rev-{step}", "--step", step)
            await self.call("checkpoint", "add", f"s3://{name}/{step}", *revision)

    async def captions(self, entry: CheckpointEntry) -> list[str]:
        """What an entry was judged by."""
        spec = (await self.there.gateway.get(entry.run)).spec
        captions = spec.benchmark("capability").captions
        assert captions is not None
        return list((await read_captions(self.there.store, captions)).values())


@asynccontextmanager
async def installed(ground: Ground, place: PodNamespace) -> AsyncIterator[PodInstallation]:
    access = access_to(ground.minio, f"models-{uuid.uuid4().hex[:8]}")
    chats = {kind: ChatServer(otherwise=steadfast) for kind in STAGES}
    async with installation(ground, chats) as there, node(place):
        found = PodInstallation(there, place, access)
        where = {"pods_api": place.api.url, "pods_account": str(place.account)}
        where |= {"pods": place.namespace, "gateway": found.server}
        await there.another("suites", "suites", in_flight="1", **where)
        yield found


async def test_a_kill_between_two_checkpoints_leaves_nothing_and_asks_nothing_twice(
    ground: Ground, kube_api: KubeApi, tmp_path: Path
) -> None:
    place, captioner = place_in(kube_api, tmp_path), PatientCaptioner()
    tiny.write_pictures(tmp_path, SAMPLES)
    part = {"data": str(tmp_path / "data"), "captioner": "tgi:{endpoint}#{model}@{revision}"}
    revisions = tuple(f"rev-{step}" for step in STEPS)
    async with (
        ChatServer(kind="openai", models=revisions, otherwise=captioner) as served,
        installed(ground, place) as found,
    ):
        serve = {"pod": MANIFEST, "port": served.port, "health": "/v1/models"}
        suite(tmp_path, benchmarks={"capability": part}, serve=serve, margin=None)
        await found.call("suite", "apply", "suite.yaml")
        await found.deliver()
        async with asyncio.timeout(ENDS_WITHIN):
            await captioner.asked.wait()
        there = found.there
        assert len(await place.pods()) == 1
        await there.kill("suites")
        captioner.may.set()
        await there.again("suites")
        entries = await _evaluated(found.server)
        assert [each.crashes for each in entries] == [1, 0]
        for entry in entries:
            wanted = f"A park, says {entry.checkpoint.revision}."
            assert await found.captions(entry) == [wanted] * SAMPLES
            assert (await read_starts(run_store(there.store, entry.run))).number == 1
        # But for the one in flight.
        assert len(served.requests) == 2 * SAMPLES + 1
        assert there.chats["captioner"].requests == []
        assert await place.pods() == []
        await _assert_empty(there)


async def _evaluated(server: str) -> list[CheckpointEntry]:
    """All entries, once they have scores."""
    async with asyncio.timeout(ENDS_WITHIN), RemoteSuites(Target(server)) as remote:
        while any(  # noqa: ASYNC110 - of another process
            each.state is not EntryState.EVALUATED for each in (await remote.entries()).entries
        ):
            await asyncio.sleep(0.1)
        return list((await remote.entries()).entries)


async def _assert_empty(there: Installation) -> None:
    """No slot is held, and no entry."""
    keys = [key async for key in there.store.list("slots/")]
    found = {key: json.loads(await there.store.get(key) or b"{}") for key in keys}
    assert [each["trace"] for key, each in found.items() if key.endswith("/record.json")] == [{}]
    assert {each["holder"] for key, each in found.items() if key.endswith("/lease.json")} == {""}
    assert not any("/queue/" in key for key in keys)
    assert [key async for key in there.store.list("suites/nightly/leases/")] == []
