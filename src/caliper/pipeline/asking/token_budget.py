"""The token budget of a run: checked before every call, charged after it, and shared by all
processes that work on the run.

Calls in flight are not cancelled, so their tokens may exceed the cap.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from weakref import WeakValueDictionary

from caliper.core.errors import BudgetSpent
from caliper.core.messages import CaptionJob, ExamineJob
from caliper.core.question import Decoding
from caliper.core.quotas import DayQuota
from caliper.core.run import Identity
from caliper.core.terms import UNLIMITED
from caliper.pipeline.asking.team_budget import TeamBudget, TeamBudgets
from caliper.pipeline.store.runs import read_json, run_store, write_json
from caliper.ports.models import ChatMessage, ChatModel, Completion, Usage
from caliper.ports.storage import ObjectStore

_IDLE_STARTS = 64
"""The number of idle starts kept in memory; the store has the use of all."""

_ROOT = "spent/"
_Start = tuple[str, int]
"""A run, and the number of one of its starts."""
UsageByModel = Mapping[str, Usage]
"""Prompt and completion tokens by identity label. The label of those that an earlier release
published, in total only, is empty.
"""


@dataclass(eq=False)
class Allowance:
    """The tokens of prompts and replies that one start of a run may use.

    `usage` is what this process used, of which `published` tokens are published in the store;
    `used_elsewhere` is the last known number used by other processes.

    `retain` is called on every use, so that the allowance is not evicted before it is published.
    `warn` is called once per model whose server does not count tokens: the cap cannot be enforced
    for it. `team` is the budget of the run's team, limited by its quota.
    """

    tokens: int
    usage: dict[str, Usage]
    retain: Callable[[Allowance], None]
    warn: Callable[[str], None]
    used_elsewhere: int = 0
    team: tuple[TeamBudget, DayQuota] | None = None
    uncounted: set[str] = field(default_factory=set)
    publish_lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    def __post_init__(self) -> None:
        self.published = self.used

    @property
    def used(self) -> int:
        """The tokens used by this process."""
        return sum(each.tokens for each in self.usage.values())

    def ask(self) -> None:
        """Check that one more call is allowed. Raises BudgetSpent if not."""
        if self.team is not None:
            budget, quota = self.team
            budget.ask(quota)
        if self.used + self.used_elsewhere >= self.tokens:
            # Without numbers, so that the text in verdicts is the same in every process.
            raise BudgetSpent("the cap on tokens leaves no room for it")

    @contextmanager
    def call(self) -> Iterator[None]:
        """Make one call inside. Raises BudgetSpent if it is not allowed."""
        self.ask()
        if self.team is None:
            yield
            return
        budget, _ = self.team
        budget.in_flight += 1
        try:
            yield
        finally:
            budget.in_flight -= 1

    def enter(self, usage: Usage, model: str) -> None:
        """Charge the tokens of an answered call, as counted by the model's server."""
        self.usage[model] = self.usage.get(model, Usage()) + usage
        self.retain(self)
        if self.team is not None:
            self.team[0].enter(usage)
        if self._counts_tokens and not usage.tokens and model not in self.uncounted:
            self.uncounted.add(model)
            cap = f"the cap of {self.tokens:,} (--max-tokens)"
            if self.tokens == UNLIMITED:
                cap = "the quota of its team"
            self.warn(
                f"the server of {model} does not count tokens: {cap} cannot be enforced; cap its "
                "calls with --max-calls"
            )

    @property
    def _counts_tokens(self) -> bool:
        quota = None if self.team is None else self.team[1].tokens
        return self.tokens < UNLIMITED or quota is not None


class CappedChatModel:
    """A chat model that refuses calls once its allowance is spent."""

    def __init__(self, model: ChatModel, allowance: Allowance) -> None:
        self._model, self._allowance = model, allowance

    @property
    def identity(self) -> Identity:
        return self._model.identity

    async def complete(
        self,
        messages: Sequence[ChatMessage],
        decoding: Decoding,
        schema: Mapping[str, Any] | None = None,
        affinity: str = "",
    ) -> Completion:
        """Request one completion. Raises BudgetSpent, and what the model raises."""
        with self._allowance.call():
            completion = await self._model.complete(messages, decoding, schema, affinity)
            self._allowance.enter(completion.usage, self.identity.label)
        return completion

    async def close(self) -> None:
        await self._model.close()


class SharedAllowances:
    """The allowances of capped runs, shared by all processes that work on them:

        runs/<id>/spent/<start>/<who>.json   the tokens used by one process

    Processes do not wait for each other. A cap can therefore be exceeded by calls in flight and by
    other processes' use for unfinished jobs; a process killed in the middle of a job loses its use
    for it. `process` names this process uniquely; `warn` is called with a message if a cap cannot
    be enforced. Quotas apply with `teams`, of the same process.
    """

    def __init__(
        self,
        store: ObjectStore,
        process: str,
        warn: Callable[[str], None],
        teams: TeamBudgets | None = None,
    ) -> None:
        self._store, self._who, self._warn = store, f"{process}.json", warn
        self._teams = teams
        # Every allowance in use anywhere, so that no start of a run is ever counted twice.
        self._allowances: WeakValueDictionary[_Start, Allowance] = WeakValueDictionary()
        self._recent: OrderedDict[_Start, Allowance] = OrderedDict()

    async def of(self, job: CaptionJob | ExamineJob) -> Allowance | None:
        """The allowance of a job, updated with other processes' published use; None if uncapped.

        Raises StoreUnavailable or StoreFull.
        """
        run, cap = job.run, job.cap
        if cap is None:
            return None
        start = run, cap.start
        # This reference keeps the allowance alive during the read: an evicted one might be
        # published only after the store was read.
        allowance = self._allowances.get(start)
        used = await _published(run_store(self._store, run), _prefix(cap.start))
        own = dict(used.pop(self._who, {}))
        # Another job may have opened it in the meantime.
        allowance = allowance or self._allowances.get(start)
        if allowance is None:
            allowance = Allowance(cap.tokens, own, partial(self._keep, start), self._warn)
            self._allowances[start] = allowance
        if self._teams is not None and cap.quota is not None:
            allowance.team = await self._teams.of(cap.quota.team), cap.quota
        self._keep(start, allowance)
        allowance.used_elsewhere = max(allowance.used_elsewhere, _tokens(used.values()))
        await self._evict()
        return allowance

    def _keep(self, start: _Start, allowance: Allowance) -> None:
        self._recent[start] = allowance
        self._recent.move_to_end(start)

    async def _evict(self) -> None:
        """Evict the least recently used starts, each once its use is published."""
        while len(self._recent) > _IDLE_STARTS:
            start, allowance = next(iter(self._recent.items()))
            await self._publish(start, allowance)
            if allowance.used == allowance.published:
                self._recent.pop(start, None)

    async def publish(self, job: CaptionJob | ExamineJob) -> None:
        """Publish this process's use for a job's run. Raises StoreUnavailable or StoreFull."""
        if job.cap is not None:
            if self._teams is not None and job.cap.quota is not None:
                await self._teams.publish(job.cap.quota.team)
            start = job.run, job.cap.start
            if (allowance := self._allowances.get(start)) is not None:
                await self._publish(start, allowance)

    async def _publish(self, start: _Start, allowance: Allowance) -> None:
        async with allowance.publish_lock:
            used = allowance.used
            if used > allowance.published:
                run, number = start
                key, models = _prefix(number) + self._who, _to_json(allowance.usage)
                await write_json(run_store(self._store, run), key, tokens=used, models=models)
                allowance.published = used


async def spent_usage(run: ObjectStore) -> UsageByModel:
    """The tokens of all starts of a run that had a cap on them, by model. `run` is the run's own
    part of the store. Raises StoreUnavailable.
    """
    spent = dict[str, Usage]()
    for used in (await _published(run, _ROOT)).values():
        for label, usage in used.items():
            spent[label] = spent.get(label, Usage()) + usage
    return spent


async def _published(run: ObjectStore, prefix: str) -> dict[str, UsageByModel]:
    """The published use of each process, by the name of its object."""
    used = {}
    async for key in run.list(prefix):
        used[key.removeprefix(prefix)] = _from_json(await read_json(run, key) or {})
    return used


def _to_json(used: UsageByModel) -> dict[str, list[int]]:
    return {label: [each.prompt, each.completion] for label, each in used.items() if label}


def _from_json(fields: Mapping[str, Any]) -> UsageByModel:
    used = {label: Usage(*counts) for label, counts in fields.get("models", {}).items()}
    rest = int(fields.get("tokens", 0)) - _tokens([used])
    return {**used, "": Usage(rest)} if rest else used


def _tokens(used: Iterable[UsageByModel]) -> int:
    return sum(each.tokens for models in used for each in models.values())


def _prefix(start: int) -> str:
    return f"{_ROOT}{start}/"
