"""What a service that was taken over can send to the aggregator, and what it does there."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import pytest
from tests.fakes import runs
from tests.fakes.evaluations import (
    CODEC,
    House,
    event_of,
    scored,
    standalone,
    stored_run,
    verdict,
    verdicts_of,
)
from tests.fakes.runs import Planned
from tests.fakes.telemetry import RecordedTelemetry

from caliper.core.envelopes import Message, Record
from caliper.core.messages import EventKind, RunEnded, RunEvent, RunFailed, Verdicts, event_key
from caliper.core.outcome import UNDRAWN, Outcome, Scored, Verdict
from caliper.pipeline.aggregation.aggregator import Aggregator
from caliper.pipeline.planning.publisher import RUNS
from caliper.pipeline.work.authentic_stream import AuthenticStream, Signatures, sender_key
from caliper.ports.security_events import MessageRefused

KEY = b"k" * 64


class Outbox:
    """A stream that keeps the last message."""

    async def publish(self, message: Message) -> None:
        self.message = message


async def signed(record: Record, sender: str, key: bytes | None = None) -> Record:
    outbox = Outbox()
    stream = AuthenticStream(outbox, sender, key or sender_key(KEY, sender))  # type: ignore[arg-type]
    await stream.publish(record.message)
    return replace(record, message=outbox.message)


class Attacked:
    """An aggregator with a run whose verdicts all stand, then a message of an attacker."""

    def __init__(self, signatures: Signatures | None = None) -> None:
        self.telemetry = RecordedTelemetry()
        self.house = House(signatures=signatures or Signatures(), telemetry=self.telemetry)

    async def begin(self) -> tuple[Planned, Aggregator]:
        part = runs.part(captions=None, models={"reader": runs.JUDGE, "captioner": runs.JUDGE})
        return await stored_run(self.house.store, "ours", part), await self.house.aggregator()

    @property
    def refused(self) -> list[str]:
        return [str(event.reason) for event in self.telemetry.of(MessageRefused)]


FORGED: dict[str, tuple[str, Outcome]] = {
    "above the range": ("score", Scored(Fraction(2))),
    "below the range": ("score", Scored(Fraction(-1))),
    "withheld from the figures": ("score", UNDRAWN),
}


@pytest.mark.parametrize("name", FORGED)
async def test_an_outcome_that_the_question_cannot_have_is_not_entered(name: str) -> None:
    reason, forged = FORGED[name]
    attacked = Attacked()
    run, aggregator = await attacked.begin()
    await aggregator.apply([verdicts_of(run, [Verdict(0, forged)]), *scored(run)])
    await aggregator.conclude()
    assert attacked.refused == [reason]
    assert attacked.house.file(run) == (await standalone(run, scored(run)))[0]


async def test_verdicts_about_another_sample_or_run_are_not_entered() -> None:
    attacked = Attacked()
    run, aggregator = await attacked.begin()
    other = await stored_run(attacked.house.store, "theirs")
    sample = run.items[0].sample
    foreign = Verdicts(run.spec.run_id, "captionqa", sample, (verdict(2, 1),))
    elsewhere = verdicts_of(other, [verdict(0, 1)])
    key = verdicts_of(run, [verdict(0, 1)]).message.key
    forged = [
        Record(0, 0, 0, Message("verdicts", key, CODEC.write(foreign))),
        replace(elsewhere, message=replace(elsewhere.message, key=key)),
        verdicts_of(run, [verdict(99, 1)]),
    ]
    await aggregator.apply(forged)
    assert attacked.refused == ["plan", "key", "plan"]
    assert [each.ledger.known for each in aggregator.table] == [0]


@pytest.mark.parametrize(
    ("sender", "score", "reasons"),
    [
        ("qa-reader", 1, []),
        ("judge", 1, ["sender"]),
        ("captioner", 1, ["sender"]),
        ("aggregator", 1, ["sender"]),
        ("gateway", 1, ["sender"]),
        ("judge", None, ["sender"]),
        ("captioner", None, []),
        ("aggregator", None, []),
    ],
)
async def test_who_may_send_verdicts_of_the_reader(
    sender: str, score: int | None, reasons: list[str]
) -> None:
    attacked = Attacked(Signatures([KEY]))
    run, aggregator = await attacked.begin()
    record = await signed(verdicts_of(run, [verdict(0, score)]), sender)
    await aggregator.apply([record])
    assert attacked.refused == reasons
    assert [each.ledger.known for each in aggregator.table] == [not reasons]


def resigned(record: Record, **headers: str) -> Record:
    message = record.message
    return replace(record, message=replace(message, headers={**message.headers, **headers}))


def moved(record: Record) -> Record:
    return replace(record, message=replace(record.message, key=f"{record.message.key}0"))


FORGERIES: dict[str, tuple[str, Callable[[Record], Record]]] = {
    "another's name": ("forged", lambda record: resigned(record, sender="judge")),
    "nobody's name": ("forged", lambda record: resigned(record, sender="root\ud800")),
    "no signature": ("unsigned", lambda record: resigned(record, mac="")),
    "half a letter": ("forged", lambda record: resigned(record, mac="\ud800")),
    "another key of the topic": ("forged", moved),
}


@pytest.mark.parametrize("name", FORGERIES)
async def test_a_message_that_its_sender_did_not_sign(name: str) -> None:
    reason, forge = FORGERIES[name]
    attacked = Attacked(Signatures([b"n" * 64, KEY]))
    run, aggregator = await attacked.begin()
    honest = [await signed(each, "qa-reader") for each in scored(run)]
    await aggregator.apply([forge(honest[0]), *honest])
    await aggregator.conclude()
    assert attacked.refused == [reason]
    assert attacked.house.file(run) == (await standalone(run, honest))[0]


def event(run: Planned, event: RunEvent) -> Record:
    return Record(0, 1, 1, Message(RUNS, event_key(event), CODEC.write(event)))


async def test_stages_neither_end_nor_plan_runs() -> None:
    attacked = Attacked(Signatures([KEY]))
    run, aggregator = await attacked.begin()
    name = run.spec.run_id
    forged = [
        await signed(event(run, RunEnded(name, "complete", "", "0" * 64)), "judge"),  # type: ignore[arg-type]
        await signed(event_of(run, EventKind.PLAN, 2, start=9), "judge"),
        await signed(event(run, RunFailed(name, "gone", 9)), "gateway"),
        moved(event(run, RunFailed(name, "gone", 9))),
    ]
    forged[3] = await signed(forged[3], "judge")
    await aggregator.apply(forged)
    assert attacked.refused == ["sender", "sender", "sender", "key"]
    await aggregator.apply([await signed(each, "qa-reader") for each in scored(run)])
    await aggregator.conclude()
    assert [each.state for each in attacked.house.announced] == ["complete"]
