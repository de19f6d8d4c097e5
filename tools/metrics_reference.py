# ruff: noqa: INP001 - a script beside the package, imported by nobody
"""Write docs/metrics.md from the catalogue of metrics, or with --check say whether it is up to
date.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable

from generated import ROOT, written

from caliper.adapters.metrics.catalogue import (
    SCORE_METRICS,
    SERVICE_METRICS,
    STAGE_METRICS,
    Metric,
    Type,
)
from caliper.adapters.metrics.labels import LABELS, Label
from caliper.pipeline.gauges import Scope
from caliper.pipeline.windows import MOST

PAGE = ROOT / "docs" / "metrics.md"
_INTRODUCTION = """# Metrics

<!-- Written by tools/metrics_reference.py from the code. Do not edit: run `make docs`. -->

Every service serves its metrics for Prometheus at `/metrics`, over plain HTTP without tokens, on a
port of its own: `METRICS_ADDRESS` ([services.md](services.md#settings)), on this machine alone
unless it is set. `caliper serve` serves those of all stages together
(`CALIPER_GATEWAY_METRICS_ADDRESS`). Whoever can reach that port can read the names of checkpoints
and their scores, and no captions.

    CALIPER_GATEWAY_METRICS_ADDRESS=127.0.0.1:9464 caliper serve
    curl http://127.0.0.1:9464/metrics

What that looks like in a run is in [observed.md](observed.md). Metrics are telemetry: nothing that
a report says is taken from them."""


def page() -> str:
    """The whole page."""
    blocks = [
        _INTRODUCTION,
        "## Of the aggregator",
        _table(SCORE_METRICS),
        "## Of every stage",
        _table(STAGE_METRICS),
        "## Of every service",
        _table(SERVICE_METRICS),
        "## Buckets",
        _buckets(),
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


def _buckets() -> str:
    histograms = [
        metric for metric in (*SCORE_METRICS, *STAGE_METRICS) if metric.type is Type.HISTOGRAM
    ]
    rows = (
        f"| `{metric.name}` | {', '.join(f'{bound:g}' for bound in metric.buckets)} |"
        for metric in histograms
    )
    return "\n".join(["| histogram | upper bounds in seconds |", "|---|---|", *rows])


def _labels() -> str:
    rows = (f"| {label.name} | {_values(label)} |" for label in LABELS)
    return "\n".join(["| label | values |", "|---|---|", *rows])


def _values(label: Label) -> str:
    return "; ".join(filter(None, (", ".join(map("`{}`".format, label.values)), label.meaning)))


def _windows() -> str:
    scope = Scope()
    return f"""`run` is the model's latest started run, taken from its ledger. `last` are the
samples that were judged last and hold {scope.last} scored verdicts between them, `hour` those of
the last hour, {MOST:,} samples at most; both go by the broker's time, ties by partition and
offset, and span the runs of a model. A sample counts with all its verdicts: those about one
picture are not independent. After a restart of the aggregator `last` and `hour` fill again from
what comes.

Scores are looked at every {scope.pace:g} s, and less often when looking takes longer: never for
more than half of the time."""


if __name__ == "__main__":
    sys.exit(written({PAGE: page()}, sys.argv[1:]))
