"""`caliper gate --aa`: tries a policy on a run and its replicate."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from math import sqrt

from rich.markup import escape

from caliper.adapters.phrases import checked_figure
from caliper.analysis.gate import Policy
from caliper.analysis.sequential import REDRAWS
from caliper.analysis.sequential.strata import DRIFT_LEVEL
from caliper.cli.console import OUT, write_json
from caliper.cli.exits import Exit
from caliper.cli.tables import text_table
from caliper.local.directory import find_run
from caliper.pipeline.comparing.replicates import CheckTrial, try_policy

_COLUMNS = ("questions", "changed", "drift p", "alarms", "alarms at margin", "passes at margin")


def try_on_replicate(runs: tuple[str, str], policy: Policy, *, json: bool) -> Exit:
    """Show how often the checks would be wrong, by redrawing both runs' verdicts.

    Exit code 1 if a check is wrong more often than the policy's level, by more than chance; 3 if a
    check could not be tried, or the judge has drifted; else 0. Raises what `try_policy` raises.
    """
    first, second = (find_run(name).stored_run for name in runs)
    trials = asyncio.run(try_policy((first, second), policy, REDRAWS))
    if json:
        write_json({"redraws": REDRAWS, "checks": [asdict(trial) for trial in trials]})
    else:
        _show(trials)
    bound = policy.level + 3 * sqrt(policy.level * (1 - policy.level) / REDRAWS)
    if any(_most_errors(trial) > bound for trial in trials):
        return Exit.NO
    unsure = any(one.redraws is None or one.redraws.drift < DRIFT_LEVEL for one in trials)
    return Exit.INCONCLUSIVE if unsure else Exit.DONE


def _most_errors(trial: CheckTrial) -> float:
    redraws = trial.redraws
    if redraws is None:
        return 0.0
    return max(redraws.alarms, redraws.alarms_at_margin, redraws.passes_at_margin)


def _show(trials: list[CheckTrial]) -> None:
    grid = text_table(["check"], _COLUMNS)
    for trial in trials:
        name, redraws = escape(checked_figure(trial.check.benchmark, trial.figure)), trial.redraws
        if redraws is None:
            grid.add_row(f"{name} [dim]{escape(trial.reason)}[/dim]")
            continue
        shares = (redraws.alarms, redraws.alarms_at_margin, redraws.passes_at_margin)
        counts = f"{redraws.questions:,}", f"{redraws.changed:,}", f"{redraws.drift:.4f}"
        grid.add_row(name, *counts, *(f"{share:.1%}" for share in shares))
    OUT.print(grid)
