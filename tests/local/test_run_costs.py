"""What runs of an installation cost, and what of it was paid."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.fakes import runs
from tests.fakes.chat_server import MODEL, ChatServer
from tests.fakes.clock import FakeClock
from tests.fakes.datasets import push_dataset
from tests.fakes.installation import over
from tests.fakes.installed_suites import installed
from tests.fakes.opinions import steadfast
from tests.fakes.sources import EXAMPLES
from tests.fakes.stores import Gate, MemoryStore
from tests.fakes.suite_folders import suite as written

from caliper.core.checkpoints import CheckpointEntry, CheckpointRevision
from caliper.core.errors import InvalidInput, StoreFull
from caliper.core.run import RunState
from caliper.core.spending import Spending
from caliper.local.checkpoint_requests import CheckpointRequest
from caliper.local.gateway_evaluator import GatewayEvaluator
from caliper.local.run_costs import RunCosts
from caliper.local.submission import push_suite
from caliper.local.suite_config import read_suite
from caliper.pipeline.aggregation.lease import Lease
from caliper.pipeline.planning.resolution import EvaluationRequest
from caliper.pipeline.store.run_record import Evaluation
from caliper.pipeline.store.runs import run_store, write_json
from caliper.pipeline.suites.accounts import SuiteAccounts
from caliper.pipeline.suites.baselines import BaselineChoice
from caliper.pipeline.suites.claims import EntryClaim
from caliper.pipeline.suites.registry import StoredEntry, SuiteRegistry
from caliper.wiring.service_settings import JudgeSettings

ENTRY = CheckpointEntry.new("nightly", "v", CheckpointRevision("s3://m/1", "r", "1"), "now")
ENDED = Evaluation(runs.spec(), RunState.COMPLETE, datetime(2026, 11, 23, tzinfo=UTC))
PRICES = {"judge": (1000.0, 2000.0)}


async def use(store: MemoryStore, start: int, tokens: int, **more: object) -> None:
    run = run_store(store, ENDED.spec.run_id)
    await write_json(run, f"spent/{start}/a.json", tokens=tokens, **more)


async def test_what_is_paid_is_paid_once() -> None:
    store, paid = MemoryStore(), list[Spending]()
    costs = RunCosts(store, PRICES)
    await use(store, 1, 30, models={"judge (tgi, 1)": [7, 3], "captioner": [5, 5]})
    # Of the rest, an earlier release told no model.
    await costs.pay(ENDED, paid.append)
    await costs.pay(ENDED, paid.append)
    await use(store, 2, 10, models={"judge (tgi, 1)": [7, 3]})
    await costs.pay(ENDED, paid.append)
    assert paid == [Spending(0, 30, 0.013), Spending(), Spending(0, 10, 0.013)]


async def test_a_kill_before_the_note_pays_in_the_next_process() -> None:
    store, killed, paid = MemoryStore(), list[Spending](), list[Spending]()
    costs = RunCosts(store, PRICES)
    await use(store, 1, 10, models={"judge": [7, 3]})
    store.full = True
    with pytest.raises(StoreFull):
        await costs.pay(ENDED, killed.append)
    store.full = False
    for _ in range(2):
        await costs.pay(ENDED, paid.append)
    assert paid == [Spending(0, 10, 0.013), Spending()]


async def test_a_skip_while_it_is_noted_pays_what_is_noted() -> None:
    store, paid = MemoryStore(), list[Spending]()
    store.after = noting = Gate("replace")
    await use(store, 1, 10, models={"judge": [7, 3]})
    paying = asyncio.create_task(RunCosts(store, PRICES).pay(ENDED, paid.append))
    await noting.reached.wait()
    paying.cancel()
    await asyncio.sleep(0)
    noting.opened.set()
    with pytest.raises(asyncio.CancelledError):
        await paying
    assert paid == [Spending(0, 10, 0.013)]


async def test_a_run_that_several_suites_share_is_paid_by_one() -> None:
    store, paid = MemoryStore(), list[Spending]()
    await use(store, 1, 10, models={"judge": [7, 3]})
    shared = (RunCosts(store, PRICES).pay(ENDED, paid.append) for _ in range(5))
    await asyncio.gather(*shared)
    assert sum(paid, Spending()) == Spending(0, 10, 0.013)


class _Gateway:
    """A gateway at which a run has begun already."""

    def __init__(self) -> None:
        self.cancelled: list[str] = []

    async def start(self, _: Any) -> Any:
        return ENDED, False

    async def get(self, _: str) -> Any:
        return ENDED

    async def cancel(self, run: str) -> None:
        self.cancelled.append(run)

    async def watch(self, *_: Any) -> AsyncIterator[Any]:
        yield ENDED


@dataclass
class _Requests:
    """The requests for checkpoints: always this one."""

    request: CheckpointRequest

    async def delivered(self, *_: Any) -> CheckpointRequest:
        return self.request


@pytest.mark.parametrize("is_own", [False, True])
async def test_a_suite_that_cannot_pay_ends_only_a_run_of_its_own(
    tmp_path: Path, is_own: bool
) -> None:
    gateway: Any = _Gateway()
    store, clock = MemoryStore(), FakeClock()
    run, spent = ENDED.spec.run_id, {"budget": {"tokens": 9, "month": {"money": 5}}}
    suite = read_suite(written(tmp_path, **spent))
    suite = await push_suite(suite, partial(push_dataset, store))
    entry = CheckpointEntry.new(suite.name, suite.version, ENTRY.checkpoint, "now")
    costs = RunCosts(store, {})
    if is_own:
        await costs.begin(replace(entry, round=7), run, "")
    none: Any = None
    requests: Any = _Requests(CheckpointRequest(EvaluationRequest("ours", ())))
    evaluator = GatewayEvaluator(gateway, store, none, requests, clock, print, costs)
    claim = EntryClaim(none, StoredEntry(entry, None), Lease(store, clock, "lease"))
    with pytest.raises(InvalidInput, match=r"no price of .*: set CALIPER_SUITES_PRICES"):
        await evaluator.evaluate(suite, claim, BaselineChoice())
    await evaluator.abandon(entry)
    assert gateway.cancelled == ([run] if is_own else [])


@pytest.mark.rest
async def test_money_is_by_the_prices_of_the_service(tmp_path: Path) -> None:
    async with ChatServer(otherwise=steadfast) as chat:
        settings = JudgeSettings(model=f"tgi:{chat.url}", in_flight=16, anchors=False)
        async with installed(tmp_path, examiner=settings) as there:
            store, clock = there.ground.store, there.ground.clock
            budget = {"tokens": 100_000, "month": {"money": 5}}
            suite, gateway = await there.applied(tmp_path, budget=budget), there.evaluator.gateway
            first, second = (
                there.bucket.deliver(step, EXAMPLES / "captions" / kind)
                for step, kind in ((1, "careless"), (2, "careful"))
            )
            # Also a run that was refused before ends.
            for number in range(2):
                with pytest.raises(InvalidInput, match=f"no price of {MODEL}: set CALIPER_SUITES_"):
                    await there.one(suite, first, number)
                entry = CheckpointEntry.new(suite.name, suite.version, first, "now")
                await there.evaluator.abandon(replace(entry, round=number))
                (run,) = (await gateway.list()).evaluations
                assert (await over(gateway, run.spec.run_id)).state is RunState.CANCELLED
            costs = RunCosts(store, {MODEL: (1000.0, 2000.0)})
            there.evaluator = replace(there.evaluator, costs=costs)
            await SuiteRegistry(store, clock).register(suite, second)
            (entry,) = await there.decided()
            # Each call takes 7 tokens of the prompt and 3 of the reply.
            assert entry.money == pytest.approx(entry.tokens / 10 * 0.013)
            assert entry.tokens > 0
            account = await SuiteAccounts(store, clock, suite.name).present()
            assert account.totals.used == Spending(entry.calls, entry.tokens, entry.money)
