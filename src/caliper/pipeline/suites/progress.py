"""The progress of a checkpoint's evaluation, as its loop notes in the lease."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from caliper.pipeline.store.runs import read_replaceable
from caliper.pipeline.suites.registry import StoredEntry, SuiteRegistry

_SILENCE = 60.0
"""Seconds of silence after which a claim seems abandoned."""

# More, from a damaged lease, would not fit into messages.
_LONGEST, _MOST = 64, 1 << 53


@dataclass(frozen=True, slots=True)
class EntryProgress:
    """The loop's last note, of the time `seen`, empty if there is none yet: `done` of `whole`
    questions have an outcome, or samples in another `phase`; `whole` is 0 if unknown.
    `is_stuck`: the last note is so old that the loop seems to be gone.
    """

    revision: str
    seen: str = ""
    done: int = 0
    whole: int = 0
    phase: str = ""
    is_stuck: bool = False


async def read_progress(registry: SuiteRegistry, stored: StoredEntry) -> EntryProgress:
    """The progress of an entry under evaluation. Raises StoreUnavailable."""
    lease, entry = await read_replaceable(registry.store, stored.lease_key), stored.entry
    seen, phase = (str(lease.get(name) or "")[:_LONGEST] for name in ("seen", "phase"))
    done, whole = (_count(lease.get(name)) for name in ("done", "whole"))
    # A lease without a time belongs to a loop that has just taken the entry.
    since = _seconds_since(registry, seen or entry.claimed or entry.since)
    return EntryProgress(entry.checkpoint.revision, seen, done, whole, phase, since > _SILENCE)


def _count(value: Any) -> int:
    return value if type(value) is int and 0 <= value < _MOST else 0


def _seconds_since(registry: SuiteRegistry, time: str) -> float:
    try:
        return (registry.clock.now() - datetime.fromisoformat(time)).total_seconds()
    except (TypeError, ValueError):
        return float("inf")
