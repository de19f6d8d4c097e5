"""Every label of a metric, and what its values are. docs/metrics.md is written from here."""

from __future__ import annotations

from dataclasses import dataclass

from caliper.benchmarks.registry import NAMES
from caliper.core.outcome import Reason
from caliper.pipeline.gauges import Scope
from caliper.pipeline.publish import CAPTION_JOBS, JUDGE_JOBS, PLAN_JOBS, QA_JOBS, RUNS, VERDICTS
from caliper.ports.telemetry import JobEnd, Window


@dataclass(frozen=True, slots=True)
class Label:
    """A label: values that it takes, which are all of them where it is `closed`, and what they
    mean.
    """

    name: str
    values: tuple[str, ...]
    meaning: str
    closed: bool = False


LABELS = (
    Label(
        "model",
        (),
        f"the checkpoint's name, that of its runs (`unnamed` without one); {Scope().models} at "
        "most, and the one whose latest run started first disappears with all its series when "
        "another comes",
    ),
    Label("benchmark", NAMES, "", closed=True),
    Label(
        "dimension",
        (),
        "from the figure's place in report.json: `OCR` of `tasks.OCR.f1`, `average` of "
        "`average.f1`, `overall` of `s_unified`; `qa_on_image/natural` of questions from the "
        "media. Categories below a domain are in reports alone",
    ),
    Label(
        "metric",
        (),
        "the last word of that place: `f1`, `score`, `s_unified`. Counts and spreads over repeats "
        "are in reports alone",
    ),
    Label("window", tuple(map(str, Window)), "see [below](#windows)", closed=True),
    Label(
        "bound",
        ("low", "high"),
        "both or neither: there is no interval where media do not tell how much a figure would "
        "vary, as a single one does not, or a ratio that is the same without any of them",
        closed=True,
    ),
    Label("state", ("planned", "scored", "unscored"), "", closed=True),
    Label(
        "stage",
        ("gateway", "captioner", "judge", "qa_reader", "aggregator"),
        "the aggregator takes no jobs: of these metrics it has `caliper_consumer_lag` alone",
        closed=True,
    ),
    Label(
        "endpoint",
        (),
        "the name of the model, with the number of the endpoint where it has several "
        "(`judge-model/2`); never a URL. Empty for retries of jobs",
    ),
    Label(
        "judge",
        (),
        "the name of the model that judged or read the anchors, however many endpoints it has; "
        "`lexical-rules` where rules do",
    ),
    Label(
        "outcome",
        ("scored", "unscored", *map(str, JobEnd), "ok"),
        "the first two of verdicts, the next of jobs; of calls `ok`, or the error, such as "
        "`backend_timeout`",
    ),
    Label(
        "reason",
        tuple(map(str, Reason)),
        "these of unscored verdicts; of retries and dead letters the error, such as "
        "`backend_overloaded`; `internal` for defects",
    ),
    Label(
        "topic",
        (PLAN_JOBS, CAPTION_JOBS, JUDGE_JOBS, QA_JOBS, VERDICTS, RUNS),
        "of dead letters the topic that the job was on; of lag the one that is read, the last two "
        "by the aggregator",
        closed=True,
    ),
    Label(
        "partition",
        (),
        "its number, from 0; as many as the topic has (`caliper topics apply --partitions`), and "
        "of jobs those that this process has been given",
    ),
    Label("kind", ("prompt", "completion", "cached"), "", closed=True),
    Label("version", (), "that of the package, as `caliper --version` prints it"),
)
