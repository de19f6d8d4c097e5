"""The costs of suites' runs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from caliper.adapters.models.cost import Cost
from caliper.benchmarks.registry import benchmark
from caliper.core.checkpoints import CheckpointEntry
from caliper.core.errors import InvalidInput
from caliper.core.run import BenchmarkSpec, Identity, RunSpec
from caliper.core.spending import Spending
from caliper.core.suites import Suite
from caliper.pipeline.asking.token_budget import spent_usage
from caliper.pipeline.store.changes import Fields, change_json
from caliper.pipeline.store.run_record import Evaluation
from caliper.pipeline.store.runs import read_replaceable, run_store, write_json
from caliper.pipeline.suites.accounts import limits_of
from caliper.ports.storage import ObjectStore
from caliper.wiring.prices import Prices, spending, unpriced
from caliper.wiring.settings import variable
from caliper.wiring.suites_settings import SuitesSettings

_NOTES = "begun"
_WITHOUT_CALLS = ("lexical", "replay")
Pay = Callable[[Spending], None]


def check_prices(suite: Suite, spec: RunSpec, prices: Prices, setting: str) -> None:
    """Raise InvalidInput for a model without a price if a budget is in money. Prices are in the
    variable `setting`.
    """
    # Captioners are named after checkpoints, so nobody can set their prices beforehand.
    models = [_examiner(part) for part in spec.benchmarks]
    missing = unpriced((each.label for each in models if each.kind not in _WITHOUT_CALLS), prices)
    if "money" in limits_of(suite) and missing:
        message = f"no price of {', '.join(missing)}: set {setting}"
        raise InvalidInput(message, field="budget.month.money")


@dataclass(frozen=True, slots=True)
class RunCosts:
    """The costs of an installation's runs, and how much of them is paid:

    suites/<suite>/begun/<version>/<revision>.json   the last run begun for an entry, and the run
                                                     that judges the baseline again
    runs/<id>/paid.json                              the amount paid for a run by suites: several
                                                     suites, or versions of one, may share it
    """

    store: ObjectStore
    prices: Prices

    def check(self, suite: Suite, spec: RunSpec) -> None:
        """Raises InvalidInput like `check_prices`."""
        check_prices(suite, spec, self.prices, variable(SuitesSettings, "prices"))

    async def note(self, entry: CheckpointEntry) -> Mapping[str, Any]:
        """The note of this round of an entry."""
        note = await self.last_note(entry)
        return note if note.get("round") == entry.round else {}

    async def last_note(self, entry: CheckpointEntry) -> Mapping[str, Any]:
        """The note of this round, or of an earlier one."""
        return await read_replaceable(self.store, entry.key(_NOTES))

    async def begin(self, entry: CheckpointEntry, run: str, shortfall: str) -> None:
        """Note the run of an entry, and its missing captions."""
        fields = {"run": run, "round": entry.round, "shortfall": shortfall}
        await write_json(self.store, entry.key(_NOTES), **fields)

    async def begin_again(self, entry: CheckpointEntry, run: str) -> None:
        """Note the run that judges part of the baseline again."""
        fields = {**await self.last_note(entry), "again": run}
        await write_json(self.store, entry.key(_NOTES), **fields)

    async def end_again(self, entry: CheckpointEntry) -> None:
        """Note the end of the run that judges again."""
        note = await self.last_note(entry)
        fields = {key: value for key, value in note.items() if key != "again"}
        await write_json(self.store, entry.key(_NOTES), **fields)

    async def pay(self, ended: Evaluation, add: Pay) -> None:
        """Add the cost of a run since the last payment for it, by any entry. Raises
        StoreUnavailable.
        """
        paying = asyncio.create_task(self._pay(ended, add))
        try:
            await asyncio.shield(paying)
        finally:
            # Even if cancelled meanwhile: an amount noted as paid must be in the account.
            await asyncio.wait((paying,))

    async def _pay(self, ended: Evaluation, add: Pay) -> None:
        spent, due = await self._spending(ended), Spending()

        def settle(fields: Fields) -> Fields:
            nonlocal due
            paid = Spending.from_json(fields)
            calls, tokens = spent.calls - paid.calls, spent.tokens - paid.tokens
            due = Spending(max(0, calls), max(0, tokens), max(0.0, spent.money - paid.money))
            return fields if due == Spending() else (paid + due).to_json()

        await change_json(self.store, f"runs/{ended.spec.run_id}/paid.json", settle)
        add(due)

    async def _spending(self, ended: Evaluation) -> Spending:
        """The cost of a run so far."""
        questions = sum(
            part.coverage.known - part.coverage.undrawn
            for part in ended.benchmarks
            if _examiner(ended.spec.benchmark(part.name)).kind not in _WITHOUT_CALLS
        )
        calls = questions if ended.reuse is None else max(0, questions - ended.reuse.verdicts)
        used = await spent_usage(run_store(self.store, ended.spec.run_id))
        costs = {
            label: Cost(prompt_tokens=each.prompt, completion_tokens=each.completion)
            for label, each in used.items()
        }
        return Spending(calls) + spending(costs, self.prices)


def _examiner(part: BenchmarkSpec) -> Identity:
    return part.models[benchmark(part.name).role]
