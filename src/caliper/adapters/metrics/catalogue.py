"""All metrics, with names, help texts and labels. docs/metrics.md is generated from this module.

Label values come from closed or configured sets, never from runs, items or URLs. The label `model`
has at most as many values as there are watched models.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class MetricType(StrEnum):
    """Prometheus metric types."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric. `buckets` are the upper bounds of a histogram, in seconds."""

    name: str
    type: MetricType
    help: str
    labels: tuple[str, ...] = ()
    buckets: tuple[float, ...] = ()


_DURATION_BUCKETS = (
    0.005,
    0.02,
    0.05,
    0.1,
    0.25,
    0.5,
    1.0,
    2.5,
    5.0,
    10.0,
    30.0,
    60.0,
    120.0,
    300.0,
    600.0,
)
_FRESHNESS_BUCKETS = (0.1, 0.25, 0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 7.5, 10.0, 30.0, 60.0, 300.0)

SCORE = Metric(
    "caliper_score",
    MetricType.GAUGE,
    "A score in the paper's unit: of the model's latest run (run), its last scored verdicts "
    "(last) or the last hour (hour)",
    ("model", "benchmark", "dimension", "metric", "window"),
)
SCORE_BOUND = Metric(
    "caliper_score_bound",
    MetricType.GAUGE,
    "Low or high end of the score's 95% interval",
    ("model", "benchmark", "dimension", "metric", "window", "bound"),
)
QUESTIONS = Metric(
    "caliper_questions",
    MetricType.GAUGE,
    "Planned, scored and unscored questions of the model's latest run",
    ("model", "benchmark", "state"),
)
RUN_STARTED = Metric(
    "caliper_run_started_timestamp_seconds",
    MetricType.GAUGE,
    "When the model's latest run started",
    ("model",),
)
VERDICTS = Metric(
    "caliper_verdicts_total",
    MetricType.COUNTER,
    "New verdicts, by whether they are scored",
    ("model", "benchmark", "outcome"),
)
UNSCORED = Metric(
    "caliper_unscored_total",
    MetricType.COUNTER,
    "Verdicts without a score, by reason",
    ("model", "benchmark", "reason"),
)
FRESHNESS = Metric(
    "caliper_freshness_seconds",
    MetricType.HISTOGRAM,
    "Time from a verdict's broker timestamp until the scores include it",
    (),
    _FRESHNESS_BUCKETS,
)
APPLIED = Metric(
    "caliper_aggregator_applied_timestamp_seconds",
    MetricType.GAUGE,
    "Broker timestamp of the newest record that the aggregator applied",
)
SNAPSHOT = Metric(
    "caliper_snapshot_timestamp_seconds",
    MetricType.GAUGE,
    "When the aggregator last wrote a snapshot",
)
RETRIES = Metric(
    "caliper_retries_total",
    MetricType.COUNTER,
    "Retried calls, and retried jobs (endpoint empty), by error",
    ("stage", "endpoint", "reason"),
)
TOKENS = Metric(
    "caliper_tokens_total",
    MetricType.COUNTER,
    "Tokens as the endpoint counts them; prompt tokens include the cached ones",
    ("stage", "endpoint", "kind"),
)
CACHED = Metric(
    "caliper_cached_replies_total",
    MetricType.COUNTER,
    "Replies taken from the store",
    ("stage",),
)
ASKED = Metric(
    "caliper_asked_replies_total",
    MetricType.COUNTER,
    "Replies requested from a model because the store had none",
    ("stage",),
)
DEAD_LETTERS = Metric(
    "caliper_dead_letters_total",
    MetricType.COUNTER,
    "Jobs set aside, by topic and error",
    ("topic", "reason"),
)
REBALANCES = Metric(
    "caliper_rebalances_total",
    MetricType.COUNTER,
    "Times that partitions were assigned to a worker of the stage or revoked",
    ("stage",),
)
JOB_SECONDS = Metric(
    "caliper_job_seconds",
    MetricType.HISTOGRAM,
    "Time from taking a job off its topic until it was done, put back after a wait (retried) or "
    "set aside (dead_letter)",
    ("stage", "outcome"),
    _DURATION_BUCKETS,
)
BACKEND_SECONDS = Metric(
    "caliper_backend_seconds",
    MetricType.HISTOGRAM,
    "Duration of one call to a model's endpoint, by ok or error",
    ("stage", "endpoint", "outcome"),
    _DURATION_BUCKETS,
)
JOBS_IN_FLIGHT = Metric(
    "caliper_jobs_in_flight",
    MetricType.GAUGE,
    "Jobs that the stage has taken and not finished",
    ("stage",),
)
LAG = Metric(
    "caliper_consumer_lag",
    MetricType.GAUGE,
    "Messages of a partition that the stage has not finished, as far as it knows",
    ("stage", "topic", "partition"),
)
GATE_LIMIT = Metric(
    "caliper_gate_limit",
    MetricType.GAUGE,
    "Calls that an endpoint's gate allows at once; 0 while it sends only single probes",
    ("endpoint",),
)
GATE_IN_FLIGHT = Metric(
    "caliper_gate_in_flight", MetricType.GAUGE, "Calls in flight to an endpoint", ("endpoint",)
)
ANCHOR = Metric(
    "caliper_anchor_agreement",
    MetricType.GAUGE,
    "Share of the judged anchors that got the known verdict, 0 to 1",
    ("judge", "benchmark"),
)
BUILD = Metric(
    "caliper_build_info", MetricType.GAUGE, "1, with Caliper's version as a label", ("version",)
)
CERTIFICATE = Metric(
    "caliper_certificate_expiry_timestamp_seconds",
    MetricType.GAUGE,
    "When the service's TLS certificate expires, as read at its start; 0 without TLS",
)

STAGE_METRICS = (
    JOB_SECONDS,
    BACKEND_SECONDS,
    RETRIES,
    TOKENS,
    CACHED,
    ASKED,
    DEAD_LETTERS,
    REBALANCES,
    JOBS_IN_FLIGHT,
    LAG,
    GATE_LIMIT,
    GATE_IN_FLIGHT,
)
SCORE_METRICS = (
    SCORE,
    SCORE_BOUND,
    QUESTIONS,
    RUN_STARTED,
    VERDICTS,
    UNSCORED,
    FRESHNESS,
    APPLIED,
    SNAPSHOT,
    ANCHOR,
)
SERVICE_METRICS = (BUILD, CERTIFICATE)
METRICS = (*SCORE_METRICS, *STAGE_METRICS, *SERVICE_METRICS)
