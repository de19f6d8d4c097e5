"""Checkpoints of an installation's suites at a server that is there anyway."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from tests.fakes import chat_server as fake
from tests.fakes import tiny
from tests.fakes.caption_buckets import MemoryBucket
from tests.fakes.chat_server import MODEL, ChatServer
from tests.fakes.checkpoint_server import FakeServer, World
from tests.fakes.datasets import push_dataset
from tests.fakes.stores import MemoryStore
from tests.fakes.suite_folders import suite as written

from caliper.adapters.media.bounds import DecoderOptions
from caliper.adapters.media.decoders import Decoders
from caliper.adapters.packs.files import shipped_pack
from caliper.core.checkpoints import CheckpointEntry, CheckpointRevision
from caliper.core.question import Failure
from caliper.core.spending import Spending
from caliper.core.suites import Suite
from caliper.local.bucket_captions import BucketCaptions
from caliper.local.checkpoint_captioner import CheckpointCaptioner
from caliper.local.checkpoint_requests import (
    CheckpointRequest,
    CheckpointRequests,
    SlotCaptioner,
)
from caliper.local.submission import push_suite
from caliper.local.suite_config import read_suite
from caliper.pipeline.aggregation.lease import Lease
from caliper.pipeline.asking.memory_limit import MemoryLimit
from caliper.pipeline.store.supplies import read_captions, read_supplied
from caliper.pipeline.suites.claims import EntryClaim
from caliper.pipeline.suites.registry import StoredEntry, SuiteRegistry
from caliper.pipeline.suites.slots import slot_states
from caliper.ports.serving import CheckpointEndpoint, CheckpointServer, Note
from caliper.wiring.clock import SystemClock
from caliper.wiring.grounds import memory_ground
from caliper.wiring.models import Access
from caliper.wiring.prices import Prices

SAMPLES = 3
SERVED = "tgi:{endpoint}#{model}@{revision}"


class FixedUrlServer(FakeServer):
    """A checkpoint at the URL of a server that is there anyway."""

    def __init__(self, world: World, url: str) -> None:
        super().__init__(world)
        self._url = url

    async def start(self, checkpoint: CheckpointRevision, note: Note) -> CheckpointEndpoint:
        await super().start(checkpoint, note)
        return CheckpointEndpoint(self._url, MODEL)


@dataclass
class CheckpointSite:
    """What has checkpoints served, by a chat server, in a store in memory."""

    folder: Path
    chat: ChatServer
    store: Any = field(default_factory=MemoryStore)
    world: World = field(default_factory=World)
    prices: Prices = field(default_factory=dict)
    paid: Spending = field(default_factory=Spending)
    told: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.ground = memory_ground(self.store)
        self.clear = self.world.clear

    def server(self, plan: Any, _: Path) -> CheckpointServer:
        assert plan["endpoint"]
        return FixedUrlServer(self.world, self.chat.url)

    async def applied(self, captioner: str = SERVED, **more: Any) -> Suite:
        tiny.write_pictures(self.folder, SAMPLES)
        part = {"data": str(self.folder / "data"), "captioner": captioner}
        serve = {"endpoint": self.chat.url}
        values = {"benchmarks": {"capability": part}, "serve": serve, **more}
        suite = read_suite(written(self.folder, **values), installed=True)
        return await push_suite(suite, partial(push_dataset, self.ground.store))

    def pay(self, cost: Spending) -> None:
        self.paid += cost

    async def request(
        self, suite: Suite, revision: str, access: Access | None = None
    ) -> CheckpointRequest:
        assert self.ground.whole is not None
        clock, store = SystemClock(), self.ground.whole
        source = CheckpointRevision(f"s3://models/{revision}", revision, f"step-{revision}", 1)
        entry = CheckpointEntry.new(suite.name, suite.version, source, "now")
        lease = Lease(store, clock, "lease")
        claim = EntryClaim(SuiteRegistry(store, clock), StoredEntry(entry, None), lease)
        hosts: Any = self
        decoders = Decoders(DecoderOptions(workers=1))
        reached = access or Access(retry_budget=0)
        captioner = CheckpointCaptioner(
            self.ground, reached, shipped_pack(), decoders, MemoryLimit(), self.prices
        )
        serving = SlotCaptioner(store, clock, hosts, captioner, print)
        captions: Any = BucketCaptions(lambda _: MemoryBucket())
        gateway: Any = None
        noted = claim.note_progress

        def note(*arguments: Any, **fields: Any) -> None:
            noted(*arguments, **fields)
            self.told.append(lease.note())

        claim.note_progress = note
        try:
            return await CheckpointRequests(gateway, captions, serving).served(
                suite, claim, self.pay
            )
        finally:
            await decoders.close()

    async def texts(self, made: CheckpointRequest) -> dict[str, str]:
        (part,) = made.request.benchmarks
        assert part.captions is not None
        return dict(await read_captions(self.ground.store, part.captions))

    async def lacking(self, made: CheckpointRequest) -> Mapping[str, Failure]:
        (part,) = made.request.benchmarks
        assert part.captions is not None
        return (await read_supplied(self.ground.store, part.captions))[1]

    async def assert_empty(self) -> None:
        assert self.world.served == set()
        for slot in await slot_states(self.ground.store):
            assert (slot.served, slot.queue) == ("", ())
        records = [key async for key in self.ground.store.list("slots/") if "/record" in key]
        found = [json.loads(await self.ground.store.get(key) or b"{}") for key in records]
        assert [(each["trace"], each.get("server")) for each in found] == [({}, None)] * 2


def describe(server: ChatServer, text: str) -> None:
    server.from_now_on(fake.answer(text))
