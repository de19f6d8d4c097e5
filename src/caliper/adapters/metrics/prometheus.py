"""The ports of telemetry on prometheus_client, with a registry that is handed in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    disable_created_metrics,
)

from caliper.adapters.metrics import catalogue
from caliper.adapters.metrics.catalogue import METRICS, Metric, Type
from caliper.ports.models import Usage
from caliper.ports.telemetry import Consuming, Gated, JobEnd, Score, Scored, Window, reason_of
from caliper.version import __version__

_AGGREGATOR = "aggregator"


class Metrics:
    """All metrics of one process in one registry. `refresh` must be called before it is read:
    what others know better is asked of them only then.
    """

    def __init__(self, registry: CollectorRegistry) -> None:
        # When each counter began, once more as a series: twice as many, and read by nobody.
        disable_created_metrics()  # type: ignore[no-untyped-call]  # its author left it so
        self.registry = registry
        self._made = {metric: _made(metric, registry) for metric in METRICS}
        self._reads: list[Callable[[], None]] = []
        self.gauge(catalogue.BUILD, __version__).set(1)

    def counter(self, metric: Metric, *labels: str) -> Counter:
        """The counter under these labels."""
        found: Counter = self._child(metric, labels)
        return found

    def gauge(self, metric: Metric, *labels: str) -> Gauge:
        """The gauge under these labels."""
        found: Gauge = self._child(metric, labels)
        return found

    def histogram(self, metric: Metric, *labels: str) -> Histogram:
        """The histogram under these labels."""
        found: Histogram = self._child(metric, labels)
        return found

    def _child(self, metric: Metric, labels: tuple[str, ...]) -> Any:
        made = self._made[metric]
        return made.labels(*labels) if metric.labels else made

    def drop(self, metric: Metric, *labels: str) -> None:
        """Drop the series under these labels, if there is one."""
        self._made[metric].remove(*labels)

    def drop_all(self, metric: Metric, **labels: str) -> None:
        """Drop every series of the metric that has these labels among its own."""
        self._made[metric].remove_by_labels(labels)

    def ask(self, read: Callable[[], None]) -> None:
        """`read` is called by every `refresh`."""
        self._reads.append(read)

    def refresh(self) -> None:
        """Ask what has to be asked. In the event loop that everything else runs in."""
        for read in self._reads:
            read()


def _made(metric: Metric, registry: CollectorRegistry) -> Any:
    if metric.type is Type.HISTOGRAM:
        buckets = metric.buckets
        return Histogram(
            metric.name, metric.help, metric.labels, buckets=buckets, registry=registry
        )
    if metric.type is Type.COUNTER:
        return Counter(metric.name, metric.help, metric.labels, registry=registry)
    return Gauge(metric.name, metric.help, metric.labels, registry=registry)


class PrometheusStage:
    """ports.telemetry.StageTelemetry of one stage."""

    def __init__(self, metrics: Metrics, stage: str) -> None:
        self._metrics, self._stage = metrics, stage
        self._in_flight = metrics.gauge(catalogue.JOBS_IN_FLIGHT, stage)
        self._rebalances = metrics.counter(catalogue.REBALANCES, stage)
        self._replied = {
            True: metrics.counter(catalogue.CACHED, stage),
            False: metrics.counter(catalogue.ASKED, stage),
        }
        self._ends = {
            end: metrics.histogram(catalogue.JOB_SECONDS, stage, str(end)) for end in JobEnd
        }

    def called(self, endpoint: str, error: BaseException | None, seconds: float) -> None:
        """A try at a call ended."""
        outcome = "ok" if error is None else reason_of(error)
        metric = catalogue.BACKEND_SECONDS
        self._metrics.histogram(metric, self._stage, endpoint, outcome).observe(seconds)

    def asked_again(self, endpoint: str, error: BaseException) -> None:
        """A call is tried again."""
        labels = self._stage, endpoint, reason_of(error)
        self._metrics.counter(catalogue.RETRIES, *labels).inc()

    def used(self, endpoint: str, usage: Usage) -> None:
        """What a call cost."""
        for kind in ("prompt", "completion", "cached"):
            tokens = self._metrics.counter(catalogue.TOKENS, self._stage, endpoint, kind)
            tokens.inc(getattr(usage, kind))

    def gated(self, endpoint: str, gate: Gated) -> None:
        """Its limit and calls are read with the metrics."""
        limit = self._metrics.gauge(catalogue.GATE_LIMIT, endpoint)
        in_flight = self._metrics.gauge(catalogue.GATE_IN_FLIGHT, endpoint)

        def read() -> None:
            limit.set(gate.limit)
            in_flight.set(gate.in_flight)

        self._metrics.ask(read)

    def job_taken(self) -> None:
        """A job was taken off its topic."""
        self._in_flight.inc()

    def job_left(self, end: JobEnd | None, seconds: float) -> None:
        """A try at a job ended."""
        self._in_flight.dec()
        if end is not None:
            self._ends[end].observe(seconds)

    def job_again(self, error: BaseException) -> None:
        """A job is tried again."""
        self.asked_again("", error)

    def dead_letter(self, topic: str, error: BaseException) -> None:
        """A job was put aside."""
        self._metrics.counter(catalogue.DEAD_LETTERS, topic, reason_of(error)).inc()

    def replied(self, *, cached: bool) -> None:
        """A reply was had."""
        self._replied[cached].inc()

    def consumes(self, topic: str, member: Consuming) -> None:
        """Its lag and rebalances are read with the metrics."""
        shown: dict[int, Gauge] = {}
        counted = 0

        def read() -> None:
            nonlocal counted
            counted, before = member.rebalances, counted
            self._rebalances.inc(counted - before)
            lag = member.lag
            for partition in shown.keys() - lag.keys():
                # It is another member's now.
                del shown[partition]
                self._metrics.drop(catalogue.LAG, self._stage, topic, str(partition))
            for partition, messages in lag.items():
                labels_of = self._stage, topic, str(partition)
                shown[partition] = self._metrics.gauge(catalogue.LAG, *labels_of)
                shown[partition].set(messages)

        self._metrics.ask(read)


class PrometheusTelemetry:
    """ports.telemetry.Telemetry."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.metrics = Metrics(registry)
        self._scores = PrometheusScores(self.metrics)

    def stage(self, name: str) -> PrometheusStage:
        """That of a stage."""
        return PrometheusStage(self.metrics, name)

    @property
    def scores(self) -> PrometheusScores:
        """That of the aggregator."""
        return self._scores


class PrometheusScores:
    """ports.telemetry.ScoreTelemetry."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics
        self._shown: dict[tuple[str, str, Window], set[tuple[str, str]]] = {}

    def entered(self, model: str, benchmark: str, scored: int, unscored: Mapping[str, int]) -> None:
        """So many outcomes are new."""
        count = self._metrics.counter
        count(catalogue.VERDICTS, model, benchmark, "scored").inc(scored)
        count(catalogue.VERDICTS, model, benchmark, "unscored").inc(sum(unscored.values()))
        for reason, times in unscored.items():
            count(catalogue.UNSCORED, model, benchmark, reason).inc(times)

    def progressed(self, model: str, benchmark: str, questions: Mapping[str, int]) -> None:
        """How far the latest run is."""
        for state, number in questions.items():
            self._metrics.gauge(catalogue.QUESTIONS, model, benchmark, state).set(number)

    def started(self, model: str, timestamp: float) -> None:
        """When the latest run started."""
        self._metrics.gauge(catalogue.RUN_STARTED, model).set(timestamp)

    def scored(self, model: str, benchmark: str, window: Window, scores: Scored) -> None:
        """The scores of a window; what is not among them any more disappears."""
        place = (model, benchmark, window)
        for dimension, metric in self._shown.get(place, set()) - scores.keys():
            self._show((model, benchmark, dimension, metric, str(window)), None)
        self._shown[place] = set(scores)
        for (dimension, metric), score in scores.items():
            self._show((model, benchmark, dimension, metric, str(window)), score)

    def _show(self, labels: tuple[str, ...], score: Score | None) -> None:
        told = (None, None, None) if score is None else (score.value, score.low, score.high)
        series = (
            (catalogue.SCORE, labels, told[0]),
            (catalogue.SCORE_BOUND, (*labels, "low"), told[1]),
            (catalogue.SCORE_BOUND, (*labels, "high"), told[2]),
        )
        for metric, names, value in series:
            if value is None:
                self._metrics.drop(metric, *names)
            else:
                self._metrics.gauge(metric, *names).set(value)

    def fresh(self, seconds: float) -> None:
        """The scores show a verdict."""
        self._metrics.histogram(catalogue.FRESHNESS).observe(seconds)

    def applied(self, timestamp: float) -> None:
        """How far the aggregator is."""
        self._metrics.gauge(catalogue.APPLIED).set(timestamp)

    def waiting(self, topic: str, lag: Mapping[int, int]) -> None:
        """What is still to be entered."""
        for partition, records in lag.items():
            self._metrics.gauge(catalogue.LAG, _AGGREGATOR, topic, str(partition)).set(records)

    def kept(self, timestamp: float) -> None:
        """A snapshot was kept."""
        self._metrics.gauge(catalogue.SNAPSHOT).set(timestamp)

    def anchored(self, judge: str, benchmark: str, agreement: float) -> None:
        """How far a judge still says what it said of the anchor set, 0 to 1."""
        self._metrics.gauge(catalogue.ANCHOR, judge, benchmark).set(agreement)

    def forgotten(self, model: str) -> None:
        """All series of a model disappear."""
        for metric in METRICS:
            if "model" in metric.labels:
                self._metrics.drop_all(metric, model=model)
        self._shown = {place: names for place, names in self._shown.items() if place[0] != model}
