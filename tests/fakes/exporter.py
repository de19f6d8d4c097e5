"""An exporter with a series of every metric in the catalogue, as from an installation that judges
two checkpoints, including every kind of failure.

Figures are a function of the seconds since its start; nothing is random.

    with exporter() as address:
        ...
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager

from tests.fakes.http_answers import AnswerHandler, serving

MODELS = {"step-1000": 0.0, "step-2000": 5.0}
STAGES = {"captioner": 4.0, "judge": 9.0, "qa_reader": 12.0}
ENDPOINTS = {"judge": "judge-8b", "qa_reader": "reader-72b", "captioner": "step-2000"}
TOPICS = {"judge": "judge-jobs", "qa_reader": "qa-jobs", "captioner": "caption-jobs"}
# Benchmark: questions planned, and its figures with the value of the first checkpoint.
FIGURES: dict[str, tuple[int, dict[tuple[str, str], float]]] = {
    "capability": (
        1800,
        {
            ("average", "f1"): 61.0,
            ("OCR", "f1"): 71.0,
            ("style", "f1"): 55.0,
            ("event", "f1"): 48.0,
            ("object_number", "f1"): 66.0,
            ("camera_movement", "f1"): 33.0,
            ("OCR", "precision"): 82.0,
        },
    ),
    "captionqa": (
        2400,
        {
            ("overall", "score"): 70.0,
            ("natural", "score"): 74.0,
            ("document", "score"): 62.0,
            ("ecommerce", "score"): 78.0,
            ("embodiedai", "score"): 66.0,
        },
    ),
    "comprecap": (
        60,
        {
            ("overall", "s_unified"): 58.0,
            ("overall", "s_object"): 69.0,
            ("overall", "s_attribute"): 2.7,
            ("overall", "s_relation"): 2.6,
            ("overall", "s_cov"): 41.0,
        },
    ),
}
LESS_OR_EQUAL = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, math.inf)

Sample = tuple[str, dict[str, str], float]


def of_others(age: float) -> Iterator[Sample]:
    """What a model server and the store say of themselves."""
    yield "tgi_queue_size", {"service": "tgi-judge"}, 3 + age % 5
    yield "minio_cluster_capacity_usable_free_bytes", {"server": "minio"}, 150e9 - age * 1e6
    yield "minio_cluster_capacity_usable_total_bytes", {"server": "minio"}, 200e9


def samples(age: float, now: float) -> Iterator[Sample]:
    """All series at `age` seconds after the start; `now` is the current time."""
    yield "caliper_build_info", {"version": "0.1.0"}, 1
    yield "caliper_certificate_expiry_timestamp_seconds", {}, now + 200 * 24 * 3600
    for peer in ("kafka", "store", "model"):
        ends = now + 200 * 24 * 3600
        yield "caliper_peer_certificate_expiry_timestamp_seconds", {"peer": peer}, ends
    refused = {"method": "EvaluateService/StartEvaluation", "reason": "permission_denied"}
    yield "caliper_refused_calls_total", refused, 3
    yield "caliper_unverified_replies_total", {"signature": "missing"}, 2
    yield "caliper_refused_messages_total", {"topic": "verdicts", "reason": "forged"}, 1
    for model, better in MODELS.items():
        yield (
            "caliper_run_started_timestamp_seconds",
            {"model": model, "team": "vision"},
            now - age + better,
        )
        for benchmark in FIGURES:
            yield from _of_a_run(model, benchmark, better, age)
    for stage, rate in STAGES.items():
        yield from _of_a_stage(stage, rate, age)
        yield from _of_a_topic(stage, rate, age, now)
    yield from _of_the_aggregator(age, now)
    yield "caliper_suite_step", {"suite": "nightly"}, 1000 + age // 60
    yield "caliper_suite_judged_share", {"suite": "nightly"}, 0.4
    for benchmark, (_, figures) in FIGURES.items():
        for (dimension, metric), value in figures.items():
            named = {"suite": "nightly", "benchmark": benchmark}
            yield "caliper_suite_score", {**named, "dimension": dimension, "metric": metric}, value


def _of_a_run(model: str, benchmark: str, better: float, age: float) -> Iterator[Sample]:
    planned, figures = FIGURES[benchmark]
    about = {"model": model, "team": "vision", "benchmark": benchmark}
    done = min(planned, int(age * 8) + 1)
    unscored = (done + 30) // 60
    states = {"planned": planned, "scored": done - unscored, "unscored": unscored}
    states["open"] = planned - done
    for state, count in states.items():
        yield "caliper_questions", {**about, "state": state}, count
    yield "caliper_verdicts_total", {**about, "outcome": "scored"}, done - unscored
    yield "caliper_verdicts_total", {**about, "outcome": "unscored"}, unscored
    yield "caliper_unscored_total", {**about, "reason": "unreadable"}, unscored
    for (dimension, metric), value in figures.items():
        for window, wave in (("run", 0.0), ("last", 3.0), ("hour", 1.0)):
            named = {**about, "dimension": dimension, "metric": metric, "window": window}
            here = value * (1 + better / 100) + wave * math.sin(age / 40)
            half = value * 0.4 / math.sqrt(done / 40 + 1)
            yield "caliper_score", named, here
            yield "caliper_score_bound", {**named, "bound": "low"}, here - half
            yield "caliper_score_bound", {**named, "bound": "high"}, here + half


def _of_a_stage(stage: str, rate: float, age: float) -> Iterator[Sample]:
    endpoint = ENDPOINTS[stage]
    jobs, calls = age * rate + 1, age * rate * 3 + 1
    here, there = {"stage": stage}, {"stage": stage, "endpoint": endpoint}
    yield from _histogram("caliper_job_seconds", {**here, "outcome": "done"}, jobs, 1.1)
    yield from _histogram("caliper_backend_seconds", {**there, "outcome": "good"}, calls, 0.4)
    yield from _histogram(
        "caliper_backend_seconds", {**there, "outcome": "overloaded"}, calls / 50, 0.1
    )
    for kind, tokens in (("prompt", 900), ("completion", 25), ("cached", 610)):
        yield "caliper_tokens_total", {**there, "kind": kind}, calls * tokens
    yield "caliper_retries_total", {**there, "reason": "overloaded"}, calls // 50
    yield "caliper_cached_replies_total", here, calls // 6
    yield "caliper_asked_replies_total", here, calls
    yield "caliper_jobs_in_flight", here, 8
    yield "caliper_rebalances_total", here, 2
    yield "caliper_gate_limit", {"endpoint": endpoint}, 24 + int(age / 5) % 16
    yield "caliper_gate_in_flight", {"endpoint": endpoint}, 21
    topic = TOPICS[stage]
    yield "caliper_dead_letters_total", {"topic": topic, "reason": "bad_input"}, int(age / 300) + 1
    for partition in range(4):
        waits = max(0.0, 400 - age * rate / 4) + partition
        yield (
            "caliper_consumer_lag",
            {**here, "topic": topic, "partition": str(partition)},
            int(waits),
        )


def _of_a_topic(stage: str, rate: float, age: float, now: float) -> Iterator[Sample]:
    topic = {"topic": TOPICS[stage]}
    yield "caliper_backlog_jobs", topic, max(0, int(1600 - age * rate))
    yield "caliper_backlog_oldest_timestamp_seconds", topic, now - 90
    yield "caliper_settled_jobs_total", topic, int(age * rate) + 1


def _of_the_aggregator(age: float, now: float) -> Iterator[Sample]:
    yield from _histogram("caliper_freshness_seconds", {}, age * 20 + 1, 0.8)
    lag = {"stage": "aggregator", "topic": "verdicts", "partition": "0"}
    yield "caliper_consumer_lag", lag, 3
    yield "caliper_aggregator_applied_timestamp_seconds", {}, now
    yield "caliper_snapshot_timestamp_seconds", {}, now - age % 30
    for judge, benchmark in (("judge-8b", "capability"), ("reader-72b", "captionqa")):
        yield "caliper_anchor_agreement", {"judge": judge, "benchmark": benchmark}, 0.98


def _histogram(name: str, labels: dict[str, str], count: float, mean: float) -> Iterator[Sample]:
    """Exponential times with this mean."""
    for bound in LESS_OR_EQUAL:
        edge = "+Inf" if bound == math.inf else str(bound)
        yield f"{name}_bucket", {**labels, "le": edge}, count * (1 - math.exp(-bound / mean))
    yield f"{name}_sum", labels, count * mean
    yield f"{name}_count", labels, count


def exposition(age: float, now: float) -> str:
    lines = []
    for name, labels, value in (*samples(age, now), *of_others(age)):
        inside = ",".join(f'{key}="{each}"' for key, each in labels.items())
        lines.append(f"{name}{{{inside}}} {value}")
    return "\n".join((*lines, ""))


@contextmanager
def exporter() -> Iterator[str]:
    """Serve `exposition`; gives the address."""
    began = time.time()

    class Handler(AnswerHandler):
        def get(self) -> None:
            now = time.time()
            text = exposition(now - began, now).encode()
            self.answer(text, Content_Type="text/plain; version=0.0.4")

    with serving(Handler) as address:
        yield address
