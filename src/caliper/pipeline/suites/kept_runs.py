"""The runs that suites keep when old ones are removed."""

from __future__ import annotations

from collections.abc import Sequence

from caliper.core.checkpoints import CheckpointEntry
from caliper.core.errors import InvalidInput, UnknownName
from caliper.core.suites import BaselineKind, Suite, SuiteState
from caliper.pipeline.suites.baselines import best_entry, is_able
from caliper.pipeline.suites.registry import SuiteRegistry
from caliper.ports.clock import Clock
from caliper.ports.storage import DeletableStore


def kept_runs(suite: Suite, entries: Sequence[CheckpointEntry]) -> set[str]:
    """The runs of the last `keep` checkpoints, of open ones, and of those that are or may become a
    baseline: the best, the last, the one before an open one, the tagged and the pinned one. Runs of
    earlier versions of the suite go before those of the current one.
    """
    every = [each for each in entries if each.run and not each.is_open]
    ended = [each for each in every if each.version == suite.version]
    earlier = [each for each in every if each.version != suite.version]
    kept = [each for each in every if each.checkpoint.tags]
    if suite.keep is not None:
        kept += (earlier + ended)[-suite.keep :]
    if able := [each for each in ended if is_able(each)]:
        kept += [best_entry(able), able[-1]]
    for late in (each for each in entries if each.is_open):
        kept += [each for each in able if each.order < late.order][-1:]
    if suite.baseline.kind is BaselineKind.PINNED:
        pin = suite.baseline.name
        kept += [each for each in ended if each.checkpoint.revision.startswith(pin)]
    return {each.run for each in kept} | {each.run for each in entries if each.is_open}


async def runs_of_suites(store: DeletableStore, clock: Clock) -> frozenset[str]:
    """The runs that the suites in a store keep: of a retired suite none, of a damaged one all.
    Raises StoreUnavailable.
    """
    registry, kept = SuiteRegistry(store, clock), set[str]()
    for name in await registry.names():
        entries = [each.entry for each in (await registry.entries(name))[0]]
        try:
            record = await registry.record(name)
        except UnknownName:
            continue
        except InvalidInput:
            kept |= {each.run for each in entries}
            continue
        if record.state is not SuiteState.RETIRED:
            kept |= kept_runs(record.suite, entries)
    return frozenset(kept)
