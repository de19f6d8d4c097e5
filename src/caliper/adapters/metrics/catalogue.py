"""All metrics, with names, help texts and labels. docs/metrics.md is generated from this module.

Label values come from closed or configured sets, never from runs, items or URLs. The labels `model`
and `team` have at most as many pairs of values as there are watched models.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import partial


class MetricType(StrEnum):
    """Prometheus metric types."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric. `buckets` are the upper bounds of a histogram, in seconds."""

    type: MetricType
    name: str
    help: str
    labels: tuple[str, ...] = ()
    buckets: tuple[float, ...] = ()


_DURATION_BUCKETS = (0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600)
_FRESHNESS_BUCKETS = (0.1, 0.25, 0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 7.5, 10.0, 30.0, 60.0, 300.0)

_counter = partial(Metric, MetricType.COUNTER)
_gauge = partial(Metric, MetricType.GAUGE)
_histogram = partial(Metric, MetricType.HISTOGRAM)

SCORE = _gauge(
    "caliper_score",
    "A score in the paper's unit: of the model's latest run (run), its last scored verdicts "
    "(last) or the last hour (hour)",
    ("model", "team", "benchmark", "dimension", "metric", "window"),
)
SCORE_BOUND = _gauge(
    "caliper_score_bound",
    "Low or high end of the score's 95% interval",
    ("model", "team", "benchmark", "dimension", "metric", "window", "bound"),
)
QUESTIONS = _gauge(
    "caliper_questions",
    "Planned, scored and unscored questions of the model's latest run, and those still open",
    ("model", "team", "benchmark", "state"),
)
RUN_STARTED = _gauge(
    "caliper_run_started_timestamp_seconds",
    "When the model's latest run started",
    ("model", "team"),
)
VERDICTS = _counter(
    "caliper_verdicts_total",
    "New verdicts, by whether they are scored",
    ("model", "team", "benchmark", "outcome"),
)
UNSCORED = _counter(
    "caliper_unscored_total",
    "Verdicts without a score, by reason",
    ("model", "team", "benchmark", "reason"),
)
FRESHNESS = _histogram(
    "caliper_freshness_seconds",
    "Time from a verdict's broker timestamp until the scores include it",
    (),
    _FRESHNESS_BUCKETS,
)
APPLIED = _gauge(
    "caliper_aggregator_applied_timestamp_seconds",
    "Broker timestamp of the record that the aggregator applied last",
)
SNAPSHOT = _gauge("caliper_snapshot_timestamp_seconds", "When the aggregator last wrote a snapshot")
RETRIES = _counter(
    "caliper_retries_total",
    "Retried calls, and retried jobs (endpoint empty)",
    ("stage", "endpoint", "reason"),
)
TOKENS = _counter(
    "caliper_tokens_total",
    "Tokens as the endpoint counts them; prompt tokens include the cached ones",
    ("stage", "endpoint", "kind"),
)
CACHED = _counter("caliper_cached_replies_total", "Replies taken from the store", ("stage",))
REQUESTED = _counter(
    "caliper_asked_replies_total",
    "Replies requested from a model",
    ("stage",),
)
UNVERIFIED = _counter(
    "caliper_unverified_replies_total",
    "Stored objects not used because of their signature",
    ("signature",),
)
REFUSED_MESSAGES = _counter(
    "caliper_refused_messages_total",
    "Verdicts and events not entered; the log names the sender",
    ("topic", "reason"),
)
DEAD_LETTERS = _counter("caliper_dead_letters_total", "Jobs set aside", ("topic", "reason"))
REBALANCES = _counter(
    "caliper_rebalances_total",
    "Times that a worker's partitions were assigned or revoked",
    ("stage",),
)
JOB_SECONDS = _histogram(
    "caliper_job_seconds",
    "Time from taking a job off its topic until it was done, put back after a wait (retried) or "
    "set aside (dead_letter)",
    ("stage", "outcome"),
    _DURATION_BUCKETS,
)
BACKEND_SECONDS = _histogram(
    "caliper_backend_seconds",
    "Duration of one call to a model's endpoint",
    ("stage", "endpoint", "outcome"),
    _DURATION_BUCKETS,
)
JOBS_IN_FLIGHT = _gauge(
    "caliper_jobs_in_flight", "Jobs that the stage has taken and not finished", ("stage",)
)
LAG = _gauge(
    "caliper_consumer_lag",
    "Messages of a partition that the stage has not finished",
    ("stage", "topic", "partition"),
)
BACKLOG = _gauge(
    "caliper_backlog_jobs",
    "Unfinished jobs of a topic",
    ("topic",),
)
BACKLOG_OLDEST = _gauge(
    "caliper_backlog_oldest_timestamp_seconds",
    "When the oldest of these was published",
    ("topic",),
)
SETTLED = _counter(
    "caliper_settled_jobs_total",
    "Finished jobs of a topic",
    ("topic",),
)
GATE_LIMIT = _gauge(
    "caliper_gate_limit",
    "Calls that an endpoint's gate allows at once; 0 while it only probes",
    ("endpoint",),
)
GATE_IN_FLIGHT = _gauge("caliper_gate_in_flight", "Calls in flight to an endpoint", ("endpoint",))
ANCHOR = _gauge(
    "caliper_anchor_agreement",
    "Share of the judged anchors that got the known verdict, 0 to 1",
    ("judge", "benchmark"),
)
SUITE_SCORE = _gauge(
    "caliper_suite_score",
    "A score of the suite's latest checkpoint by training step, in the paper's unit",
    ("suite", "benchmark", "dimension", "metric"),
)
SUITE_JUDGED = _gauge(
    "caliper_suite_judged_share",
    "Share of that checkpoint's questions that was judged; below 1, its scores are estimates",
    ("suite",),
)
SUITE_STEP = _gauge("caliper_suite_step", "Training step of that checkpoint", ("suite",))
BUILD = _gauge("caliper_build_info", "1, with Caliper's version as a label", ("version",))
CERTIFICATE = _gauge(
    "caliper_certificate_expiry_timestamp_seconds",
    "When the service's TLS certificate expires; 0 without TLS",
)
PEER_CERTIFICATE = _gauge(
    "caliper_peer_certificate_expiry_timestamp_seconds",
    "When the first of a peer's TLS certificates expires",
    ("peer",),
)
REFUSED = _counter(
    "caliper_refused_calls_total",
    "Calls refused for token, role or too many in flight",
    ("method", "reason"),
)

STAGE_METRICS = (
    JOB_SECONDS,
    BACKEND_SECONDS,
    RETRIES,
    TOKENS,
    CACHED,
    REQUESTED,
    UNVERIFIED,
    DEAD_LETTERS,
    REBALANCES,
    JOBS_IN_FLIGHT,
    LAG,
    BACKLOG,
    BACKLOG_OLDEST,
    SETTLED,
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
SERVICE_METRICS = (BUILD, CERTIFICATE, PEER_CERTIFICATE, REFUSED, REFUSED_MESSAGES)
SUITE_METRICS = (SUITE_SCORE, SUITE_STEP, SUITE_JUDGED)
METRICS = (*SCORE_METRICS, *STAGE_METRICS, *SERVICE_METRICS, *SUITE_METRICS)
