"""All services in one process, each with the store and the stream as its user may use them."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase

from tests.fakes.stores import MemoryStore

from caliper.adapters.cluster.grants import STORE_GRANTS, STREAM_GRANTS, Permit, StoreGrant
from caliper.adapters.streams.memory import MemoryStream
from caliper.core.envelopes import Message, Record
from caliper.pipeline.planning.publisher import RUNS, VERDICTS
from caliper.pipeline.planning.resolution import LocalStages
from caliper.pipeline.store.pack_store import PackStore
from caliper.ports.stream import Backlog, Consumer
from caliper.serving.lifecycle import ServiceParts, merge_parts
from caliper.wiring.aggregators import aggregator_parts
from caliper.wiring.gateway_options import GatewayOptions
from caliper.wiring.grounds import Ground, memory_ground
from caliper.wiring.service_settings import CaptionerSettings, JudgeSettings, QaReaderSettings
from caliper.wiring.services import captioner_parts, gateway_parts, open_answerer_parts

_CHANGES = {"put": "writes", "replace": "writes", "delete": "deletes"}


class GrantedStore(MemoryStore):
    """A store that notes in `denied` what its user may not do, and does it."""

    def __init__(self, shared: MemoryStore, user: str, denied: set[str]) -> None:
        super().__init__(shared)
        self._user, self._denied = user, denied

    async def before(self, call: str, key: str) -> None:
        grant: StoreGrant = STORE_GRANTS[self._user]
        allowed = getattr(grant, _CHANGES.get(call, "reads"))
        if call not in _CHANGES:
            allowed = (*allowed, *grant.writes)
        if not any(fnmatchcase(key, pattern) for pattern in allowed):
            self._denied.add(f"{self._user}: {call} {key}")


@dataclass(frozen=True)
class GrantedStream:
    """As `GrantedStore`, of a stream and its logs."""

    inner: MemoryStream
    user: str
    denied: set[str]

    def _check(self, operation: str, name: str, resource: str = "topic") -> None:
        allowed = {Permit(resource, name, operation)}
        if operation == "DESCRIBE":
            allowed |= {Permit(resource, name, each) for each in ("READ", "WRITE")}
        if not allowed & STREAM_GRANTS[self.user].permits():
            self.denied.add(f"{self.user}: {operation} {resource} {name}")

    async def publish(self, message: Message) -> None:
        self._check("WRITE", message.topic)
        await self.inner.publish(message)

    def consumer(self, topic: str, group: str) -> Consumer:
        self._check("READ", topic)
        self._check("READ", group, "group")
        self._check("WRITE", "dead-letters")
        return self.inner.consumer(topic, group)

    async def backlog(self, topic: str, group: str) -> Backlog:
        self._check("READ", topic)
        self._check("DESCRIBE", group, "group")
        return await self.inner.backlog(topic, group)

    async def untaken(self, topic: str, group: str) -> Mapping[int, int]:
        self._check("DESCRIBE", topic)
        self._check("DESCRIBE", group, "group")
        return await self.inner.untaken(topic, group)

    def read(self, topic: str, offsets: Mapping[int, int]) -> AsyncGenerator[Record, None]:
        self._check("READ", topic)
        return self.inner.read(topic, offsets)

    async def identity(self, topic: str) -> str:
        self._check("DESCRIBE", topic)
        return await self.inner.identity(topic)

    async def ends(self, topic: str) -> Mapping[int, int]:
        self._check("DESCRIBE", topic)
        return await self.inner.ends(topic)


@dataclass(frozen=True)
class GrantedServices:
    """Services on one store and stream. `denied` is what they did without being allowed to."""

    store: MemoryStore = field(default_factory=MemoryStore)
    stream: MemoryStream = field(default_factory=lambda: MemoryStream(logs=(VERDICTS, RUNS)))
    denied: set[str] = field(default_factory=set)
    options: GatewayOptions = field(default_factory=GatewayOptions)

    def ground(self, user: str) -> Ground:
        """What a user works on."""
        found = memory_ground(GrantedStore(self.store, user, self.denied))
        stream = GrantedStream(self.stream, user, self.denied)
        return replace(found, stream=stream, logs=stream)

    def whole(self, user: str) -> PackStore:
        """The store as a user has it, whose objects may be deleted."""
        found = self.ground(user).whole
        assert found is not None
        return found

    async def parts(self, model: str) -> ServiceParts:
        """All services, whose stages call the model at this SPEC."""
        judge, reader = JudgeSettings(model=model), QaReaderSettings(model=model)
        language = judge.tagger, judge.embedder
        opened = {
            "judge": await open_answerer_parts("judge", judge, self.ground("judge"), language),
            "reader": await open_answerer_parts("reader", reader, self.ground("qa-reader")),
            "captioner": await captioner_parts(
                CaptionerSettings(model=model), self.ground("captioner")
            ),
        }
        aggregator, board = aggregator_parts(self.ground("aggregator"))
        stages = LocalStages({role: description for role, (_, description) in opened.items()})
        gateway = gateway_parts(self.ground("gateway"), stages, board, self.options)
        return merge_parts([*(part for part, _ in opened.values()), aggregator, gateway])
