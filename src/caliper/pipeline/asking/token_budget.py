"""The tokens that a run may use: asked for before every call, entered after it, and counted
together by all processes that work on the run.

Calls in flight are not taken back, so that their tokens may pass the cap.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from weakref import WeakValueDictionary

from caliper.core.caps import TokenCap
from caliper.core.errors import BudgetSpent
from caliper.core.messages import CaptionJob, ExamineJob
from caliper.core.question import Decoding
from caliper.core.run import Identity
from caliper.pipeline.store.runs import read_json, run_store, write_json
from caliper.ports.models import ChatMessage, ChatModel, Completion
from caliper.ports.storage import ObjectStore

_RUNS = 64
"""So many starts of runs are counted while nobody works on them; what was used is in the store."""

_Start = tuple[str, int]
"""A run, and which of its starts."""


@dataclass(eq=False)
class Allowance:
    """The tokens of prompts and replies that one start of a run may use. `used` were used here,
    `told` of them the others can know, and `others` were used elsewhere, as far as it is known.

    `keep` is called with every use: it must not be forgotten before it is told. `warn` is called,
    once for each model, if its server counts no tokens, so that no cap can hold.
    """

    tokens: int
    used: int
    keep: Callable[[Allowance], None]
    warn: Callable[[str], None]
    others: int = 0
    uncounted: set[str] = field(default_factory=set)
    telling: asyncio.Lock = field(default_factory=asyncio.Lock)

    def __post_init__(self) -> None:
        self.told = self.used

    def ask(self) -> None:
        """Be allowed one more call. Raises BudgetSpent."""
        if self.used + self.others >= self.tokens:
            # No figures: what stands beside verdicts is the same whoever came to the cap.
            raise BudgetSpent("the cap on tokens leaves no room for it")

    def enter(self, tokens: int, model: str) -> None:
        """Enter what an answered call of a model used, as its server counts."""
        self.used += tokens
        self.keep(self)
        if not tokens and model not in self.uncounted:
            self.uncounted.add(model)
            self.warn(
                f"the server of {model} counts no tokens: the cap of {self.tokens:,} "
                "(--max-tokens) cannot hold for its calls; cap them with --max-calls"
            )


class CappedChatModel:
    """A chat model that is asked as long as there is an allowance."""

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
        """One completion. Raises BudgetSpent, and what the model raises."""
        self._allowance.ask()
        completion = await self._model.complete(messages, decoding, schema, affinity)
        usage = completion.usage
        self._allowance.enter(usage.prompt + usage.completion, self.identity.label)
        return completion

    async def close(self) -> None:
        await self._model.close()


def capped(model: ChatModel, allowance: Allowance | None) -> ChatModel:
    """The model, asked as long as there is an allowance where there is one."""
    return model if allowance is None else CappedChatModel(model, allowance)


class SharedAllowances:
    """The allowances of capped runs, counted together by all who work on them:

        runs/<id>/spent/<start>/<who>.json   what one of them used

    Nobody waits for another. So a cap is passed by the calls in flight, and by what the others
    used for jobs that they have not finished; what a process used that was killed in the middle
    of a job is lost. `who` is a name that no other process has; `warn` is told what a cap cannot
    hold.
    """

    def __init__(self, store: ObjectStore, who: str, warn: Callable[[str], None]) -> None:
        self._store, self._who, self._warn = store, f"{who}.json", warn
        # All that anybody holds, so that no start of a run is ever counted twice.
        self._counted: WeakValueDictionary[_Start, Allowance] = WeakValueDictionary()
        self._kept: OrderedDict[_Start, Allowance] = OrderedDict()

    async def of(self, job: CaptionJob | ExamineJob) -> Allowance | None:
        """What is left for a job by what everybody told, None for any number of tokens.

        Raises StoreUnavailable or StoreFull.
        """
        run, cap = job.run, job.cap
        if cap is None:
            return None
        start = run, cap.start
        # Held while the store is asked: what is forgotten now might be told after that was read.
        counted = self._counted.get(start)
        used = await self._read(run, cap)
        own = used.pop(self._who, 0)
        # Another job may have opened it in the meantime.
        counted = counted or self._counted.get(start)
        if counted is None:
            counted = Allowance(cap.tokens, own, partial(self._keep, start), self._warn)
            self._counted[start] = counted
        self._keep(start, counted)
        counted.others = max(counted.others, sum(used.values()))
        await self._forget()
        return counted

    def _keep(self, start: _Start, counted: Allowance) -> None:
        self._kept[start] = counted
        self._kept.move_to_end(start)

    async def _forget(self) -> None:
        """Forget the starts that were not used for the longest, each once it is told."""
        while len(self._kept) > _RUNS:
            start, counted = next(iter(self._kept.items()))
            await self._tell(start, counted)
            if counted.used == counted.told:
                self._kept.pop(start, None)

    async def tell(self, job: CaptionJob | ExamineJob) -> None:
        """Let the others know what was used here. Raises StoreUnavailable or StoreFull."""
        if job.cap is not None:
            start = job.run, job.cap.start
            if (counted := self._counted.get(start)) is not None:
                await self._tell(start, counted)

    async def _tell(self, start: _Start, counted: Allowance) -> None:
        async with counted.telling:
            used = counted.used
            if used > counted.told:
                run, number = start
                place = _place(number) + self._who
                await write_json(run_store(self._store, run), place, tokens=used)
                counted.told = used

    async def _read(self, run: str, cap: TokenCap) -> dict[str, int]:
        """What everybody told, by who they are."""
        kept, place = run_store(self._store, run), _place(cap.start)
        found = {}
        async for key in kept.list(place):
            written = await read_json(kept, key)
            found[key.removeprefix(place)] = 0 if written is None else int(written["tokens"])
        return found


def _place(start: int) -> str:
    return f"spent/{start}/"
