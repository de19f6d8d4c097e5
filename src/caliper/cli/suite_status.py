"""The status of a suite of this folder or of an installation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from caliper.analysis.significance import LEVEL
from caliper.core.checkpoints import CheckpointEntry
from caliper.core.entry_states import EntryState
from caliper.core.spending import describe_cost, describe_spending
from caliper.core.suites import Suite
from caliper.local.notify import TOPIC_NAME
from caliper.local.serve_config import suite_serving
from caliper.local.suite_config import suite_policy
from caliper.pipeline.suites.accounts import (
    AccountTotals,
    expected_spending,
    judged_entries,
    limits_of,
)
from caliper.pipeline.suites.progress import EntryProgress
from caliper.wiring.clock import SystemClock

if TYPE_CHECKING:
    from caliper.adapters.remote.suites import RemoteSuites
    from caliper.pipeline.suites.administration import Administration

_MOST_WAITING = 5


async def suite_status(
    book: Administration | RemoteSuites,
    suite: Suite,
    slots: Mapping[str, Any],
) -> dict[str, Any]:
    """The state of a suite; `slots` are those that suites share, by name."""
    listing = await book.entries([suite.name])
    entries, plan = listing.entries, suite_serving(suite.values)
    counts = Counter(str(entry.state) for entry in entries)
    if listing.unreadable:
        counts["unreadable"] = len(listing.unreadable)
    ended = [entry for entry in entries if not entry.is_open]
    last = max(ended, key=lambda entry: entry.since, default=None)
    running = (each for each in entries if each.state is EntryState.EVALUATING)
    progress, records = await book.progress(suite.name), await book.notices(suite.name)
    slot = slots.get(plan.place) if plan else None
    # Those of the suite's slot and of the server's.
    queue = [label for each in slots.values() for label in each["queue"]]
    targets = [*suite.values.get("notify", {}), TOPIC_NAME]
    return {
        "checkpoints": dict(counts),
        "evaluating": [entry.checkpoint.label for entry in running],
        **under_way(entries, progress, queue),
        "calls": sum(entry.calls for entry in entries),
        "tokens": sum(entry.tokens for entry in entries),
        "saved": sum(entry.saved for entry in entries),
        "reused": sum(entry.reused for entry in entries),
        "slot": slot,
        "last": "" if last is None else f"{last.checkpoint.name} {last.state}",
        "month": _month(suite, await book.account(suite.name), entries),
        "alarms": _alarms(suite, entries),
        "undelivered": sum(bool(record.undelivered(targets)) for record in records),
    }


def _month(
    suite: Suite, account: AccountTotals, entries: Sequence[CheckpointEntry]
) -> dict[str, Any]:
    return {
        "month": account.month,
        "used": account.used.to_json(),
        "spent": account.spent.to_json(),
        "reserved": account.reserved.to_json(),
        "limit": limits_of(suite),
        # Before the first one, nobody knows.
        "estimate": expected_spending(entries).to_json() if judged_entries(entries) else None,
        "checkpoints": account.checkpoints,
    }


def _alarms(suite: Suite, entries: Sequence[CheckpointEntry]) -> dict[str, Any] | None:
    """How many comparisons in sequence regressed, and how many would by chance at the margin."""
    if "judging" not in suite.values:
        return None
    policy = suite_policy(suite)
    level = LEVEL if policy is None else policy.level
    compared = [entry for entry in entries if entry.findings]
    times = min(len(compared), 1) if "alarms" in suite.values else len(compared)
    return {
        "compared": len(compared),
        "regressed": sum(entry.state is EntryState.REGRESSED for entry in compared),
        "expected": level * times,
    }


def under_way(
    entries: Sequence[CheckpointEntry], progress: Sequence[EntryProgress], queue: Sequence[str]
) -> dict[str, Any]:
    """The running checkpoints with their start and progress, the waiting and the stuck ones.
    `queue` are the suites and checkpoints that wait for a slot.
    """
    by_revision = {each.revision: each for each in progress}
    running, waiting, stuck = [], [], []
    for entry in entries:
        label = entry.checkpoint.label
        if entry.state is EntryState.EVALUATING:
            revision, since = entry.checkpoint.revision, entry.claimed or entry.since
            evaluation = by_revision.get(revision, EntryProgress(revision))
            phase = "waiting for a slot" if f"{entry.suite} {label}" in queue else evaluation.phase
            about = {"seen": evaluation.seen, "done": evaluation.done, "whole": evaluation.whole}
            running.append({"checkpoint": label, "since": since, **about, "phase": phase})
            if evaluation.is_stuck:
                last_seen = (evaluation.seen or since)[:19]
                stuck.append(f"{label}: no loop has evaluated it since {last_seen} UTC")
        elif entry.is_open:
            about = {"state": entry.state, "since": entry.since, "reason": entry.reason}
            waiting.append({"checkpoint": label, **about})
    return {"running": running, "waiting": waiting, "stuck": stuck}


def status_lines(status: Mapping[str, Any]) -> Iterator[str]:
    """Lines about the checkpoints `under_way`, for people."""
    name, now = status["suite"], SystemClock().now()
    for each in status["running"]:
        minutes = (now - datetime.fromisoformat(each["since"])).total_seconds() / 60
        yield f"{name}: evaluating {each['checkpoint']} for {minutes:,.0f} min{_how_far(each)}"
    if waiting := status["waiting"]:
        labels = (f"{each['checkpoint']}{_why(each)}" for each in waiting[:_MOST_WAITING])
        more = len(waiting) - _MOST_WAITING
        yield f"{name}: waiting {', '.join(labels)}" + (f" and {more:,} more" if more > 0 else "")
    for text in status["stuck"]:
        yield f"{name}: stuck {text}"


def _how_far(each: Mapping[str, Any]) -> str:
    phase, counts = each["phase"], f"{each['done']:,} of {each['whole']:,}"
    if not each["whole"]:
        return f", {phase}" if phase else ""
    return f", {phase} {counts}" if phase else f", {counts} questions"


def _why(each: Mapping[str, Any]) -> str:
    return f" ({each['reason']})" if each["reason"] else ""


def budget_lines(status: Mapping[str, Any]) -> Iterator[str]:
    """Lines about the budget of the month, and about the alarms that chance may raise."""
    name, month, alarms = status["suite"], status["month"], status["alarms"]
    if month and month["limit"]:
        used = (
            describe_spending(kind, month["used"][kind], limit)
            for kind, limit in month["limit"].items()
        )
        estimate = "an unknown number"
        if month["estimate"] is not None:
            estimate = f"about {describe_cost(month['estimate'], month['limit'])}"
        line = f"{name}: {', '.join(used)} used in {month['month']}"
        line += f" by {month['checkpoints']} checkpoints"
        if any(month["reserved"].values()):
            line += f", {describe_cost(month['reserved'], month['limit'])} of it reserved"
        yield f"{line}; one more takes {estimate}"
    if alarms:
        line = f"{name}: {alarms['regressed']} regressed in {alarms['compared']} comparisons"
        yield f"{line}; by chance at most {alarms['expected']:.2g} if none is worse than the margin"
