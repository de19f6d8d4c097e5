"""Chooses the baseline of a checkpoint among the others of its suite.

The order is that of training steps, not of arrival: a late checkpoint is compared with the one
before it in training, and one that waits for it keeps its place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from caliper.benchmarks.base import Better
from caliper.benchmarks.registry import benchmark
from caliper.core.checkpoints import CheckpointEntry
from caliper.core.suites import Baseline, BaselineKind


@dataclass(frozen=True, slots=True)
class BaselineChoice:
    """The baseline, None if there is none. `is_pending`: it is unknown yet, because another entry
    is still open. `missing` says why there is none although the rule names one.
    """

    entry: CheckpointEntry | None = None
    is_pending: bool = False
    missing: str = ""


def choose_baseline(
    rule: Baseline, entry: CheckpointEntry, entries: Sequence[CheckpointEntry]
) -> BaselineChoice:
    """The baseline of `entry` among all entries of its version of the suite, by training step."""
    if rule.kind is BaselineKind.PINNED:
        return _pinned(rule.name, entry, entries)
    earlier = [each for each in entries if each.order < entry.order]
    if rule.kind is BaselineKind.TAG:
        earlier = [each for each in earlier if rule.name in each.checkpoint.tags]
    if any(each.is_open for each in earlier):
        return BaselineChoice(is_pending=True)
    named = rule.kind is BaselineKind.TAG
    able = [each for each in earlier if is_able(each) or (named and each.is_decided)]
    if not able:
        return BaselineChoice()
    return BaselineChoice(best_entry(able) if rule.kind is BaselineKind.BEST else able[-1])


def is_able(entry: CheckpointEntry) -> bool:
    """Whether later checkpoints are compared with an entry without naming it: it was judged in
    full, or is surely better than its own baseline. One as good as that leaves it in place.
    """
    return entry.is_complete or (entry.is_decided and entry.is_improved)


def _pinned(
    name: str, entry: CheckpointEntry, entries: Sequence[CheckpointEntry]
) -> BaselineChoice:
    matches = [each for each in entries if each.checkpoint.revision.startswith(name)]
    if any(each.checkpoint == entry.checkpoint for each in matches):
        return BaselineChoice()
    if len(matches) != 1:
        return BaselineChoice(missing=f"{len(matches)} checkpoints have the pinned revision {name}")
    (pinned,) = matches
    if pinned.is_open:
        return BaselineChoice(is_pending=True)
    if not (pinned.is_complete or pinned.is_decided):
        return BaselineChoice(missing=f"the pinned {pinned.checkpoint.label} is {pinned.state}")
    return BaselineChoice(pinned)


def best_entry(entries: Sequence[CheckpointEntry]) -> CheckpointEntry:
    """The entry with the best headline of the first benchmark; the later of equal ones."""

    def rank(entry: CheckpointEntry) -> tuple[float, tuple[float, str, str]]:
        first = entry.headline
        if first is None:
            return float("-inf"), entry.order
        better = benchmark(first.benchmark).direction(tuple(first.path.split(".")))
        return (-first.value if better is Better.LESS else first.value), entry.order

    return max(entries, key=rank)
