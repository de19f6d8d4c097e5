"""The outbox: delivers notices about the checkpoints of suites.

Pending notices are stored in the entries, with their transitions. A sweep makes a record of each,
delivers those that are due, and removes the oldest fully delivered ones. An attempt is counted
before it is made, so only one of several outboxes makes it; after a crash it is repeated with the
same id.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from caliper.core.backoff import Backoff
from caliper.core.errors import BackendOverloaded, CaliperError, StoreUnavailable
from caliper.core.notices import Notice, NoticeDelivery, NoticeRecord
from caliper.core.suites import Suite
from caliper.pipeline.suites.history import EntryHistory
from caliper.pipeline.suites.notice_store import NoticeStore
from caliper.pipeline.suites.registry import StoredEntry, SuiteRegistry
from caliper.pipeline.suites.tenure import first_result, stop
from caliper.ports.clock import Clock
from caliper.ports.notices import NoticeTarget
from caliper.ports.storage import DeletableStore

LIMIT = 30.0
"""Maximum seconds per attempt."""
_BACKOFF = Backoff(first=10.0, longest=3600.0)
_PACE = 10.0
_LONGEST_ERROR = 200
LONGEST_HOLD = 86_400.0
"""Maximum seconds for which a recipient may ask to be left alone."""
_FARTHEST = LONGEST_HOLD + 7_200.0
"""Seconds ahead of which nothing is due, unless the clock was set back."""
KEPT, _SLACK = 1_000, 100
"""Records kept per suite, and how many more there may be before some are removed."""

Targets = Callable[[Suite], Mapping[str, NoticeTarget]]


class Outbox:
    """Delivers the notices of suites. `targets` are those of a suite by name."""

    def __init__(self, store: DeletableStore, clock: Clock, targets: Targets) -> None:
        self._clock, self._targets = clock, targets
        self._registry, self._notices = SuiteRegistry(store, clock), NoticeStore(store)
        self._history = EntryHistory(self._registry)
        # The versions of entries whose notices are all recorded, by key.
        self._recorded: dict[str, str | None] = {}
        # The times of fully delivered notices, by suite and id.
        self._settled: dict[str, dict[str, str]] = {}
        self._reopened: dict[str, Mapping[str, Any]] = {}
        self._woken, self._is_ending = asyncio.Event(), False

    def wake(self) -> None:
        """Sweep soon: there may be new notices."""
        self._woken.set()

    async def run_beside(self, names: Sequence[str], work: Coroutine[Any, Any, None]) -> None:
        """Deliver notices of these suites, or without names of all, while the work goes on, and
        once after it. Raises what the work raises.
        """
        task, own = asyncio.create_task(work), asyncio.create_task(self._run(names))
        try:
            await first_result(task, own)
            self._is_ending = True
            self.wake()
            await own
        finally:
            await stop(task, own)

    async def _run(self, names: Sequence[str]) -> None:
        is_last = False
        while not is_last:
            is_last = self._is_ending
            self._woken.clear()
            # The loop ends if the store stays away; meanwhile nothing is lost.
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
        """Record new notices, and deliver those that are due. Raises StoreUnavailable."""
        targets = self._targets(suite)
        ids = await self._notices.ids(suite.name)
        ids |= await self._record(suite, ids, targets)
        before = self._settled.get(suite.name, {})
        kept = ids - await self._reopened_since(suite.name)
        settled = {each: time for each, time in before.items() if each in kept}
        self._settled[suite.name] = settled
        records = await self._notices.records(suite.name, ids - settled.keys())
        for record in records:
            deliveries = (record.deliveries[name] for name in targets if name in record.deliveries)
            if not any(each.is_open for each in deliveries):
                settled[record.notice.id] = record.notice.time
        await asyncio.gather(*(self._serve(name, targets[name], records) for name in targets))
        await self._remove_oldest(suite.name, settled, len(ids))

    async def _reopened_since(self, suite: str) -> set[str]:
        """The ids of notices that may have been reopened since the last sweep."""
        reopened = await self._notices.reopened(suite)
        if reopened == self._reopened.get(suite):
            return set()
        self._reopened[suite] = reopened
        return set(reopened.get("ids", ()))

    async def _remove_oldest(self, suite: str, settled: Mapping[str, str], count: int) -> None:
        """Remove the oldest fully delivered records if there are too many."""
        if count <= KEPT + _SLACK:
            return
        times = sorted(settled.values())
        before = times[min(count - KEPT, len(times) - 1)] if times else ""
        ids = [each for each, time in settled.items() if time < before]
        if ids:
            await self._notices.remove(suite, ids, before)

    async def _record(
        self, suite: Suite, recorded: set[str], targets: Mapping[str, NoticeTarget]
    ) -> set[str]:
        """Record new notices; returns their ids."""
        stored, _ = await self._history.entries(suite.name)
        before = await self._notices.removed_before(suite.name)
        new = set()
        for each in stored:
            if self._recorded.get(each.key) == each.tag:
                continue
            marks = [mark for mark in each.entry.notices if mark.time >= before]
            new_marks = [mark for mark in marks if Notice.of(each.entry, mark).id not in recorded]
            if not new_marks:
                self._recorded[each.key] = each.tag
                continue
            # The history lacks some of its figures.
            whole = await self._registry.read_or_name(each.key)
            entry = whole.entry if isinstance(whole, StoredEntry) else each.entry
            for mark in new_marks:
                notice = Notice.of(entry, mark)
                recipients = (name for name, one in targets.items() if notice.kind in one.kinds)
                deliveries = dict.fromkeys(recipients, NoticeDelivery())
                await self._notices.add(NoticeRecord(notice, deliveries))
                new.add(notice.id)
        return new

    async def _serve(
        self, name: str, target: NoticeTarget, records: Sequence[NoticeRecord]
    ) -> None:
        """Deliver due notices in order of time, up to the first failure: the others would only wait
        for the same. Deliver none while the target asked to be left alone.
        """
        now = self._clock.now().timestamp()
        pauses = [each.deliveries[name].held for each in records if name in each.deliveries]
        if any(now < until <= now + _FARTHEST for until in pauses):
            return
        for record in records:
            delivery = record.deliveries.get(name)
            if delivery is not None and self._is_due(delivery):
                result = await self._attempt(record, name, target)
                if result is not None and not result.delivered:
                    return

    def _is_due(self, delivery: NoticeDelivery) -> bool:
        now = self._clock.now().timestamp()
        return delivery.is_open and not now < delivery.due <= now + _FARTHEST

    async def _attempt(
        self, record: NoticeRecord, name: str, target: NoticeTarget
    ) -> NoticeDelivery | None:
        """The delivery after an attempt; None if another outbox makes the attempt."""

        def claim(delivery: NoticeDelivery) -> NoticeDelivery | None:
            if not self._is_due(delivery):
                return None
            attempts = delivery.attempts + 1
            due = self._clock.now().timestamp() + LIMIT + _BACKOFF.wait(attempts, 0.0)
            return replace(delivery, attempts=attempts, due=due, error="no answer yet")

        if await self._notices.change(record, name, claim) is None:
            return None
        error, pause = await _deliver(target, record.notice)

        def note(delivery: NoticeDelivery) -> NoticeDelivery:
            if not error:
                return replace(delivery, delivered=self._registry.now(), error="", held=0.0)
            now, hold = self._clock.now().timestamp(), min(pause, LONGEST_HOLD)
            due = now + _BACKOFF.wait(delivery.attempts, 0.0, hold)
            until = now + hold if hold else 0.0
            return replace(delivery, due=due, error=error[:_LONGEST_ERROR], held=until)

        return await self._notices.change(record, name, note)

    async def replay(self, suite: Suite, record: NoticeRecord) -> dict[str, NoticeDelivery]:
        """Deliver a notice again, now, to every target that takes its kind. Returns the deliveries
        by target. Raises StoreUnavailable.
        """
        after = {}
        for name, target in self._targets(suite).items():
            if record.notice.kind in target.kinds:
                await self._notices.change(record, name, lambda _: NoticeDelivery())
                result = await self._attempt(record, name, target)
                after[name] = result or NoticeDelivery()
        return after


async def _deliver(target: NoticeTarget, notice: Notice) -> tuple[str, float]:
    """Why the target did not take the notice, empty if it did, and for how many seconds it asks to
    be left alone. Raises StoreUnavailable.
    """
    try:
        async with asyncio.timeout(LIMIT):
            await target.deliver(notice)
    except TimeoutError:
        return f"no answer in {LIMIT:.0f} s", 0.0
    except StoreUnavailable:
        raise
    except CaliperError as error:
        pause = error.retry_after if isinstance(error, BackendOverloaded) else None
        return str(error) or type(error).__name__, pause or 0.0
    except Exception as error:  # noqa: BLE001 - a recipient must not end the evaluations
        # Without its text, which may hold the recipient's secret URL.
        return type(error).__name__, 0.0
    return "", 0.0
