"""Measures how often intervals cover the true value if few of 900 media are mentioned."""

from __future__ import annotations

import numpy as np
from tests.fakes.few_hits import AVERAGED, Coverage, Task, coverage, coverage_of_average

MEDIA = 900
HITS = (2, 5, 20, 100)
RIGHT = (0.9, 0.97)
DRAWS = 300


def main() -> None:
    """Print one row per case: for one run, and for the difference of two equal runs."""
    print("| right | hits expected | figure | one run | width | two runs | width | p < 0.05 |")
    print("|---|---|---|---|---|---|---|---|")
    for right in RIGHT:
        for hits in HITS:
            for metric in ("precision", "f1"):
                result = coverage(
                    np.random.default_rng(hits), Task(hits / MEDIA, right, MEDIA), metric, DRAWS
                )
                _print(f"{right} | {hits} | {metric}", result)
    for metric in ("precision", "f1"):
        result = coverage_of_average(np.random.default_rng(5), AVERAGED, metric, DRAWS // 3)
        _print(f"(see text) | about 3 in three of eight tasks | average {metric}", result)


def _print(case: str, result: Coverage) -> None:
    cells = (
        f"{one.held / one.draws:.1%} | {one.width / one.draws:.1f}"
        for one in (result.alone, result.apart)
    )
    print(f"| {case} | {' | '.join(cells)} | {result.clear / result.apart.draws:.1%} |", flush=True)
