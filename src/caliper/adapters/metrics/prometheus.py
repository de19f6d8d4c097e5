"""The telemetry port on prometheus_client, with a caller's registry."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import product
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics

from caliper.adapters.metrics import catalogue
from caliper.adapters.metrics.catalogue import METRICS, Metric, MetricType
from caliper.ports import telemetry as events
from caliper.ports.security_events import (
    CallRefused,
    CertificateRead,
    MessageRefused,
    Refusal,
    Signature,
    UnverifiedReply,
)
from caliper.ports.telemetry import Event, JobEnd, Window, reason_of
from caliper.version import __version__

_AGGREGATOR = "aggregator"
_Action = Callable[["Metrics", str, Any], None]
"""Records an event of a stage."""


class Metrics:
    """All metrics of one process in one registry.

    Call `refresh` before reading the registry: some values are read from their sources only then.
    """

    def __init__(self, registry: CollectorRegistry) -> None:
        # The library would add a series with the creation time of each counter, which nobody reads.
        disable_created_metrics()  # type: ignore[no-untyped-call]  # untyped in the library
        self.registry = registry
        self._metrics = {metric: _new_metric(metric, registry) for metric in METRICS}
        self._reads: list[Callable[[], None]] = []
        self.gauge(catalogue.BUILD, __version__).set(1)

    def counter(self, metric: Metric, *labels: str) -> Counter:
        """The counter under these labels."""
        counter: Counter = self._child(metric, labels)
        return counter

    def gauge(self, metric: Metric, *labels: str) -> Gauge:
        """The gauge under these labels."""
        gauge: Gauge = self._child(metric, labels)
        return gauge

    def histogram(self, metric: Metric, *labels: str) -> Histogram:
        """The histogram under these labels."""
        histogram: Histogram = self._child(metric, labels)
        return histogram

    def _child(self, metric: Metric, labels: tuple[str, ...]) -> Any:
        collector = self._metrics[metric]
        return collector.labels(*labels) if metric.labels else collector

    def drop(self, metric: Metric, *labels: str) -> None:
        """Drop the series under these labels, if there is one."""
        self._metrics[metric].remove(*labels)

    def drop_all(self, metric: Metric, **labels: str) -> None:
        """Drop every series of the metric whose labels include these."""
        self._metrics[metric].remove_by_labels(labels)

    def ask(self, read: Callable[[], None]) -> None:
        """Call `read` at every `refresh`."""
        self._reads.append(read)

    def refresh(self) -> None:
        """Read the values that sources hold. Must run in the event loop of those sources."""
        for read in self._reads:
            read()


def _new_metric(metric: Metric, registry: CollectorRegistry) -> Any:
    if metric.type is MetricType.HISTOGRAM:
        buckets = metric.buckets
        return Histogram(
            metric.name, metric.help, metric.labels, buckets=buckets, registry=registry
        )
    if metric.type is MetricType.COUNTER:
        return Counter(metric.name, metric.help, metric.labels, registry=registry)
    return Gauge(metric.name, metric.help, metric.labels, registry=registry)


class PrometheusTelemetry:
    """ports.telemetry.Telemetry for a stage, or for no stage if its name is empty."""

    def __init__(self, metrics: Metrics, stage: str = "") -> None:
        self.metrics, self._stage = metrics, stage
        # From 0 on: the first forged reply or message is a rise, too.
        for signature in Signature:
            metrics.counter(catalogue.UNVERIFIED, signature)
        for topic, reason in product(("verdicts", "runs"), Refusal):
            metrics.counter(catalogue.REFUSED_MESSAGES, topic, reason)
        self._settled: dict[str, int] = {}
        self._score_keys: dict[tuple[str, str, str, Window], set[tuple[str, str]]] = {}
        self._actions: Mapping[type[Event], _Action] = {
            **_ACTIONS,
            events.GateBuilt: self._gate,
            events.GroupJoined: self._member,
            events.BacklogRead: self._backlog,
            events.ScoresComputed: self._scores,
            events.ModelForgotten: self._forget,
            # Only traces show it.
            events.StepEnded: lambda *_: None,
        }

    def stage(self, name: str) -> PrometheusTelemetry:
        """The telemetry of a stage. Its series start at zero."""
        self.metrics.gauge(catalogue.JOBS_IN_FLIGHT, name)
        for metric in (catalogue.REBALANCES, catalogue.CACHED, catalogue.REQUESTED):
            self.metrics.counter(metric, name)
        for end in JobEnd:
            self.metrics.histogram(catalogue.JOB_SECONDS, name, str(end))
        return PrometheusTelemetry(self.metrics, name)

    def record(self, event: Event) -> None:
        """Update the metrics for an event."""
        self._actions[type(event)](self.metrics, self._stage, event)

    def _gate(self, metrics: Metrics, _: str, event: events.GateBuilt) -> None:
        """Read the gate's limit and calls in flight at every refresh."""
        limit = metrics.gauge(catalogue.GATE_LIMIT, event.endpoint)
        in_flight = metrics.gauge(catalogue.GATE_IN_FLIGHT, event.endpoint)

        def read() -> None:
            limit.set(event.gate.limit)
            in_flight.set(event.gate.in_flight)

        metrics.ask(read)

    def _member(self, metrics: Metrics, stage: str, event: events.GroupJoined) -> None:
        """Read the member's lag and rebalances at every refresh."""
        gauges: dict[int, Gauge] = {}
        counted = 0

        def read() -> None:
            nonlocal counted
            counted, before = event.member.rebalances, counted
            metrics.counter(catalogue.REBALANCES, stage).inc(counted - before)
            lag = event.member.lag
            for partition in gauges.keys() - lag.keys():
                # Another member has the partition now.
                del gauges[partition]
                metrics.drop(catalogue.LAG, stage, event.topic, str(partition))
            for partition, messages in lag.items():
                labels = stage, event.topic, str(partition)
                gauges[partition] = metrics.gauge(catalogue.LAG, *labels)
                gauges[partition].set(messages)

        metrics.ask(read)

    def _backlog(self, metrics: Metrics, _: str, event: events.BacklogRead) -> None:
        """Count what was settled since the last reading."""
        topic, backlog = event.topic, event.backlog
        metrics.gauge(catalogue.BACKLOG, topic).set(backlog.waiting)
        _set(metrics, catalogue.BACKLOG_OLDEST, (topic,), backlog.oldest)
        before = self._settled.get(topic, backlog.settled)
        # A topic that was recreated starts at zero again.
        metrics.counter(catalogue.SETTLED, topic).inc(max(0, backlog.settled - before))
        self._settled[topic] = backlog.settled

    def _scores(self, metrics: Metrics, _: str, event: events.ScoresComputed) -> None:
        """Set the scores of a window, and drop those that it no longer has."""
        place = (event.model, event.team, event.benchmark, event.window)
        absent = dict.fromkeys(self._score_keys.get(place, set()) - event.scores.keys())
        self._score_keys[place] = set(event.scores)
        for (dimension, metric), score in {**absent, **event.scores}.items():
            labels = (*place[:3], dimension, metric, str(event.window))
            value, low, high = (score.value, score.low, score.high) if score else (None,) * 3
            _set(metrics, catalogue.SCORE, labels, value)
            _set(metrics, catalogue.SCORE_BOUND, (*labels, "low"), low)
            _set(metrics, catalogue.SCORE_BOUND, (*labels, "high"), high)

    def _forget(self, metrics: Metrics, _: str, event: events.ModelForgotten) -> None:
        """Drop all series of the model."""
        for metric in METRICS:
            if "model" in metric.labels:
                metrics.drop_all(metric, model=event.model, team=event.team)
        self._score_keys = {
            place: at
            for place, at in self._score_keys.items()
            if place[:2] != (event.model, event.team)
        }


def _set(metrics: Metrics, metric: Metric, labels: tuple[str, ...], value: float | None) -> None:
    """Set a gauge; None drops it."""
    if value is None:
        metrics.drop(metric, *labels)
    else:
        metrics.gauge(metric, *labels).set(value)


def _call(metrics: Metrics, stage: str, event: events.CallEnded) -> None:
    outcome = "ok" if event.error is None else reason_of(event.error)
    labels = stage, event.endpoint, outcome
    metrics.histogram(catalogue.BACKEND_SECONDS, *labels).observe(event.seconds)


def _retried(metrics: Metrics, stage: str, event: events.Retried) -> None:
    labels = stage, event.endpoint, reason_of(event.error)
    metrics.counter(catalogue.RETRIES, *labels).inc()


def _tokens(metrics: Metrics, stage: str, event: events.TokensUsed) -> None:
    for kind in ("prompt", "completion", "cached"):
        tokens = metrics.counter(catalogue.TOKENS, stage, event.endpoint, kind)
        tokens.inc(getattr(event.usage, kind))


def _job_attempt_ended(metrics: Metrics, stage: str, event: events.JobAttemptEnded) -> None:
    metrics.gauge(catalogue.JOBS_IN_FLIGHT, stage).dec()
    if event.end is not None:
        metrics.histogram(catalogue.JOB_SECONDS, stage, str(event.end)).observe(event.seconds)


def _dead_letter(metrics: Metrics, _: str, event: events.DeadLetterSent) -> None:
    metrics.counter(catalogue.DEAD_LETTERS, event.topic, reason_of(event.error)).inc()


def _reply(metrics: Metrics, stage: str, event: events.ReplyReceived) -> None:
    metrics.counter(catalogue.CACHED if event.cached else catalogue.REQUESTED, stage).inc()


def _verdicts(metrics: Metrics, _: str, event: events.VerdictsEntered) -> None:
    labels = event.model, event.team, event.benchmark
    unscored = sum(event.unscored.values())
    metrics.counter(catalogue.VERDICTS, *labels, "scored").inc(event.scored)
    metrics.counter(catalogue.VERDICTS, *labels, "unscored").inc(unscored)
    for reason, times in event.unscored.items():
        metrics.counter(catalogue.UNSCORED, *labels, reason).inc(times)


def _questions(metrics: Metrics, _: str, event: events.QuestionsCounted) -> None:
    for state, number in event.questions.items():
        labels = event.model, event.team, event.benchmark, state
        metrics.gauge(catalogue.QUESTIONS, *labels).set(number)


def _waiting(metrics: Metrics, _: str, event: events.RecordsWaiting) -> None:
    for partition, records in event.lag.items():
        metrics.gauge(catalogue.LAG, _AGGREGATOR, event.topic, str(partition)).set(records)


def _suite(metrics: Metrics, _: str, event: events.CheckpointScored) -> None:
    metrics.drop_all(catalogue.SUITE_SCORE, suite=event.suite)
    for name, scores in event.scores.items():
        for (dimension, metric), score in scores.items():
            labels = event.suite, name, dimension, metric
            metrics.gauge(catalogue.SUITE_SCORE, *labels).set(score.value)
    _set(metrics, catalogue.SUITE_STEP, (event.suite,), event.step)
    metrics.gauge(catalogue.SUITE_JUDGED, event.suite).set(event.judged)


_ACTIONS: Mapping[type[Event], _Action] = {
    events.CallEnded: _call,
    events.Retried: _retried,
    events.TokensUsed: _tokens,
    events.JobReceived: lambda to, stage, _: to.gauge(catalogue.JOBS_IN_FLIGHT, stage).inc(),
    events.JobAttemptEnded: _job_attempt_ended,
    events.DeadLetterSent: _dead_letter,
    events.ReplyReceived: _reply,
    UnverifiedReply: lambda to, _, event: to.counter(
        catalogue.UNVERIFIED, str(event.signature)
    ).inc(),
    MessageRefused: lambda to, _, event: to.counter(
        catalogue.REFUSED_MESSAGES, event.topic, str(event.reason)
    ).inc(),
    events.VerdictsEntered: _verdicts,
    events.QuestionsCounted: _questions,
    events.RunStarted: lambda to, _, event: to.gauge(
        catalogue.RUN_STARTED, event.model, event.team
    ).set(event.time),
    events.VerdictVisible: lambda to, _, event: to.histogram(catalogue.FRESHNESS).observe(
        event.seconds
    ),
    events.RecordsApplied: lambda to, _, event: to.gauge(catalogue.APPLIED).set(event.time),
    events.RecordsWaiting: _waiting,
    events.AnchorsJudged: lambda to, _, event: to.gauge(
        catalogue.ANCHOR, event.judge, event.benchmark
    ).set(event.agreement),
    CertificateRead: lambda to, _, event: to.gauge(catalogue.PEER_CERTIFICATE, event.peer).set(
        event.time
    ),
    CallRefused: lambda to, _, event: to.counter(
        catalogue.REFUSED, event.method, event.reason
    ).inc(),
    events.CheckpointScored: _suite,
    events.SnapshotSaved: lambda to, _, event: to.gauge(catalogue.SNAPSHOT).set(event.time),
}
