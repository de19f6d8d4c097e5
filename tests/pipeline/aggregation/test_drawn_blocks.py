"""Runs of an installation that end once a rule says that the answer is sure."""

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from tests.fakes.evaluations import CODEC, messages_of, standalone
from tests.fakes.runs import Planned
from tests.fakes.workshop import CORRECT, Workshop

from caliper.core.outcome import UNDRAWN, Evidence, Reason, Unscored, Verdict
from caliper.core.question import Failure
from caliper.core.run import RunSpec, RunState
from caliper.pipeline.aggregation.drawn_blocks import DrawnBlocks, RuleOf, queue_block
from caliper.pipeline.aggregation.sequential import stored_rule
from caliper.pipeline.ledger.run_ledger import RunLedger
from caliper.pipeline.planning.publisher import VERDICTS, JobMessage
from caliper.ports.stages import StopRule
from caliper.wiring.models import ModelRoom

SAMPLES, SIZE = 20, 5
BLOCKS = [list(range(end - SIZE, end)) for end in range(SAMPLES, 0, -SIZE)]
DRAWN = {index for block in BLOCKS[:2] for index in block}
EVEN = frozenset(range(0, SAMPLES, 2))
JUDGING = "f" * 64


def needed(blocks: int, closed: frozenset[int] = frozenset()) -> set[int]:
    """What is asked in so many blocks, if some are not needed after the first."""
    return {*BLOCKS[0], *({index for block in BLOCKS[:blocks] for index in block} - closed)}


@dataclass
class Rule:
    """Sure after so many blocks, all of which have a score; `closed` are needed in the first."""

    sure: int
    blocks: Sequence[Sequence[int]] = field(default_factory=lambda: BLOCKS)
    closed: frozenset[int] = frozenset()
    seen: int = 0

    def is_sure(self, outcomes: Mapping[int, float | None], blocks_done: int) -> bool:
        assert set(outcomes) == needed(blocks_done, self.closed)
        assert blocks_done == self.seen + 1
        self.seen = blocks_done
        return blocks_done == self.sure

    def is_drawn(self, index: int) -> bool:
        return not self.seen or index not in self.closed


async def after_two(_: RunLedger) -> Rule:
    return Rule(2)


def opened(rate: float, rule_of: RuleOf = after_two) -> Workshop:
    """An installation whose runs end by a rule; nobody has captions."""

    async def no_captions(*_: object) -> Mapping[tuple[str, str], str]:
        return {}

    blocks = DrawnBlocks(CODEC, rule_of, no_captions, queue_block)
    return Workshop(rate, advance=blocks.advance)


async def turn(shop: Workshop, outcome: object = CORRECT) -> None:
    await shop.known.conclude()
    await shop.tick(outcome)  # type: ignore[arg-type]


def asked(shop: Workshop) -> set[int]:
    """The questions that were asked, each sample's only one."""
    return {int(sample.removeprefix("nat_")) for _, sample in shop.asked}


async def as_in_one_process(run: Planned, drawn: set[int] = DRAWN) -> tuple[bytes, bytes]:
    rest = set(range(SAMPLES)) - drawn
    verdicts = [*(Verdict(i, CORRECT) for i in drawn), *(Verdict(i, UNDRAWN) for i in rest)]
    return await standalone(run, messages_of(run, verdicts))


def written(shop: Workshop, run: Planned) -> tuple[bytes | None, bytes | None]:
    return shop.file(run), shop.file(run, "verdicts.parquet")


@pytest.mark.parametrize("has_snapshot", [True, False])
@pytest.mark.parametrize("answered", [0, 3, SIZE, SIZE + 2, 2 * SIZE])
@pytest.mark.parametrize(("sure", "closed"), [(2, frozenset()), (3, EVEN), (99, EVEN)])
async def test_a_successor_goes_on_in_the_middle_of_a_block(
    *, sure: int, closed: frozenset[int], answered: int, has_snapshot: bool
) -> None:
    async def rule_of(_: RunLedger) -> Rule:
        return Rule(sure, closed=closed)

    drawn = needed(sure, closed)
    shop = opened(4, rule_of)
    run = await shop.start("ours", SAMPLES, judging=JUDGING)
    while sum(shop.asked.values()) < answered:
        await turn(shop)
    if has_snapshot:
        await shop.known.snapshot()
    waited = shop.most_waiting
    await shop.restart()
    while not shop.announced:
        await turn(shop)
    assert shop.announced[-1].state is RunState.DECIDED
    assert asked(shop) == drawn
    # Only what had not been answered was published again.
    assert sum(shop.asked.values()) <= len(drawn) + waited
    assert written(shop, run) == await as_in_one_process(run, drawn)


async def test_what_is_not_drawn_is_never_published() -> None:
    shop = opened(1_000)
    run = await shop.start("ours", SAMPLES, judging=JUDGING)
    other = await shop.start("theirs", SAMPLES)
    while len(shop.announced) < 2:
        await turn(shop)
    states = {each.run: each.state for each in shop.announced}
    assert states == {
        run.spec.run_id: RunState.DECIDED,
        other.spec.run_id: RunState.COMPLETE,
    }
    assert set(shop.asked.values()) == {1}
    assert sum(name == run.spec.run_id for name, _ in shop.asked) == len(DRAWN)
    assert written(shop, run) == await as_in_one_process(run)


async def test_a_sample_known_to_lack_its_caption_is_unscored_for_that_reason() -> None:
    lacking, found = {("captionqa", "nat_016"): Failure(Reason.BACKEND, "away")}, list[JobMessage]()

    async def known(_: RunSpec, samples: Iterable[tuple[str, str]]) -> Mapping[Any, Any]:
        return {key: lacking[key] for key in samples if key in lacking}

    async def publish(_: RunLedger, jobs: AsyncIterator[JobMessage]) -> None:
        found.extend([job async for job in jobs])

    shop = Workshop(1, advance=DrawnBlocks(CODEC, after_two, known, publish).advance)
    await shop.start("ours", SAMPLES, judging=JUDGING)
    await shop.known.conclude()
    assert len(found) == SIZE
    (told,) = (job.message for job in found if job.message.topic == VERDICTS)
    (verdict,) = CODEC.read_verdicts(told.value).verdicts
    assert verdict == Verdict(16, Unscored(Reason.BACKEND), Evidence(explanation="away"))


async def test_a_block_of_which_nothing_is_needed_is_only_looked_at() -> None:
    async def rule_of(_: RunLedger) -> Rule:
        return Rule(3, closed=frozenset(BLOCKS[1]))

    shop = opened(1_000, rule_of)
    run = await shop.start("ours", SAMPLES, judging=JUDGING)
    while not shop.announced:
        await turn(shop)
    assert asked(shop) == {*BLOCKS[0], *BLOCKS[2]}
    assert written(shop, run) == await as_in_one_process(run, asked(shop))


async def test_another_start_asks_for_a_block_that_is_lost() -> None:
    shop = opened(1_000)
    run = await shop.start("ours", SAMPLES, judging=JUDGING)
    await shop.known.conclude()
    await shop.dispatcher.refill()
    for _ in range(SIZE):
        lost = await shop.consumer.receive()
        assert lost is not None
        await shop.consumer.acknowledge(lost)
    await shop.start_again(run)
    while not shop.announced:
        await turn(shop)
    assert shop.announced[-1].state is RunState.DECIDED
    assert asked(shop) == DRAWN


async def test_failures_are_asked_again_before_the_run_is_decided_anew() -> None:
    shop = opened(1_000)
    run = await shop.start("ours", SAMPLES, judging=JUDGING)
    while not shop.announced:
        await turn(shop, Unscored(Reason.TIMEOUT))
    assert shop.announced[-1].state is RunState.FINISHED
    assert asked(shop) == DRAWN
    await shop.start_again(run)
    while len(shop.announced) < 2:
        await turn(shop)
    assert shop.announced[-1].state is RunState.DECIDED
    assert set(shop.asked.values()) == {2}
    assert written(shop, run) == await as_in_one_process(run)


async def test_one_that_wakes_up_publishes_nothing_else() -> None:
    shop = opened(4)
    run = await shop.start("ours", SAMPLES, judging=JUDGING)
    while sum(shop.asked.values()) < 2:
        await turn(shop)
    paused, dispatcher = shop.known, shop.dispatcher
    await shop.restart()
    while not shop.announced:
        await turn(shop)
        await paused.conclude()
        await dispatcher.refill()
    assert asked(shop) == DRAWN
    assert written(shop, run) == await as_in_one_process(run)


async def test_a_run_fails_whose_comparison_cannot_be_read_and_no_other() -> None:
    is_readable = False

    async def rule_of(run: RunLedger) -> StopRule:
        return await (
            after_two(run) if is_readable else stored_rule(shop.store, ModelRoom.rules(), run)
        )

    shop = opened(1_000, rule_of)
    run, other = await shop.start("ours", SAMPLES, judging=JUDGING), await shop.start("theirs", 9)
    while len(shop.announced) < 2:
        await turn(shop)
        shop.clock.seconds += 10
    ended = {each.run: each for each in shop.announced}
    assert ended[run.spec.run_id].state is RunState.FAILED
    assert "judging.json: missing from the store" in ended[run.spec.run_id].error
    assert ended[other.spec.run_id].state is RunState.COMPLETE
    is_readable = True
    await shop.start_again(run)
    while len(shop.announced) < 3:
        await turn(shop)
    assert shop.announced[-1].state is RunState.DECIDED
