"""The ends of runs: which are due, and the steps to a report and an announced end."""

from __future__ import annotations

from caliper.core.errors import InvalidInput
from caliper.core.messages import RunEnded
from caliper.core.run import RunState
from caliper.pipeline.aggregation.outlets import Bounds, Outlets
from caliper.pipeline.aggregation.run_table import RunTable
from caliper.pipeline.ledger.run_ledger import RunLedger
from caliper.pipeline.reports.report_attempts import ReportAttempts
from caliper.pipeline.reports.report_files import ReportFiles
from caliper.pipeline.store.runs import is_cancelled
from caliper.ports.clock import Clock
from caliper.ports.telemetry import Step, StepEnded

_LOOK = 2.0
"""Seconds between reads of the cancellations in the store."""


class Conclusion:
    """Ends the runs of a table that are due."""

    def __init__(
        self, table: RunTable, clock: Clock, files: ReportFiles, outlets: Outlets, bounds: Bounds
    ) -> None:
        self._table, self._clock, self._files = table, clock, files
        self._outlets, self._bounds = outlets, bounds
        self._looked_at = -_LOOK
        self._attempts = ReportAttempts()

    async def conclude(self) -> None:
        """End every run that is due or cancelled.

        The store holds the cancellations. They are read every two seconds, and before a run fails,
        so that a cancellation always prevails. Raises StoreUnavailable, StoreFull, or what
        `announce` raises; call it again then.
        """
        look = self._clock.monotonic() - self._looked_at >= _LOOK
        self._looked_at = self._clock.monotonic() if look else self._looked_at
        for run in self._table:
            may_ask = run.jobs_left or bool(run.spec.judging)
            if self._table.idle_seconds(run) >= self._bounds.idle and not may_ask:
                # The retried questions were answered before the plan that retries them, or are
                # lost: stop waiting for them.
                run.retries.clear()
            fails = run.due_state is RunState.FAILED and not (run.is_broken or run.end_is_current)
            if (look and run.due_state is None) or (fails and self._may_end(run)):
                await self._read_cancellation(run)
            advance = self._outlets.advance
            if run.due_state is None and run.spec.judging and advance is not None:
                try:
                    await advance(run)
                except Exception as error:  # noqa: BLE001 - told apart there
                    self._table.blame(run, error)
            if run.is_due and self._may_end(run):
                await self._end(run)

    async def _read_cancellation(self, run: RunLedger) -> None:
        # Before the cancellation: it does not apply to a start that is planned meanwhile.
        start = run.current_start
        try:
            if await is_cancelled(run.store):
                run.cancel(start)
                run.active_at = self._clock.monotonic()
        except InvalidInput as error:
            self._table.fail(run, error)

    def _may_end(self, run: RunLedger) -> bool:
        if run.heals and run.jobs_left and not run.is_broken:
            return False
        early = run.due_state is not RunState.FINISHED or run.heals
        if early and not run.is_broken and self._table.idle_seconds(run) < self._bounds.quiet:
            return False
        # An end is reported at once; only better outcomes of the same end wait.
        return not run.end_is_current or self._table.rolling.may_run(f"{run.run}/report")

    async def _end(self, run: RunLedger) -> None:
        ending, changes = run.due_state, run.ledger.changes
        if ending is None:
            return
        # Evidence first: if end.json exists, so does all evidence behind the report.
        await run.log.flush()
        if all(each is not run for each in self._table):
            # It was planned again meanwhile, and reopened.
            return
        result = await self._write(run, ending)
        if result is None:
            return
        if ending is RunState.FINISHED:
            run.heals = False
        outcomes = run.ledger.digest()
        now = self._clock.now()
        await run.write_end(result, outcomes, now)
        run.reported_changes = changes
        if run.announced_end != result:
            state, report = result
            error = run.error if state is RunState.FAILED else ""
            event = RunEnded(run.run, state, error, report)
            await self._outlets.announce(event)
            self._table.note_end(event)
            await run.write_end(result, outcomes, now)

    async def _write(self, run: RunLedger, ending: RunState) -> tuple[RunState, str] | None:
        """Write the report. Returns its state and digest, or None if the run changed meanwhile."""
        if not run.is_broken:
            try:
                spending = self._table.rolling.charge(f"{run.run}/report", alone=True)
                started = self._clock.monotonic()
                async with self._attempts.begin(run) as pictures:
                    result = await self._files.write(
                        run, ending, self._table.live, spending, pictures=pictures
                    )
            except Exception as error:  # noqa: BLE001 - told apart there
                self._table.blame(run, error)
            else:
                seconds = self._clock.monotonic() - started
                self._outlets.telemetry.record(StepEnded(run.run, Step.REPORT, seconds))
                return result if run.due_state is ending else None
        return RunState.FAILED, ""
