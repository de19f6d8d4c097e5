"""The outbox: tells what happens to the checkpoints of suites.

What is to be told stands on the entries, written with their transitions. A sweep makes a record of
each, then delivers what is due. An attempt is counted before it is made, so of several outboxes
one makes it; after a crash it is made again, with the same id.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from caliper.core.backoff import Backoff
from caliper.core.errors import CaliperError, StoreUnavailable
from caliper.core.notices import Notice, NoticeDelivery, NoticeRecord
from caliper.core.suites import Suite
from caliper.pipeline.suites.notice_store import NoticeStore
from caliper.pipeline.suites.registry import SuiteRegistry
from caliper.ports.clock import Clock
from caliper.ports.notices import NoticeTarget
from caliper.ports.storage import ObjectStore

LIMIT = 30.0
"""Seconds that an attempt may take."""
_BACKOFF = Backoff(first=10.0, longest=3600.0)
_PACE = 10.0
_LONGEST_ERROR = 200

Targets = Callable[[Suite], Mapping[str, NoticeTarget]]


class Outbox:
    """Delivers the notices of suites. `targets` are those of a suite by name."""

    def __init__(self, store: ObjectStore, clock: Clock, targets: Targets) -> None:
        self._clock, self._targets = clock, targets
        self._registry, self._notices = SuiteRegistry(store, clock), NoticeStore(store)
        self._settled: dict[str, set[str]] = {}
        self._woken, self._is_ending = asyncio.Event(), False

    def wake(self) -> None:
        """Sweep soon: there may be something new."""
        self._woken.set()

    async def run_beside(self, names: Sequence[str], work: Coroutine[Any, Any, None]) -> None:
        """Tell what happens to these suites, or without names to all, while the work goes on, and
        once after it. Raises what the work raises.
        """
        task, own = asyncio.create_task(work), asyncio.create_task(self._run(names))
        try:
            await asyncio.wait((task, own), return_when=asyncio.FIRST_COMPLETED)
            if not task.done():
                await own
            await task
            self._is_ending = True
            self.wake()
            await own
        finally:
            task.cancel()
            own.cancel()
            await asyncio.gather(task, own, return_exceptions=True)

    async def _run(self, names: Sequence[str]) -> None:
        is_last = False
        while not is_last:
            is_last = self._is_ending
            self._woken.clear()
            # The loop ends for a store that stays away; meanwhile nothing is lost.
            with suppress(CaliperError):
                for name in names or await self._registry.names():
                    with suppress(CaliperError):
                        await self.sweep((await self._registry.record(name)).suite)
            if not self._is_ending:
                await self._pause()

    async def _pause(self) -> None:
        waits = {
            asyncio.create_task(self._clock.sleep(_PACE)),
            asyncio.create_task(self._woken.wait()),
        }
        _, left = await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        for each in left:
            each.cancel()

    async def sweep(self, suite: Suite) -> None:
        """Record what is new, and deliver what is due. Raises StoreUnavailable."""
        targets = self._targets(suite)
        ids = await self._notices.ids(suite.name)
        ids |= await self._record(suite, ids, targets)
        settled = self._settled.setdefault(suite.name, set())
        records = await self._notices.records(suite.name, ids - settled)
        for record in records:
            chosen = (record.deliveries[name] for name in targets if name in record.deliveries)
            if not any(each.is_open for each in chosen):
                settled.add(record.notice.id)
        await asyncio.gather(*(self._serve(name, targets[name], records) for name in targets))

    async def _record(
        self, suite: Suite, known: set[str], targets: Mapping[str, NoticeTarget]
    ) -> set[str]:
        """Record the notices that are not known yet; their ids."""
        stored, _ = await self._registry.entries(suite.name)
        new = set()
        for each in stored:
            for mark in each.entry.notices:
                notice = Notice.of(each.entry, mark)
                if notice.id not in known:
                    wanted = (name for name, one in targets.items() if notice.kind in one.kinds)
                    await self._notices.add(
                        NoticeRecord(notice, dict.fromkeys(wanted, NoticeDelivery()))
                    )
                    new.add(notice.id)
        return new

    async def _serve(
        self, name: str, target: NoticeTarget, records: Sequence[NoticeRecord]
    ) -> None:
        """Deliver in order of time what is due, up to the first failure: the others would only
        wait for the same.
        """
        for record in records:
            delivery = record.deliveries.get(name)
            if delivery is not None and self._is_due(delivery):
                result = await self._attempt(record, name, target)
                if result is not None and not result.delivered:
                    return

    def _is_due(self, delivery: NoticeDelivery) -> bool:
        return delivery.is_open and delivery.due <= self._clock.now().timestamp()

    async def _attempt(
        self, record: NoticeRecord, name: str, target: NoticeTarget
    ) -> NoticeDelivery | None:
        """The delivery after an attempt; None if another outbox makes it."""

        def claim(found: NoticeDelivery) -> NoticeDelivery | None:
            if not self._is_due(found):
                return None
            attempts = found.attempts + 1
            due = self._clock.now().timestamp() + LIMIT + _BACKOFF.wait(attempts, 0.0)
            return replace(found, attempts=attempts, due=due, error="no answer is known")

        if await self._notices.change(record, name, claim) is None:
            return None
        error = await _deliver(target, record.notice)

        def note(found: NoticeDelivery) -> NoticeDelivery:
            if not error:
                return replace(found, delivered=self._registry.now(), error="")
            due = self._clock.now().timestamp() + _BACKOFF.wait(found.attempts, 0.0)
            return replace(found, due=due, error=error[:_LONGEST_ERROR])

        return await self._notices.change(record, name, note)

    async def replay(self, suite: Suite, record: NoticeRecord) -> dict[str, NoticeDelivery]:
        """Deliver a notice again, now, to every target that takes its kind. The deliveries by
        target. Raises StoreUnavailable.
        """
        after = {}
        for name, target in self._targets(suite).items():
            if record.notice.kind in target.kinds:
                await self._notices.change(record, name, lambda _: NoticeDelivery())
                result = await self._attempt(record, name, target)
                after[name] = result or NoticeDelivery()
        return after


async def _deliver(target: NoticeTarget, notice: Notice) -> str:
    """Why the target did not take the notice; empty if it did. Raises StoreUnavailable."""
    try:
        async with asyncio.timeout(LIMIT):
            await target.deliver(notice)
    except TimeoutError:
        return f"no answer in {LIMIT:.0f} s"
    except StoreUnavailable:
        raise
    except CaliperError as error:
        return str(error) or type(error).__name__
    return ""
