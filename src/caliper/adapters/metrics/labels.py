"""All metric labels with their values. docs/metrics.md is generated from this module."""

from __future__ import annotations

from dataclasses import dataclass

from caliper.benchmarks.registry import all_names
from caliper.core.outcome import Reason
from caliper.pipeline.live.gauges import Scope
from caliper.pipeline.planning.publisher import (
    CAPTION_JOBS,
    JUDGE_JOBS,
    PLAN_JOBS,
    QA_JOBS,
    RUNS,
    VERDICTS,
)
from caliper.ports.security_events import Refusal, Signature
from caliper.ports.telemetry import JobEnd, Window


@dataclass(frozen=True, slots=True)
class Label:
    """A label with its values and their meaning. If it is `closed`, there are no other values."""

    name: str
    values: tuple[str, ...]
    meaning: str
    closed: bool = False


LABELS = (
    Label(
        "model",
        (),
        f"the checkpoint's name (`unnamed` without one); {Scope().models} at most: a further model "
        "replaces the one whose latest run started first",
    ),
    Label("team", (), "of the run's first owner; empty without teams"),
    Label("suite", (), "of those that `caliper suite run` was given, or an installation has"),
    Label("benchmark", all_names(), "", closed=True),
    Label(
        "dimension",
        (),
        "from the score's path in report.json: `OCR` for `tasks.OCR.f1`, `average` for "
        "`average.f1`, `overall` for `s_unified`, `qa_on_image/natural` for questions asked on the "
        "media. Categories below a domain are only in reports",
    ),
    Label(
        "metric",
        (),
        "last part of that path: `f1`, `score`, `s_unified`. Counts and spreads over repeats are "
        "only in reports",
    ),
    Label("window", tuple(map(str, Window)), "see [below](#windows)", closed=True),
    Label(
        "bound",
        ("low", "high"),
        "both or neither: no interval where the media do not show how much the score would vary",
        closed=True,
    ),
    Label("peer", ("kafka", "store", "model"), "", closed=True),
    Label("state", ("planned", "scored", "unscored", "open"), "", closed=True),
    Label(
        "stage",
        ("gateway", "captioner", "judge", "qa_reader", "aggregator"),
        "the aggregator appears only in `caliper_consumer_lag`",
        closed=True,
    ),
    Label(
        "endpoint",
        (),
        "the model's name, with a number if it has several endpoints (`judge-model/2`); never a "
        "URL. Empty for retried jobs",
    ),
    Label("judge", (), "the model that judged the anchors; `lexical-rules` without a model"),
    Label(
        "outcome",
        ("scored", "unscored", *map(str, JobEnd), "ok"),
        "two for verdicts, three for jobs; calls have `ok` or an error such as `backend_timeout`",
    ),
    Label(
        "reason",
        tuple(str(reason) for reason in Reason if reason is not Reason.NOT_DRAWN),
        "of unscored verdicts; retries and dead letters have an error such as "
        "`backend_overloaded`, or `internal` for a defect; refused calls a status such as "
        f"`permission_denied`, refused messages one such as `{Refusal.FORGED}`",
    ),
    Label("signature", tuple(map(str, Signature)), "", closed=True),
    Label(
        "topic",
        (PLAN_JOBS, CAPTION_JOBS, JUDGE_JOBS, QA_JOBS, VERDICTS, RUNS),
        "dead letters: the job's topic; lag: the topic that is read",
        closed=True,
    ),
    Label("partition", (), "its number, from 0; for jobs those assigned to this process"),
    Label("method", ("unknown",), "or `EvaluateService/StartEvaluation`"),
    Label("kind", ("prompt", "completion", "cached"), "", closed=True),
    Label("version", (), "as `caliper --version` prints it"),
)
