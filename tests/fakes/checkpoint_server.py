"""A server of checkpoints without a process, and a process that is killed at any point."""

import asyncio
from dataclasses import dataclass, field
from pathlib import Path

from tests.fakes.stores import MemoryStore

from caliper.core.checkpoints import CheckpointRevision
from caliper.core.errors import BackendRejected, BackendUnavailable
from caliper.ports.serving import CheckpointEndpoint, Note, Trace

HOST = Path(__file__).with_name("checkpoint_host.py")
"""A script that serves like a captioner's server."""


class Killed(BaseException):
    """What a killed process sees of each of its further calls."""


@dataclass
class Kill:
    """Ends its process at the call `at`, counted from 0: before its effect, or `after` it."""

    at: int = 1_000_000
    after: bool = False
    calls: int = 0

    def before(self) -> None:
        self.calls += 1
        if self.calls - 1 > self.at or (self.calls - 1 == self.at and not self.after):
            raise Killed

    def behind(self) -> None:
        if self.calls > self.at:
            raise Killed


class KilledStore(MemoryStore):
    """A store as a process sees it that is killed."""

    def __init__(self, store: MemoryStore, kill: Kill) -> None:
        super().__init__(store)
        self._kill = kill

    async def before(self, *_: str) -> None:
        self._kill.before()

    async def after(self, *_: str) -> None:
        self._kill.behind()


@dataclass
class World:
    """What servers have made. `most` is how many there ever were at once."""

    served: set[str] = field(default_factory=set)
    most: int = 0
    stuck: bool = False

    async def clear(self, trace: Trace) -> None:
        if self.stuck:
            raise BackendUnavailable("cannot be removed")
        self.served.discard(trace["name"])


class FakeServer:
    """ports.serving.CheckpointServer in a world; `ending` ends the server while it is used."""

    def __init__(self, world: World, kill: Kill | None = None) -> None:
        self.world, self.kill = world, kill or Kill()
        self.ending, self.closed = asyncio.Event(), False
        self.pause: asyncio.Event | None = None

    async def start(self, checkpoint: CheckpointRevision, note: Note) -> CheckpointEndpoint:
        await note({"kind": "fake", "name": checkpoint.name})
        if self.pause is not None:
            try:
                await self.pause.wait()
            except asyncio.CancelledError:
                # Its request was on its way.
                self.world.served.add(checkpoint.name)
                raise
        self.kill.before()
        self.world.served.add(checkpoint.name)
        self.world.most = max(self.world.most, len(self.world.served))
        self.kill.behind()
        return CheckpointEndpoint("http://fake", checkpoint.revision)

    async def watch(self) -> None:
        await self.ending.wait()
        raise BackendRejected("the server ended" + await self.last_words())

    async def last_words(self) -> str:
        return "; its output ends: out of memory"

    async def close(self) -> None:
        self.closed = True

    async def clear(self, trace: Trace) -> None:
        self.kill.before()
        await self.world.clear(trace)
        self.kill.behind()
