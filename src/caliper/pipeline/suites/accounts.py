"""The monthly spending of a suite, and the order of its comparisons.

suites/<name>/spending/<YYYY-MM>.json       each checkpoint's cost, and its claim's reservation
suites/<name>/comparisons/<version>.json    the revisions that were compared, in order

An evaluation reserves its estimate before it begins, and counts in the month in which it began. A
killed one counts with its estimate, since its cost is unknown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import isfinite
from typing import Any

from caliper.core.checkpoints import CheckpointEntry
from caliper.core.errors import InvalidInput
from caliper.core.spending import Spending, describe_cost, describe_spending, mean_spending
from caliper.core.suites import Suite
from caliper.pipeline.store.changes import Fields, change_json
from caliper.pipeline.store.runs import read_replaceable
from caliper.ports.clock import Clock
from caliper.ports.storage import ObjectStore

_KINDS = ("calls", "tokens", "money")
_RECENT = 5
"""An estimate is the mean of this many last checkpoints."""


def judged_entries(entries: Sequence[CheckpointEntry]) -> list[CheckpointEntry]:
    """Those that were judged, in the order in which they ended."""
    judged = (each for each in entries if not each.is_open and each.asked + each.reused)
    return sorted(judged, key=lambda each: each.since)


def expected_spending(entries: Sequence[CheckpointEntry]) -> Spending:
    """The estimate for one more checkpoint: the mean of the last ones that were judged, nothing
    before the first.
    """
    ended = judged_entries(entries)
    return mean_spending([Spending(one.calls, one.tokens, one.money) for one in ended[-_RECENT:]])


def rest_spending(baseline: CheckpointEntry | None) -> Spending:
    """The estimate for the questions that the run of a baseline left out: they are asked before
    another checkpoint is compared with it.
    """
    if baseline is None or not baseline.is_decided or not baseline.calls:
        return Spending()
    share = baseline.saved / baseline.calls
    return Spending(baseline.saved, round(baseline.tokens * share), baseline.money * share)


@dataclass(frozen=True, slots=True)
class AccountTotals:
    """The amounts a suite spent and reserved in a month, and for how many checkpoints."""

    month: str
    spent: Spending
    reserved: Spending
    checkpoints: int

    @property
    def used(self) -> Spending:
        """The amounts spent or reserved."""
        return self.spent + self.reserved


@dataclass(frozen=True, slots=True)
class MonthlyAccount:
    """A suite's spending in a month, by checkpoint; `reserved` is for running evaluations."""

    month: str
    spent: Mapping[str, Spending]
    reserved: Mapping[str, Spending]

    @property
    def totals(self) -> AccountTotals:
        """The account without its checkpoints."""
        spent, reserved = (sum(each.values(), Spending()) for each in (self.spent, self.reserved))
        return AccountTotals(self.month, spent, reserved, len(self.spent))

    def refusal(self, limits: Mapping[str, float], estimate: Spending) -> str:
        """Why one more checkpoint has to wait; empty if it need not."""
        used = self.totals.used
        for kind, limit in limits.items():
            so_far = getattr(used, kind)
            if so_far < limit and so_far + getattr(estimate, kind) <= limit:
                continue
            reason = f"budget of {self.month}: {describe_spending(kind, so_far, limit)} used"
            if so_far < limit:
                about = describe_cost(estimate.to_json(), [kind])
                reason += f", and a checkpoint takes about {about}"
            return f"{reason}; goes on {self._end}"
        return ""

    @property
    def _end(self) -> str:
        first = datetime.strptime(f"{self.month}-01 +0000", "%Y-%m-%d %z")
        return f"{(first + timedelta(days=31)).replace(day=1):%Y-%m-%d}"

    @classmethod
    def from_json(cls, month: str, fields: Mapping[str, Any]) -> MonthlyAccount:
        """The account in a month's object; empty for a damaged one."""
        try:
            columns = (
                {key: Spending.from_json(one) for key, one in dict(fields.get(name, {})).items()}
                for name in ("spent", "reserved")
            )
            return cls(month, *columns)
        except (TypeError, ValueError, AttributeError):
            return cls(month, {}, {})


class SuiteAccounts:
    """The accounts of a suite in a store. Its methods raise StoreUnavailable."""

    def __init__(self, store: ObjectStore, clock: Clock, suite: str) -> None:
        self._store, self._clock = store, clock
        self._prefix = f"suites/{suite}/"

    async def present(self) -> MonthlyAccount:
        """The account of this month."""
        month = f"{self._clock.now():%Y-%m}"
        return MonthlyAccount.from_json(
            month, await read_replaceable(self._store, self._key(month))
        )

    def _key(self, month: str) -> str:
        return f"{self._prefix}spending/{month}.json"

    async def begin(
        self, entry: CheckpointEntry, limits: Mapping[str, float], estimate: Spending
    ) -> tuple[str, str]:
        """Reserve the estimate for an evaluation. Returns the month that it counts in, and why it
        has to wait, if it must.
        """
        month, refusals = f"{self._clock.now():%Y-%m}", list[str]()

        def reserve(fields: Fields) -> Fields:
            account = MonthlyAccount.from_json(month, fields)
            refusals[:] = [account.refusal(limits, estimate)]
            if refusals[0]:
                return fields
            # The estimate of a killed attempt stays.
            before = [key for key in account.reserved if key.rpartition("/")[0] == _name(entry)]
            killed = sum((account.reserved[key] for key in before), Spending())
            others = {key: one for key, one in account.reserved.items() if key not in before}
            return _posted(account, entry, killed, {**others, _claim(entry): estimate})

        await change_json(self._store, self._key(month), reserve)
        return month, refusals[0]

    async def end(self, entry: CheckpointEntry, month: str, cost: Spending) -> None:
        """Replace an evaluation's estimate by its cost."""

        def settle(fields: Fields) -> Fields:
            account = MonthlyAccount.from_json(month, fields)
            reserved = dict(account.reserved)
            # Another loop may have claimed it meanwhile, and paid this one's estimate.
            if reserved.pop(_claim(entry), None) is None:
                return fields
            return _posted(account, entry, cost, reserved)

        await change_json(self._store, self._key(month), settle)

    async def comparison_number(self, version: str, revision: str) -> int:
        """The lasting place of a checkpoint, from 1, among those compared in a version."""

        def enter(fields: Fields) -> Fields:
            order = list(fields.get("order", ()))
            return fields if revision in order else {"order": [*order, revision]}

        key = f"{self._prefix}comparisons/{version}.json"
        fields = await change_json(self._store, key, enter)
        return int(fields["order"].index(revision)) + 1


def limits_of(suite: Suite) -> Mapping[str, float]:
    """The most that a suite may spend in a month, by kind; empty for no limit. Raises InvalidInput
    for values that somebody applied by other means than a file.
    """
    limits, place = suite.values.get("month", {}), f"suite {suite.name}"
    if not isinstance(limits, Mapping):
        raise InvalidInput("expected limits by kind", file=place, field="budget.month")
    for kind, limit in limits.items():
        if kind not in _KINDS or type(limit) not in (int, float) or not isfinite(limit):
            message = f"expected a number of {', '.join(_KINDS)}"
            raise InvalidInput(message, file=place, field=f"budget.month.{kind}")
    return limits


def _name(entry: CheckpointEntry) -> str:
    return f"{entry.version}/{entry.checkpoint.revision}"


def _claim(entry: CheckpointEntry) -> str:
    return f"{_name(entry)}/{entry.claims}"


def _posted(
    account: MonthlyAccount,
    entry: CheckpointEntry,
    cost: Spending,
    reserved: Mapping[str, Spending],
) -> Fields:
    name, spent = _name(entry), dict(account.spent)
    spent[name] = spent.get(name, Spending()) + cost
    return {
        "spent": {key: one.to_json() for key, one in spent.items()},
        "reserved": {key: one.to_json() for key, one in reserved.items()},
    }
