"""Prints how often comparisons that stop are wrong at the margin, and the calls that they save.

`python -m bench sequential`; PATHS sets the number of simulated paths of a case. RUNS, folders of
complete runs separated by commas, the baseline first, has their recorded verdicts drawn anew
instead; MARGIN is in points, MEASURE how a figure is computed (f1 for CAPability).
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from bench.sequential.paths import simulate
from bench.sequential.questions import ALPHA, Controls, Scenario
from bench.sequential.recorded_pair import RecordedPair, RedrawnErrors, redraw_pair
from caliper.analysis.sequential import spent_alpha
from caliper.analysis.sequential.measure import Measure

_PATHS = 10_000
_SHARE_FOR_SAVINGS = 5
BASE = Scenario("average of 13 tasks", gain=-0.01)
RARE = replace(BASE, size=1000, gain=-0.005, margin=0.005, changed=0.005)
ERRORS = (
    *(replace(BASE, name=str(each), controls=each) for each in Controls),
    replace(BASE, name="F1", measure=Measure.F1),
    replace(BASE, name="judge flips 3%, 300 repeats", flips=0.03),
    replace(RARE, name="only losses, 0.5%"),
    replace(RARE, name="only losses, 0.5%, paired", controls=Controls.NONE),
    replace(RARE, name="only losses, 1%", gain=-0.01, margin=0.01, changed=0.01),
    replace(BASE, name="media of 1 to 30 questions", strata=4, size=2000, most=30),
    replace(BASE, name="one task of 500", strata=1, size=500, gain=-0.03, margin=0.03),
    replace(BASE, name="30% reused", reused=0.3),
    replace(BASE, name="13 task checks at 5 points too", task_margin=0.05),
    replace(BASE, name="2nd checkpoint, alarms: suite", alarm=spent_alpha(ALPHA, 2)),
)
"""Cases whose true drop is the margin: a regression and a pass are both errors."""
GAINS = (-0.06, -0.03, -0.02, 0.0, 0.02)
WAYS = (
    replace(BASE, name="early stop", controls=Controls.NONE),
    replace(BASE, name="+ baseline regression", controls=Controls.BASELINE),
    replace(BASE, name="+ rules"),
    replace(BASE, name="+ 30% reused", reused=0.3),
    replace(BASE, name="+ alarms: suite, 10th checkpoint", alarm=spent_alpha(ALPHA, 10)),
    replace(BASE, name="+ rules on the baseline's captions", controls=Controls.BASELINE_RULES),
    replace(BASE, name="with 13 task checks at 5 points, + rules", task_margin=0.05),
    replace(BASE, name="  the same, no stratum closed", task_margin=0.05, closes=False),
)


def main() -> None:
    """Print errors at the margin, then calls saved by true difference and by cause."""
    paths = int(os.environ.get("PATHS", _PATHS))
    if runs := os.environ.get("RUNS"):
        redraws(*map(Path, runs.split(",")), paths=paths)
        return
    print(f"errors at the margin, {paths:,} paths a case, bound {ALPHA:.0%} each")
    for seed, scenario in enumerate(ERRORS):
        found = simulate(scenario, paths, seed)
        print(
            f"{scenario.name:32} false alarms {found.regressed:6.2%}  "
            f"false passes {found.passed:6.2%}",
            flush=True,
        )
    fewer = max(1, paths // _SHARE_FOR_SAVINGS)
    print(f"calls saved against full runs, {fewer:,} paths a case; margin 1 point")
    for scenario in WAYS:
        saved = []
        for gain in GAINS:
            found = simulate(replace(scenario, gain=gain), fewer, 99)
            right = found.passed if gain > -scenario.margin else found.regressed
            saved.append(f"{100 * gain:+.0f}: {found.saved:5.1%} ({right:.1%} right)")
        print(f"{scenario.name:40} {', '.join(saved)}", flush=True)


def redraws(base: Path, *candidates: Path, paths: int) -> None:
    """Print errors at the margin in redraws of recorded verdicts."""
    margin = float(os.environ.get("MARGIN", "1"))
    measure = Measure(os.environ.get("MEASURE", "mean"))
    print(f"{paths:,} redraws of {base.name} and others, shifted to a drop of {margin:g} points")
    for candidate in candidates:
        pair = RecordedPair.read(base, candidate)
        print_errors(candidate.name, redraw_pair(pair, margin / 100, measure, ALPHA, paths))


def print_errors(name: str, errors: RedrawnErrors) -> None:
    """Print the errors of one pair."""
    print(
        f"  {name:11} difference {100 * errors.difference:+5.2f}, {errors.changed:5.1%} changed: "
        f"false alarms {errors.alarms:5.2%}, false passes {errors.passes:5.2%}",
        flush=True,
    )
