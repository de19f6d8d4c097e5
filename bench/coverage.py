"""How often intervals hold the true value where few of 900 media are mentioned."""

from __future__ import annotations

import numpy as np
from tests.fakes.few_hits import AVERAGED, Coverage, Task, coverage, coverage_of_average

MEDIA = 900
HITS = (2, 5, 20, 100)
RIGHT = (0.9, 0.97)
DRAWS = 300


def main() -> None:
    """A row a case: of one run, and of the difference of two that are alike."""
    print("| right | hits expected | figure | one run | width | two runs | width | p < 0.05 |")
    print("|---|---|---|---|---|---|---|---|")
    for right in RIGHT:
        for hits in HITS:
            for metric in ("precision", "f1"):
                found = coverage(
                    np.random.default_rng(hits), Task(hits / MEDIA, right, MEDIA), metric, DRAWS
                )
                _print(f"{right} | {hits} | {metric}", found)
    for metric in ("precision", "f1"):
        found = coverage_of_average(np.random.default_rng(5), AVERAGED, metric, DRAWS // 3)
        _print(f"(see text) | about 3 in three of eight tasks | average {metric}", found)


def _print(case: str, found: Coverage) -> None:
    told = (
        f"{held.held / held.draws:.1%} | {held.width / held.draws:.1f}"
        for held in (found.alone, found.apart)
    )
    print(f"| {case} | {' | '.join(told)} | {found.clear / found.apart.draws:.1%} |", flush=True)
