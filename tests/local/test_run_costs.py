"""What runs of an installation cost, and what of it was paid."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.fakes import runs
from tests.fakes.chat_server import MODEL, ChatServer
from tests.fakes.installed_suites import installed
from tests.fakes.opinions import steadfast
from tests.fakes.sources import EXAMPLES
from tests.fakes.stores import MemoryStore

from caliper.core.checkpoints import CheckpointEntry, CheckpointRevision
from caliper.core.errors import InvalidInput, StoreFull
from caliper.core.run import RunState
from caliper.core.spending import Spending
from caliper.local.run_costs import RunCosts
from caliper.pipeline.store.run_record import Evaluation
from caliper.pipeline.store.runs import run_store, write_json
from caliper.pipeline.suites.accounts import SuiteAccounts
from caliper.pipeline.suites.registry import SuiteRegistry
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
    await costs.pay(ENTRY, ENDED, paid.append)
    await costs.pay(ENTRY, ENDED, paid.append)
    await use(store, 2, 10, models={"judge (tgi, 1)": [7, 3]})
    await costs.pay(ENTRY, ENDED, paid.append)
    assert paid == [Spending(0, 30, 0.013), Spending(), Spending(0, 10, 0.013)]


async def test_a_kill_before_the_note_pays_in_the_next_process() -> None:
    store, killed, paid = MemoryStore(), list[Spending](), list[Spending]()
    costs = RunCosts(store, PRICES)
    await use(store, 1, 10, models={"judge": [7, 3]})
    store.full = True
    with pytest.raises(StoreFull):
        await costs.pay(ENTRY, ENDED, killed.append)
    store.full = False
    for _ in range(2):
        await costs.pay(ENTRY, ENDED, paid.append)
    assert paid == [Spending(0, 10, 0.013), Spending()]


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
                assert (await gateway.get(run.spec.run_id)).state is RunState.CANCELLED
            costs = RunCosts(store, {MODEL: (1000.0, 2000.0)})
            there.evaluator = replace(there.evaluator, costs=costs)
            await SuiteRegistry(store, clock).register(suite, second)
            (entry,) = await there.decided()
            # Each call takes 7 tokens of the prompt and 3 of the reply.
            assert entry.money == pytest.approx(entry.tokens / 10 * 0.013)
            assert entry.tokens > 0
            account = await SuiteAccounts(store, clock, suite.name).present()
            assert account.totals.used == Spending(entry.calls, entry.tokens, entry.money)
