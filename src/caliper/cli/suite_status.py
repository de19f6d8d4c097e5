"""What `caliper suite status` says of the checkpoints that wait, and that are evaluated."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from caliper.core.checkpoints import CheckpointEntry
from caliper.core.entry_states import EntryState
from caliper.local.suite_runs import suite_store
from caliper.pipeline.store.runs import read_replaceable
from caliper.pipeline.suites.registry import StoredEntry
from caliper.wiring.clock import SystemClock

_SHOWN = 5
_SILENCE = 60.0
"""Seconds after which nobody seems to evaluate what somebody claimed."""


async def under_way(entries: Sequence[CheckpointEntry], *, local: bool) -> dict[str, Any]:
    """What waits, what is evaluated since when and how far, and what is stuck. How far is known of
    local entries only.
    """
    now = SystemClock().now()
    running, waiting, stuck = [], [], []
    for entry in entries:
        label = entry.checkpoint.label
        if entry.state is EntryState.EVALUATING:
            key = StoredEntry(entry, None).lease_key
            lease = await read_replaceable(suite_store(), key) if local else {}
            known = {name: lease.get(name) for name in ("seen", "done", "whole", "phase")}
            running.append({"checkpoint": label, "since": entry.claimed or entry.since, **known})
            if local and _silence(lease, now) > _SILENCE:
                seen = str(lease.get("seen") or entry.since)[:19]
                stuck.append(f"{label}: no loop has evaluated it since {seen} UTC")
        elif entry.is_open:
            about = {"state": entry.state, "since": entry.since, "reason": entry.reason}
            waiting.append({"checkpoint": label, **about})
    return {"running": running, "waiting": waiting, "stuck": stuck}


def _silence(lease: Mapping[str, Any], now: datetime) -> float:
    try:
        return (now - datetime.fromisoformat(lease["seen"])).total_seconds()
    except (KeyError, TypeError, ValueError):
        return float("inf")


def status_lines(status: Mapping[str, Any]) -> Iterator[str]:
    """Lines for people about a suite whose `under_way` is known."""
    name, now = status["suite"], SystemClock().now()
    for each in status["running"]:
        minutes = (now - datetime.fromisoformat(each["since"])).total_seconds() / 60
        yield f"{name}: evaluating {each['checkpoint']} for {minutes:,.0f} min{_how_far(each)}"
    if waiting := status["waiting"]:
        labels = (f"{each['checkpoint']}{_why(each)}" for each in waiting[:_SHOWN])
        more = len(waiting) - _SHOWN
        yield f"{name}: waiting {', '.join(labels)}" + (f" and {more:,} more" if more > 0 else "")
    for text in status["stuck"]:
        yield f"{name}: stuck {text}"


def _how_far(each: Mapping[str, Any]) -> str:
    if not each["whole"]:
        return ""
    counts = f"{each['done']:,} of {each['whole']:,}"
    return f", {each['phase']} {counts}" if each["phase"] else f", {counts} questions"


def _why(each: Mapping[str, Any]) -> str:
    return f" ({each['reason']})" if each["reason"] else ""
