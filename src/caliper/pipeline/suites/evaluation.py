"""The evaluation of an entry to a result, on its suite's account and under watch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

from caliper.core.checkpoints import CheckpointEntry
from caliper.core.entry_states import MOST_ATTEMPTS, MOST_CRASHES, EntryCause
from caliper.core.errors import (
    BackendError,
    BackendRejected,
    CaliperError,
    LeaseLost,
    RunInUse,
    StoreUnavailable,
)
from caliper.core.spending import Spending
from caliper.core.suites import Suite
from caliper.pipeline.suites.accounts import SuiteAccounts, limits_of
from caliper.pipeline.suites.baselines import BaselineChoice
from caliper.pipeline.suites.claims import EntryClaim
from caliper.pipeline.suites.evaluation_watch import EntrySkipped, EvaluationWatch, SourceLost
from caliper.ports.clock import Clock
from caliper.ports.storage import ObjectStore

_GIVEN_UP = (EntryCause.LOSS, EntryCause.FAILURE, EntryCause.SKIP)


@dataclass(frozen=True, slots=True)
class EntryResult:
    """The result for an entry: the cause of its next state, and the fields to set."""

    cause: EntryCause
    fields: Mapping[str, Any] = field(default_factory=dict)


class CheckpointEvaluator(Protocol):
    """Evaluates a checkpoint and compares it with its baseline. `spent` is the cost of the
    evaluation that ended last, however it ended.
    """

    spent: Spending

    async def evaluate(
        self, suite: Suite, claim: EntryClaim, baseline: BaselineChoice
    ) -> EntryResult:
        """Evaluate to the end, resuming what an earlier process began, and note progress in the
        claim.

        Raises BackendError for a later retry; StoreUnavailable, which ends the loop; any other
        CaliperError, which fails the entry.
        """
        ...

    async def abandon(self, entry: CheckpointEntry) -> None:
        """End remote work for an entry that nobody evaluates any more. Raises StoreUnavailable."""
        ...

    async def after(self, suite: Suite, entries: Sequence[CheckpointEntry]) -> None:
        """Remove what the suite does not keep, now that one of these entries was decided."""
        ...


class EntryEvaluation:
    """Evaluates entries."""

    def __init__(
        self,
        store: ObjectStore,
        clock: Clock,
        evaluator: CheckpointEvaluator,
        watch: EvaluationWatch,
    ) -> None:
        self._store, self._clock = store, clock
        self._evaluator, self._watch = evaluator, watch

    async def result(
        self, suite: Suite, claim: EntryClaim, choice: BaselineChoice, estimate: Spending
    ) -> EntryResult:
        """Evaluate an entry on the suite's account. Raises StoreUnavailable, LeaseLost."""
        accounts = SuiteAccounts(self._store, self._clock, suite.name)
        month, refusal = await accounts.begin(claim.entry, limits_of(suite), estimate)
        if refusal:
            return EntryResult(EntryCause.BUDGET, {"reason": refusal})
        self._evaluator.spent = Spending()
        try:
            result = await self._outcome(suite, claim, choice)
            if result.cause in _GIVEN_UP:
                await self._evaluator.abandon(claim.entry)
            return result
        finally:
            with suppress(StoreUnavailable):
                await accounts.end(claim.entry, month, self._evaluator.spent)

    async def _outcome(
        self, suite: Suite, claim: EntryClaim, choice: BaselineChoice
    ) -> EntryResult:
        entry = claim.entry
        if entry.crashes >= MOST_CRASHES:
            reason = f"{entry.crashes} loops crashed while evaluating it"
            return EntryResult(EntryCause.FAILURE, {"reason": reason})
        try:
            work = partial(self._evaluator.evaluate, suite, claim, choice)
            return await self._watch.over(suite, claim, work)
        except (SourceLost, EntrySkipped) as error:
            return EntryResult(error.cause, {"reason": str(error)})
        except (StoreUnavailable, LeaseLost):
            raise
        except BackendRejected as error:
            return EntryResult(EntryCause.FAILURE, {"reason": str(error)})
        except (BackendError, RunInUse) as error:
            attempts = entry.attempts + 1
            cause = EntryCause.FAILURE if attempts >= MOST_ATTEMPTS else EntryCause.TROUBLE
            return EntryResult(cause, {"reason": str(error), "attempts": attempts})
        except CaliperError as error:
            return EntryResult(EntryCause.FAILURE, {"reason": str(error)})
