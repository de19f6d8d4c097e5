"""Telemetry that remembers what it was told."""

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from caliper.ports.models import Usage
from caliper.ports.telemetry import Consuming, Gated, JobEnd, Score, Scored, Window, reason_of


@dataclass
class ToldStage:
    """ports.telemetry.StageTelemetry."""

    in_flight: int = 0
    ends: list[JobEnd | None] = field(default_factory=list)
    again: list[str] = field(default_factory=list)
    letters: list[tuple[str, str]] = field(default_factory=list)
    calls: list[tuple[str, str]] = field(default_factory=list)
    repeated: list[tuple[str, str]] = field(default_factory=list)
    tokens: Counter[str] = field(default_factory=Counter)
    gates: dict[str, Gated] = field(default_factory=dict)
    replies: Counter[bool] = field(default_factory=Counter)
    members: dict[str, Consuming] = field(default_factory=dict)

    def called(self, endpoint: str, error: BaseException | None, seconds: float) -> None:
        self.calls.append((endpoint, "ok" if error is None else reason_of(error)))

    def asked_again(self, endpoint: str, error: BaseException) -> None:
        self.repeated.append((endpoint, reason_of(error)))

    def used(self, endpoint: str, usage: Usage) -> None:
        self.tokens[endpoint] += usage.prompt + usage.completion

    def gated(self, endpoint: str, gate: Gated) -> None:
        self.gates[endpoint] = gate

    def job_taken(self) -> None:
        self.in_flight += 1

    def job_left(self, end: JobEnd | None, seconds: float) -> None:
        self.in_flight -= 1
        self.ends.append(end)

    def job_again(self, error: BaseException) -> None:
        self.again.append(reason_of(error))

    def dead_letter(self, topic: str, error: BaseException) -> None:
        self.letters.append((topic, reason_of(error)))

    def replied(self, *, cached: bool) -> None:
        self.replies[cached] += 1

    def consumes(self, topic: str, member: Consuming) -> None:
        self.members[topic] = member


@dataclass
class ToldScores:
    """ports.telemetry.ScoreTelemetry."""

    scores: dict[tuple[str, str, Window], dict[tuple[str, str], Score]] = field(
        default_factory=dict
    )
    questions: dict[tuple[str, str], dict[str, int]] = field(default_factory=dict)
    starts: dict[str, float] = field(default_factory=dict)
    verdicts: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)
    newest: float = 0.0
    snapshots: list[float] = field(default_factory=list)
    lag: dict[str, dict[int, int]] = field(default_factory=dict)
    anchors: dict[tuple[str, str], float] = field(default_factory=dict)

    def entered(self, model: str, benchmark: str, scored: int, unscored: Mapping[str, int]) -> None:
        self.verdicts[model, benchmark, "scored"] += scored
        for reason, times in unscored.items():
            self.verdicts[model, benchmark, reason] += times

    def progressed(self, model: str, benchmark: str, questions: Mapping[str, int]) -> None:
        self.questions[model, benchmark] = dict(questions)

    def started(self, model: str, timestamp: float) -> None:
        self.starts[model] = timestamp

    def scored(self, model: str, benchmark: str, window: Window, scores: Scored) -> None:
        self.scores[model, benchmark, window] = dict(scores)

    def fresh(self, seconds: float) -> None:
        self.seconds.append(seconds)

    def applied(self, timestamp: float) -> None:
        self.newest = timestamp

    def waiting(self, topic: str, lag: Mapping[int, int]) -> None:
        self.lag[topic] = dict(lag)

    def anchored(self, judge: str, benchmark: str, agreement: float) -> None:
        self.anchors[judge, benchmark] = agreement

    def kept(self, timestamp: float) -> None:
        self.snapshots.append(timestamp)

    def forgotten(self, model: str) -> None:
        self.gone.append(model)
        self.scores = {place: told for place, told in self.scores.items() if place[0] != model}


async def until(happened: Callable[[], bool]) -> None:
    """Let others work on until something happened; the clock moves with them."""
    async with asyncio.timeout(30):
        while not happened():  # noqa: ASYNC110 - telemetry tells, and waits for nobody
            await asyncio.sleep(0)
