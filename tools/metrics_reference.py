# ruff: noqa: INP001 - a script beside the package, imported by nobody
"""Write docs/metrics.md from the catalogue of metrics, or with --check say whether it is up to
date.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from caliper.adapters.metrics.catalogue import BUILD, SCORE_METRICS, STAGE_METRICS, Metric, Type
from caliper.core.outcome import Reason
from caliper.pipeline.gauges import Scope
from caliper.pipeline.windows import MOST
from caliper.ports.telemetry import JobEnd, Window

PAGE = Path(__file__).parents[1] / "docs" / "metrics.md"
_INTRODUCTION = """# Metrics

<!-- Written by tools/metrics_reference.py from the code. Do not edit: run `make docs`. -->

Every service serves its metrics for Prometheus at `/metrics`, over plain HTTP without tokens, on a
port of its own: `METRICS_ADDRESS` ([services.md](services.md#settings)), on this machine alone
unless it is set. `caliper serve` serves those of all stages together
(`CALIPER_GATEWAY_METRICS_ADDRESS`). Whoever can reach that port can read the names of checkpoints
and their scores, and no captions.

    CALIPER_GATEWAY_METRICS_ADDRESS=127.0.0.1:9464 caliper serve
    curl http://127.0.0.1:9464/metrics

Metrics are telemetry: nothing that a report says is taken from them."""


def page() -> str:
    """The whole page."""
    blocks = [
        _INTRODUCTION,
        "## Of the aggregator",
        _table(SCORE_METRICS),
        "## Of every stage",
        _table((*STAGE_METRICS, BUILD)),
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
    told = {
        "model": f"the checkpoint's name, that of its runs; {Scope().models} at most, and the one "
        "whose latest run started first disappears with all its series when another comes",
        "benchmark": "capability, captionqa, comprecap",
        "dimension, metric": "from the figure's place in report.json: `tasks.ocr.f1` is f1 of ocr, "
        "`average.f1` f1 of average, `s_unified` that of overall. Counts, spreads over repeats and "
        "categories below a domain are in reports alone",
        "window": ", ".join(Window),
        "bound": "low, high; there is none where a figure has no interval",
        "state": "planned, scored, unscored",
        "stage": "gateway, captioner, judge, qa_reader, aggregator",
        "endpoint": "the name of the model, with the number of the endpoint where it has several "
        "(`judge-model/2`); never a URL. Empty for retries of jobs",
        "outcome": "of verdicts scored, unscored; of jobs "
        f"{', '.join(JobEnd)}; of calls ok, or the error",
        "reason": f"of unscored verdicts {', '.join(Reason)}; of retries and dead letters the "
        "error, such as `backend_overloaded`; `internal` for defects",
        "kind": "prompt, completion, cached",
    }
    rows = (f"| {name} | {meaning} |" for name, meaning in told.items())
    return "\n".join(["| label | values |", "|---|---|", *rows])


def _windows() -> str:
    scope = Scope()
    return f"""`run` is the model's latest started run, taken from its ledger. `last` are the
samples that were judged last and hold {scope.last} scored verdicts between them, `hour` those of
the last hour, {MOST:,} samples at most; both go by the broker's time, ties by partition and
offset, and span the runs of a model. A sample counts with all its verdicts: those about one
picture are not independent. After a restart of the aggregator `last` and `hour` fill again
from what comes.

Scores are looked at every {scope.pace:g} s, and less often when looking takes longer: never for
more than half of the time."""


def main(arguments: list[str]) -> int:
    """Write the page; with --check return 1 if it would change, 2 for anything else."""
    if arguments not in ([], ["--check"]):
        sys.stderr.write("usage: metrics_reference.py [--check]\n")
        return 2
    written = page()
    if not arguments:
        PAGE.write_text(written, encoding="utf-8")
        return 0
    if PAGE.exists() and PAGE.read_text(encoding="utf-8") == written:
        return 0
    sys.stderr.write(f"{PAGE.name} is not what the code says; run `make docs`\n")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
