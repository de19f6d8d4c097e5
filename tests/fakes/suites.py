"""Suites, checkpoints and an evaluator for tests of the registry and the loop."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from caliper.core.checkpoints import CheckpointEntry, CheckpointRevision, EntryFigure
from caliper.core.entry_states import EntryCause
from caliper.core.spending import Spending
from caliper.core.suites import Baseline, Suite
from caliper.pipeline.suites.baselines import BaselineChoice
from caliper.pipeline.suites.claims import EntryClaim
from caliper.pipeline.suites.evaluation import EntryResult
from caliper.ports.serving import Trace


def suite(
    name: str = "nightly", version: str = "a" * 16, baseline: str = "previous", **values: Any
) -> Suite:
    return Suite(name, version, Baseline.parse(baseline), {"run": {}, **values})


def checkpoint(step: int | None, **fields: Any) -> CheckpointRevision:
    """The checkpoint of a step, whose revision ends with it."""
    name = f"step-{step}"
    given = {"source": f"/checkpoints/{name}", "revision": f"rev{step}", "name": name, "step": step}
    return CheckpointRevision(**{**given, **fields})


async def drop(_: Trace) -> None:
    """A note that nobody keeps."""


class FakeEvaluator:
    """Passes every checkpoint that has a baseline. `evaluated` lists (suite, name, baseline);
    each attempt takes `cost`. `errors` are raised for a name, one at each attempt, before it
    passes. `done` is set when `wanted` checkpoints were evaluated.
    """

    def __init__(self, headlines: Callable[[str], float] = lambda _: 50.0) -> None:
        self.evaluated: list[tuple[str, str, str]] = []
        self.abandoned: list[str] = []
        self.errors: dict[str, list[Exception]] = {}
        self.hold: asyncio.Event | None = None
        self.began, self.done = asyncio.Event(), asyncio.Event()
        self.wanted = 0
        self.cost = self.spent = Spending()
        self._headlines = headlines

    async def evaluate(
        self, suite: Suite, claim: EntryClaim, baseline: BaselineChoice
    ) -> EntryResult:
        entry = claim.entry
        name = entry.checkpoint.name
        base = baseline.entry.checkpoint.name if baseline.entry else ""
        self.began.set()
        self.spent = self.cost
        if self.hold is not None:
            await self.hold.wait()
        if errors := self.errors.get(name):
            raise errors.pop(0)
        self.evaluated.append((suite.name, name, base))
        if "serve" in suite.values:
            await claim.note_server()
        await claim.note_run(f"{name}-run")
        figure = EntryFigure("capability", "average.f1", self._headlines(name), is_headline=True)
        fields = {"figures": (figure,), "is_complete": True, "run": f"{name}-run", "asked": 10}
        fields |= self.spent.to_json()
        return EntryResult(EntryCause.SUCCESS if base else EntryCause.NO_GATE, fields)

    async def abandon(self, entry: CheckpointEntry) -> None:
        self.abandoned.append(entry.checkpoint.name)

    async def after(self, suite: Suite, entries: Sequence[CheckpointEntry]) -> None:
        if len(self.evaluated) == self.wanted:
            self.done.set()
