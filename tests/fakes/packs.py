"""A store whose replies are packed, with keys of replies."""

from tests.fakes.clock import FakeClock
from tests.fakes.stores import MemoryStore

from caliper.core.keys import text_digest
from caliper.pipeline.store.pack_store import PackStore
from caliper.pipeline.store.packer import GRACE, Packer


def key(number: int, kind: str = "jobs") -> str:
    digest = text_digest(f"{kind} {number}")
    return f"{kind}/{digest[:2]}/{digest}.json"


async def step(packer: Packer) -> None:
    await packer.sweep()
    await packer.merge()


class Installation:
    """A store with a packer, and readers and writers that have their own views of its packs."""

    def __init__(self, store: MemoryStore | None = None, fewest: int = 8) -> None:
        self.whole, self.clock, self.fewest = store or MemoryStore(), FakeClock(), fewest
        self.packer = self.another_packer()
        self.front = self.another()

    def another(self) -> PackStore:
        return PackStore(self.whole, self.clock)

    def another_packer(self) -> Packer:
        return Packer(self.another(), self.clock, fewest=self.fewest)

    async def fill(self, numbers: range, kind: str = "jobs") -> None:
        for number in numbers:
            await self.front.put(key(number, kind), f"{kind} {number}".encode())

    async def pack(self) -> None:
        await step(self.packer)
        self.clock.seconds += GRACE
        await step(self.packer)

    def count(self, prefix: str) -> int:
        return sum(each.startswith(prefix) for each in self.whole.objects)
