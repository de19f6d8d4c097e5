# ruff: noqa: INP001 - a standalone script
"""Write docs/metrics.md from the catalogue of metrics; with --check, report whether it is up to
date.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable

from generation import ROOT, written

from caliper.adapters.metrics.catalogue import (
    SCORE_METRICS,
    SERVICE_METRICS,
    STAGE_METRICS,
    SUITE_METRICS,
    Metric,
)
from caliper.adapters.metrics.labels import LABELS, Label
from caliper.pipeline.live.gauges import Scope
from caliper.pipeline.live.windows import MAX_SAMPLES

PAGE = ROOT / "docs" / "metrics.md"
_INTRODUCTION = """# Metrics

<!-- Written by tools/metrics_reference.py from the code. Do not edit: run `make docs`. -->

Every service serves Prometheus metrics at `/metrics`, over plain HTTP without tokens, on a port of
its own ([`METRICS_ADDRESS`](services.md#settings)), by default on this machine only. They hold
names and scores of checkpoints, but no captions. `caliper serve` serves those of all stages:

    CALIPER_GATEWAY_METRICS_ADDRESS=127.0.0.1:9464 caliper serve
    curl http://127.0.0.1:9464/metrics"""


def page() -> str:
    """The whole page."""
    blocks = [
        _INTRODUCTION,
        "## Aggregator",
        _table(SCORE_METRICS),
        "## Stages",
        _table(STAGE_METRICS),
        "## All services",
        _table(SERVICE_METRICS),
        "## `caliper suite run --metrics`",
        _table(SUITE_METRICS),
        "## Labels",
        _labels(),
        "## Windows",
        _windows(),
    ]
    return "\n\n".join(blocks) + "\n"


def _table(metrics: Iterable[Metric]) -> str:
    rows = ["| metric | type | labels | meaning |", "|---|---|---|---|"]
    rows += [
        f"| `{metric.name}` | {metric.type} | {', '.join(metric.labels)} | {metric.help} |"
        for metric in metrics
    ]
    return "\n".join(rows)


def _labels() -> str:
    return "\n".join(f"- {label.name}: {_values(label)}" for label in LABELS)


def _values(label: Label) -> str:
    return "; ".join(filter(None, (", ".join(map("`{}`".format, label.values)), label.meaning)))


def _windows() -> str:
    scope = Scope()
    return f"""- `run`: the model's latest run.
- `last`: the last judged samples, with {scope.last} scored verdicts between them.
- `hour`: the samples of the last hour, at most {MAX_SAMPLES:,}.

`last` and `hour` follow the broker's time, span the runs of a model, and start empty when the
aggregator restarts. An average appears once every planned task or domain has scores. Scores are
updated every {scope.pace:g} s, or less often under load."""


if __name__ == "__main__":
    sys.exit(written({PAGE: page()}, sys.argv[1:]))
