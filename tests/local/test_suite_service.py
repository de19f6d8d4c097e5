"""The service that evaluates all suites of an installation, on a store that fails at first."""

import asyncio
from collections.abc import Collection
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from prometheus_client import generate_latest
from tests.fakes.caption_buckets import MemoryBucket
from tests.fakes.clock import FakeClock
from tests.fakes.stores import MemoryStore
from tests.fakes.suites import FakeEvaluator, checkpoint, suite

from caliper.adapters.metrics.prometheus import PrometheusTelemetry
from caliper.core.errors import StreamUnavailable
from caliper.core.notice_marks import NoticeKind
from caliper.core.notices import Notice
from caliper.local.checkpoint_sources import BucketSources
from caliper.local.notify import permitted_targets
from caliper.local.suite_service import SuiteController
from caliper.pipeline.suites.arrivals import Arrivals
from caliper.pipeline.suites.registry import SuiteRegistry
from caliper.wiring.grounds import memory_ground


class NoticeCollector:
    """ports.notices.NoticeTarget that wakes a test at the last of the wanted notices."""

    kinds: Collection[NoticeKind] = frozenset(NoticeKind)

    def __init__(self, wanted: int) -> None:
        self.notices: list[Notice] = []
        self.wanted, self.done = wanted, asyncio.Event()

    async def deliver(self, notice: Notice) -> None:
        self.notices.append(notice)
        if len(self.notices) == self.wanted:
            self.done.set()


async def test_all_suites_are_evaluated_after_an_outage() -> None:
    # A disk would take real time, in which the clock of the test goes on for hours.
    clock = FakeClock()
    ground = replace(memory_ground(MemoryStore()), clock=clock)
    registry = SuiteRegistry(ground.store, clock)
    for name in ("daily", "nightly"):
        await registry.apply(suite(name))
        await registry.register(suite(name), checkpoint(1, source="s3://models/step-1"))
    # It harms only itself.
    await ground.store.put("suites/broken/suite.json", b"{")
    evaluator, told, outages = FakeEvaluator(), NoticeCollector(6), [StreamUnavailable("no broker")]

    bucket = MemoryBucket()
    sources = BucketSources({"models": bucket}.get)

    async def open_arrivals(_: AsyncExitStack) -> Arrivals:
        if outages:
            raise outages.pop()

        async def none() -> tuple[()]:
            return ()

        return none

    controller = SuiteController(
        ground, evaluator, lambda _: {"told": told}, open_arrivals, sources
    )
    running = asyncio.create_task(controller.run())
    await told.done.wait()
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    assert sorted(evaluator.evaluated) == [("daily", "step-1", ""), ("nightly", "step-1", "")]
    assert set(bucket.written) == {f".step-1.{name}.caliper-lease" for name in ("daily", "nightly")}
    assert bucket.objects == {}
    kinds = {(each.suite, str(each.kind)) for each in told.notices}
    wanted = ("registered", "started", "decided")
    assert kinds == {(name, kind) for name in ("daily", "nightly") for kind in wanted}
    assert isinstance(ground.telemetry, PrometheusTelemetry)
    shown = generate_latest(ground.telemetry.metrics.registry).decode()
    assert 'caliper_suite_step{suite="nightly"} 1.0' in shown


def test_a_suite_names_no_secrets_but_those_of_notices(tmp_path: Path) -> None:
    def permitted(secret: str, folder: Path | None = None) -> list[str]:
        hook: dict[str, Any] = {"url": "http://127.0.0.1/", "secret": secret}
        given = replace(suite(), values={"notify": {"team": hook}})
        return list(permitted_targets(given, FakeClock(), folder))

    assert permitted("env:NOTIFY_HOOK") == ["team"]
    assert permitted("env:CALIPER_SUITES_STORE_SECRET_KEY") == []
    assert permitted(f"file:{tmp_path}/hook") == []
    assert permitted(f"file:{tmp_path}/hook", tmp_path) == ["team"]
    assert permitted(f"file:{tmp_path}/../hook", tmp_path) == []
