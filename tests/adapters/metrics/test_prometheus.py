"""Metrics on prometheus_client: what is told appears, and disappears when it should."""

import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest
from aiohttp.test_utils import TestClient, TestServer
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families
from tests.servers.absence import leave_out

from caliper.adapters.metrics.catalogue import METRICS, MetricType
from caliper.adapters.metrics.labels import LABELS
from caliper.adapters.metrics.page import PAGE, metrics_application
from caliper.adapters.metrics.prometheus import Metrics, PrometheusTelemetry
from caliper.core.errors import BackendOverloaded, MediaMissing
from caliper.ports.models import Usage
from caliper.ports.security_events import (
    CallRefused,
    CertificateRead,
    MessageRefused,
    Refusal,
    Signature,
    UnverifiedReply,
)
from caliper.ports.stream import Backlog
from caliper.ports.telemetry import (
    AnchorsJudged,
    BacklogRead,
    CallEnded,
    CheckpointScored,
    DeadLetterSent,
    Event,
    GateBuilt,
    GroupJoined,
    JobAttemptEnded,
    JobEnd,
    JobReceived,
    ModelForgotten,
    QuestionsCounted,
    RecordsApplied,
    RecordsWaiting,
    ReplyReceived,
    Retried,
    RunStarted,
    Score,
    ScoresComputed,
    ScoreTable,
    SnapshotSaved,
    TokensUsed,
    VerdictsEntered,
    VerdictVisible,
    Window,
    reason_of,
)

Labels = Mapping[str, str]


@dataclass
class Member:
    """ports.stream.GroupMember."""

    lag: dict[int, int] = field(default_factory=dict)
    rebalances: int = 0


@dataclass
class Gate:
    """ports.telemetry.GateState."""

    limit: int = 0
    in_flight: int = 0


@pytest.fixture
def telemetry() -> PrometheusTelemetry:
    return PrometheusTelemetry(Metrics(CollectorRegistry()))


def value(telemetry: PrometheusTelemetry, name: str, **labels: str) -> float | None:
    telemetry.metrics.refresh()
    if "model" in labels:
        labels = {"team": "", **labels}
    return telemetry.metrics.registry.get_sample_value(name, labels)


def everything(telemetry: PrometheusTelemetry) -> None:
    """Something for every metric of the catalogue."""
    of_stage: list[Event] = [
        CallEnded("model", None, 0.1),
        Retried(BackendOverloaded("busy"), "model"),
        TokensUsed("model", Usage(3, 2, 1)),
        GateBuilt("model", Gate(4, 2)),
        JobReceived(),
        JobAttemptEnded(JobEnd.DONE, 0.2),
        Retried(MediaMissing("gone")),
        DeadLetterSent("judge-jobs", ValueError("defect")),
        ReplyReceived(cached=True),
        ReplyReceived(cached=False),
        UnverifiedReply(Signature.WRONG),
        MessageRefused("verdicts", Refusal.FORGED),
        GroupJoined("judge-jobs", Member({0: 7}, 2)),
    ]
    others: list[Event] = [
        VerdictsEntered("m", "captionqa", 2, {"timeout": 1}),
        QuestionsCounted("m", "captionqa", {"planned": 3, "scored": 2, "unscored": 1}),
        RunStarted("m", 5.0),
        ScoresComputed("m", "captionqa", Window.RUN, {("overall", "score"): Score(50, 40, 60)}),
        VerdictVisible(0.5),
        RecordsApplied(6.0),
        RecordsWaiting("verdicts", {0: 1}),
        SnapshotSaved(7.0),
        CheckpointScored("nightly", 100, {"capability": {("average", "f1"): Score(41.5)}}),
        AnchorsJudged("judge", "captionqa", 0.98),
        BacklogRead("judge-jobs", Backlog(5, 2, 8.0)),
        CertificateRead("kafka", 9.0),
        CallRefused("JudgeService/Judge", "permission_denied"),
    ]
    stage = telemetry.stage("judge")
    for event in of_stage:
        stage.record(event)
    for event in others:
        telemetry.record(event)


def names(text: bytes) -> set[str]:
    found = text_string_to_metric_families(text.decode())
    return {sample.name for family in found for sample in family.samples}


def test_there_are_the_metrics_of_the_catalogue_and_no_others(
    telemetry: PrometheusTelemetry,
) -> None:
    everything(telemetry)
    telemetry.metrics.refresh()
    expected = set()
    for metric in METRICS:
        parts = ("_bucket", "_sum", "_count") if metric.type is MetricType.HISTOGRAM else ("",)
        expected |= {metric.name + part for part in parts}
    assert names(generate_latest(telemetry.metrics.registry)) == expected


def test_every_label_is_told_of_once() -> None:
    used = {label for metric in METRICS for label in metric.labels}
    assert sorted(label.name for label in LABELS) == sorted(used)
    assert all(label.values or label.meaning for label in LABELS)


def test_promtool_has_nothing_to_say(telemetry: PrometheusTelemetry) -> None:
    promtool = shutil.which("promtool")
    if promtool is None:
        leave_out("promtool", "it is part of Prometheus, which is not installed")
    everything(telemetry)
    telemetry.metrics.refresh()
    text = generate_latest(telemetry.metrics.registry)
    done = subprocess.run(
        [promtool, "check", "metrics"], input=text, capture_output=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_two_processes_share_nothing(telemetry: PrometheusTelemetry) -> None:
    everything(telemetry)
    other = PrometheusTelemetry(Metrics(CollectorRegistry()))
    assert value(other, "caliper_jobs_in_flight", stage="judge") is None


def test_scores_that_are_told_no_more_disappear(telemetry: PrometheusTelemetry) -> None:
    labels = {"model": "m", "benchmark": "b", "dimension": "d", "metric": "f1", "window": "last"}

    def told(scores: ScoreTable) -> None:
        telemetry.record(ScoresComputed("m", "b", Window.LAST, scores))

    told({("d", "f1"): Score(1.0, 0.5, 2.0)})
    assert value(telemetry, "caliper_score", **labels) == 1
    assert value(telemetry, "caliper_score_bound", **labels, bound="low") == 0.5
    told({("d", "f1"): Score(1.5)})
    assert value(telemetry, "caliper_score", **labels) == 1.5
    assert value(telemetry, "caliper_score_bound", **labels, bound="low") is None
    told({})
    assert value(telemetry, "caliper_score", **labels) is None


def test_nothing_of_a_forgotten_model_is_left(telemetry: PrometheusTelemetry) -> None:
    everything(telemetry)
    telemetry.record(RunStarted("other", 1.0))
    telemetry.record(ModelForgotten("m"))
    text = generate_latest(telemetry.metrics.registry).decode()
    assert 'model="m"' not in text
    assert 'model="other"' in text


def test_a_model_of_a_team_is_its_own(telemetry: PrometheusTelemetry) -> None:
    for team, time in (("", 1.0), ("red", 2.0)):
        telemetry.record(RunStarted("m", time, team))
        scores = {("d", "f1"): Score(time)}
        telemetry.record(ScoresComputed("m", "b", Window.RUN, scores, team))
    labels = {"model": "m", "benchmark": "b", "dimension": "d", "metric": "f1", "window": "run"}
    found = [value(telemetry, "caliper_score", **labels, team=team) for team in ("", "red")]
    assert found == [1.0, 2.0]
    telemetry.record(ModelForgotten("m", "red"))
    found = [value(telemetry, "caliper_score", **labels, team=team) for team in ("", "red")]
    assert found == [1.0, None]


def test_lag_belongs_to_who_has_the_partition(telemetry: PrometheusTelemetry) -> None:
    member = Member({0: 3, 1: 4}, rebalances=1)
    telemetry.stage("judge").record(GroupJoined("judge-jobs", member))
    place = {"stage": "judge", "topic": "judge-jobs"}
    assert value(telemetry, "caliper_consumer_lag", **place, partition="1") == 4
    member.lag, member.rebalances = {0: 2}, 3
    assert value(telemetry, "caliper_consumer_lag", **place, partition="0") == 2
    assert value(telemetry, "caliper_consumer_lag", **place, partition="1") is None
    assert value(telemetry, "caliper_rebalances_total", stage="judge") == 3


def test_the_backlog_of_a_topic(telemetry: PrometheusTelemetry) -> None:
    def told(backlog: Backlog) -> list[float | None]:
        telemetry.record(BacklogRead("judge-jobs", backlog))
        names = ("backlog_jobs", "backlog_oldest_timestamp_seconds", "settled_jobs_total")
        return [value(telemetry, f"caliper_{name}", topic="judge-jobs") for name in names]

    assert told(Backlog(4, 100, 8.0)) == [4, 8, 0]
    assert told(Backlog(1, 103, 9.0)) == [1, 9, 3]
    assert told(Backlog(0, 104)) == [0, None, 4]
    assert told(Backlog(2, 0, 11.0)) == [2, 11, 4]
    assert told(Backlog(0, 2)) == [0, None, 6]


def test_a_job_that_is_broken_off_is_in_flight_no_longer(telemetry: PrometheusTelemetry) -> None:
    stage = telemetry.stage("judge")
    stage.record(JobReceived())
    assert value(telemetry, "caliper_jobs_in_flight", stage="judge") == 1
    stage.record(JobAttemptEnded(None, 1.0))
    assert value(telemetry, "caliper_jobs_in_flight", stage="judge") == 0
    counted = value(telemetry, "caliper_job_seconds_count", stage="judge", outcome="done")
    assert counted == 0


def test_reasons_are_a_closed_set() -> None:
    assert reason_of(BackendOverloaded("said https://secret")) == "backend_overloaded"
    assert reason_of(KeyError("anything")) == "internal"


@pytest.mark.parametrize("accept", ["", "application/openmetrics-text; version=1.0.0"])
async def test_the_page_is_read_over_http(telemetry: PrometheusTelemetry, accept: str) -> None:
    everything(telemetry)
    async with TestClient(TestServer(metrics_application(telemetry.metrics))) as client:
        async with client.get(PAGE, headers={"Accept": accept}) as reply:
            assert reply.status == 200
            assert "text" in reply.headers["Content-Type"]
            assert b'caliper_consumer_lag{partition="0"' in await reply.read()
        async with client.get("/anything") as reply:
            assert reply.status == 404


def test_a_suite_shows_its_latest_checkpoint_only(telemetry: PrometheusTelemetry) -> None:
    scores = {("average", "f1"): Score(41.5), ("OCR", "f1"): Score(60.0)}
    telemetry.record(CheckpointScored("nightly", 100, {"capability": scores}))
    telemetry.record(CheckpointScored("other", 5, {"capability": scores}, 0.25))
    scores = {("average", "f1"): Score(42.5)}
    telemetry.record(CheckpointScored("nightly", None, {"capability": scores}))
    text = generate_latest(telemetry.metrics.registry).decode()
    about = 'benchmark="capability",dimension="average",metric="f1",suite='
    assert f'caliper_suite_score{{{about}"nightly"}} 42.5' in text
    assert 'caliper_suite_judged_share{suite="nightly"} 1.0' in text
    assert text.count('suite="nightly"') == 2
    assert 'caliper_suite_step{suite="other"} 5.0' in text
    assert 'caliper_suite_judged_share{suite="other"} 0.25' in text
    assert text.count('suite="other"') == 4
