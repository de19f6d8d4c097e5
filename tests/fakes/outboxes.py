"""A registry with a suite, outboxes on it, and who is told."""

from collections.abc import Sequence

from tests.fakes.clock import FakeClock
from tests.fakes.stores import MemoryStore
from tests.fakes.suites import FakeEvaluator, checkpoint, suite

from caliper.core.checkpoints import CheckpointRevision
from caliper.core.notice_marks import NoticeKind
from caliper.core.notices import Notice, NoticeRecord
from caliper.pipeline.suites.loop import SuiteLoop
from caliper.pipeline.suites.notice_store import NoticeStore
from caliper.pipeline.suites.outbox import Outbox
from caliper.pipeline.suites.registry import SuiteRegistry
from caliper.ports.notices import NoticeTarget

ALL = frozenset(NoticeKind)


class FakeTarget:
    """Takes notices, but raises the `errors` first."""

    def __init__(
        self, kinds: frozenset[NoticeKind] = ALL, errors: Sequence[Exception] = ()
    ) -> None:
        self.kinds, self.errors = kinds, list(errors)
        self.taken: list[Notice] = []
        self.tried = 0

    async def deliver(self, notice: Notice) -> None:
        self.tried += 1
        if self.errors:
            raise self.errors.pop(0)
        self.taken.append(notice)

    @property
    def told(self) -> list[str]:
        return [f"{each.checkpoint} {each.kind}" for each in self.taken]


class Desk:
    """A registry with the suite, and outboxes on it."""

    def __init__(self, store: MemoryStore | None = None, **targets: NoticeTarget) -> None:
        self.store, self.clock = store or MemoryStore(), FakeClock()
        self.registry = SuiteRegistry(self.store, self.clock)
        self.notices = NoticeStore(self.store)
        self.targets = targets
        self.evaluator = FakeEvaluator()

    def outbox(self) -> Outbox:
        return Outbox(self.store, self.clock, lambda _: self.targets)

    async def sweep(self, outbox: Outbox | None = None) -> None:
        await (outbox or self.outbox()).sweep(suite())

    async def evaluate(self, *steps: int) -> None:
        """What a process does from its start to its end."""

        async def arrivals() -> Sequence[CheckpointRevision]:
            return [checkpoint(step) for step in steps]

        await self.registry.apply(suite())
        loop = SuiteLoop(self.store, self.clock, self.evaluator, lambda _: None, arrivals)
        await self.outbox().run_beside(["nightly"], loop.run(["nightly"], once=True))

    async def records(self) -> list[NoticeRecord]:
        return await self.notices.records("nightly", await self.notices.ids("nightly"))
