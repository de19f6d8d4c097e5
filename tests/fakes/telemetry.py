import asyncio
from collections import Counter
from collections.abc import Callable
from typing import TypeVar

from caliper.ports.telemetry import (
    CallEnded,
    DeadLetterSent,
    Event,
    GateBuilt,
    GateState,
    JobAttemptEnded,
    JobEnd,
    JobReceived,
    ModelForgotten,
    QuestionsCounted,
    RecordsWaiting,
    ReplyReceived,
    Retried,
    Score,
    ScoresComputed,
    TokensUsed,
    VerdictsEntered,
    Window,
    reason_of,
)

Kind = TypeVar("Kind", bound=Event)


class RecordedTelemetry:
    """ports.telemetry.Telemetry that remembers its events."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def record(self, event: Event) -> None:
        self.events.append(event)

    def stage(self, name: str) -> "RecordedTelemetry":
        return self

    def of(self, kind: type[Kind]) -> list[Kind]:
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def calls(self) -> list[tuple[str, str]]:
        return [
            (call.endpoint, "ok" if call.error is None else reason_of(call.error))
            for call in self.of(CallEnded)
        ]

    @property
    def repeated(self) -> list[tuple[str, str]]:
        return [(again.endpoint, reason_of(again.error)) for again in self.of(Retried)]

    @property
    def tokens(self) -> Counter[str]:
        result: Counter[str] = Counter()
        for used in self.of(TokensUsed):
            result[used.endpoint] += used.usage.prompt + used.usage.completion
        return result

    @property
    def gates(self) -> dict[str, GateState]:
        return {built.endpoint: built.gate for built in self.of(GateBuilt)}

    @property
    def replies(self) -> Counter[bool]:
        return Counter(reply.cached for reply in self.of(ReplyReceived))

    @property
    def ends(self) -> list[JobEnd | None]:
        return [left.end for left in self.of(JobAttemptEnded)]

    @property
    def in_flight(self) -> int:
        return len(self.of(JobReceived)) - len(self.ends)

    @property
    def letters(self) -> list[tuple[str, str]]:
        return [(letter.topic, reason_of(letter.error)) for letter in self.of(DeadLetterSent)]

    @property
    def scores(self) -> dict[tuple[str, str, Window], dict[tuple[str, str], Score]]:
        result: dict[tuple[str, str, Window], dict[tuple[str, str], Score]] = {}
        for event in self.events:
            if isinstance(event, ScoresComputed):
                result[event.model, event.benchmark, event.window] = dict(event.scores)
            elif isinstance(event, ModelForgotten):
                result = {place: at for place, at in result.items() if place[0] != event.model}
        return result

    @property
    def questions(self) -> dict[tuple[str, str], dict[str, int]]:
        return {
            (one.model, one.benchmark): dict(one.questions) for one in self.of(QuestionsCounted)
        }

    @property
    def verdicts(self) -> Counter[tuple[str, str, str]]:
        result: Counter[tuple[str, str, str]] = Counter()
        for one in self.of(VerdictsEntered):
            for kind, times in {"scored": one.scored, **one.unscored}.items():
                result[one.model, one.benchmark, kind] += times
        return result

    @property
    def lag(self) -> dict[str, dict[int, int]]:
        return {waiting.topic: dict(waiting.lag) for waiting in self.of(RecordsWaiting)}


async def until(happened: Callable[[], bool]) -> None:
    """Let other tasks run until something happens; the clock advances with them."""
    async with asyncio.timeout(30):
        while not happened():  # noqa: ASYNC110 - telemetry tells, and waits for nobody
            await asyncio.sleep(0)
