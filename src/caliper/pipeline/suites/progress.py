"""How far the evaluation of a checkpoint is, as its loop notes in the lease."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from caliper.pipeline.store.runs import read_replaceable
from caliper.pipeline.suites.registry import StoredEntry, SuiteRegistry

_SILENCE = 60.0
"""Seconds after which nobody seems to evaluate what somebody claimed."""

# Of a damaged lease, more would not fit into messages.
_LONGEST, _MOST = 64, 1 << 53


@dataclass(frozen=True, slots=True)
class EntryProgress:
    """What the loop noted last, at the time `seen`, empty if nothing yet: `done` of `whole`
    questions have an outcome, or samples in another `phase`; `whole` is 0 if it is not known.
    `is_stuck`: it has noted nothing for so long that it seems to be gone.
    """

    revision: str
    seen: str = ""
    done: int = 0
    whole: int = 0
    phase: str = ""
    is_stuck: bool = False


async def read_progress(registry: SuiteRegistry, stored: StoredEntry) -> EntryProgress:
    """The progress of an entry that is evaluated. Raises StoreUnavailable."""
    lease, entry = await read_replaceable(registry.store, stored.lease_key), stored.entry
    seen, phase = (str(lease.get(name) or "")[:_LONGEST] for name in ("seen", "phase"))
    done, whole = (_count(lease.get(name)) for name in ("done", "whole"))
    # A lease without a time is that of a loop that has just taken the entry.
    since = _seconds_since(registry, seen or entry.claimed or entry.since)
    return EntryProgress(entry.checkpoint.revision, seen, done, whole, phase, since > _SILENCE)


def _count(value: Any) -> int:
    return value if type(value) is int and 0 <= value < _MOST else 0


def _seconds_since(registry: SuiteRegistry, time: str) -> float:
    try:
        return (registry.clock.now() - datetime.fromisoformat(time)).total_seconds()
    except (TypeError, ValueError):
        return float("inf")
