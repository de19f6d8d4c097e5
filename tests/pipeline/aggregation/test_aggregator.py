import asyncio
import itertools
import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.fakes.evaluations import (
    QUESTIONS,
    SIZE,
    House,
    event_of,
    messages_of,
    scored,
    set_up,
    standalone,
    stored_run,
    verdict,
    verdicts_of,
)

from caliper.core.envelopes import Message, Record
from caliper.core.errors import StoreFull, StreamUnavailable
from caliper.core.messages import EventKind, RunEnded
from caliper.pipeline.aggregation.outlets import Bounds, Trouble
from caliper.pipeline.planning.publisher import RUNS, VERDICTS

IDLE = 600.0
NUMBERED = b'{"schema": 1, "run": 1, "benchmark": "a", "sample": "a", "verdicts": []}'
# Rivals of every kind: two scores, two kinds of trouble, and a score that differs in words.
RIVALS = st.builds(
    verdict,
    st.integers(0, SIZE - 1),
    st.sampled_from([0, 1, None]),
    st.sampled_from(["", "a", "b"]),
)


@st.composite
def lives(draw: st.DrawFn) -> tuple[list[tuple[int, list[int]]], list[str]]:
    """Messages (which of two runs, which of a stock of verdicts), and what happens after each."""
    told = draw(
        st.lists(
            st.tuples(st.integers(0, 1), st.lists(st.integers(0, 11), min_size=1, max_size=4)),
            max_size=10,
        )
    )
    fates = st.sampled_from(["", "look", "snapshot", "conclude", "crash", "idle", "torn snapshot"])
    return told, draw(st.lists(fates, max_size=len(told) + 6))


@given(stock=st.lists(RIVALS, min_size=12, max_size=12), life=lives())
@settings(deadline=None, max_examples=80)
async def test_whatever_befalls_it_the_report_is_that_of_one_process(
    stock: list, life: tuple[list[tuple[int, list[int]]], list[str]]
) -> None:
    house = House(bounds=Bounds(idle=IDLE))
    both = [await stored_run(house.store, name) for name in ("ours", "theirs")]
    log = [
        record
        for which, chosen in life[0]
        for record in messages_of(both[which], [stock[one] for one in chosen])
    ]  # fmt: skip
    fates = [*life[1], *("" for _ in range(len(log) + 6))]
    # One run has all its outcomes early, so that what comes late is better or no news.
    log = [*scored(both[0]), *log, *scored(both[1])]
    log = [replace(record, offset=offset) for offset, record in enumerate(log)]
    aggregator = await house.aggregator()
    position = 0
    while position < len(log):
        await aggregator.apply([log[position]])
        position += 1
        fate = fates[position - 1]
        fates[position - 1] = ""
        if fate == "look":
            # From here on its sums are kept up, and its report is made of them.
            await asyncio.gather(*(aggregator.scores(run.spec.run_id) for run in both))
        elif fate == "snapshot":
            await aggregator.snapshot()
        elif fate == "conclude":
            await aggregator.conclude()
        elif fate == "idle":
            house.clock.seconds += IDLE
            await aggregator.conclude()
        elif fate == "torn snapshot":
            house.store.refused = "aggregator/"
            with pytest.raises(StoreFull):
                await aggregator.snapshot()
            house.store.refused = None
        if fate in ("crash", "torn snapshot"):
            aggregator = await house.aggregator()
            await aggregator.apply(house.ends())
            position = aggregator.places.offsets.get(VERDICTS, {}).get(0, 0)
    house.clock.seconds += IDLE
    await aggregator.conclude()
    assert house.warned == []
    for run in both:
        mine = [one for one in log if one.message.key.startswith(run.spec.run_id)]
        expected = await standalone(run, mine)
        assert (house.file(run), house.file(run, "verdicts.parquet")) == expected
        ends = [event for event in house.announced if event.run == run.spec.run_id]
        assert ends[-1].state in ("complete", "finished")
        assert all(one != other for one, other in itertools.pairwise(ends))


async def test_a_run_that_is_complete_is_told_once() -> None:
    house, run, aggregator = await set_up()
    records = scored(run)
    await aggregator.apply(records[:-1])
    await aggregator.conclude()
    assert house.announced == []
    await aggregator.apply([records[-1], *records])
    for _ in range(3):
        await aggregator.conclude()
    ((event,), (text, rows)) = house.announced, await standalone(run, records)
    assert (event.run, event.state) == (run.spec.run_id, "complete")
    assert (house.file(run), house.file(run, "verdicts.parquet")) == (text, rows)
    end = json.loads(house.store.objects[f"runs/{run.spec.run_id}/end.json"])
    assert (end["state"], end["report"]) == ("complete", event.report)


async def test_a_late_better_outcome_rewrites_the_report() -> None:
    house, run, aggregator = await set_up()
    records = [verdicts_of(run, [verdict(5)]), *scored(run)[:2], verdicts_of(run, [verdict(4, 1)])]
    await aggregator.apply(records)
    await aggregator.conclude()
    assert [event.state for event in house.announced] == ["finished"]
    healed = verdicts_of(run, [verdict(5, 1)])
    await aggregator.apply([healed])
    await aggregator.conclude()
    assert [event.state for event in house.announced] == ["finished", "complete"]
    assert house.file(run) == (await standalone(run, [*records, healed]))[0]


async def test_a_late_outcome_finds_a_run_that_was_forgotten() -> None:
    house, run, aggregator = await set_up(House(bounds=Bounds(idle=IDLE)))
    records = messages_of(run, [verdict(index) for index in range(SIZE)])
    await aggregator.apply(records)
    await aggregator.conclude()
    house.clock.seconds += IDLE
    await aggregator.conclude()
    await aggregator.snapshot()
    assert not any(b'"ended"' in data for key, data in house.store.objects.items() if "agg" in key)
    await aggregator.apply(scored(run))
    await aggregator.conclude()
    assert [event.state for event in house.announced] == ["finished", "complete"]
    assert house.file(run) == (await standalone(run, [*records, *scored(run)]))[0]


async def test_news_that_the_last_one_knew_is_told_by_the_next() -> None:
    house, run, aggregator = await set_up()
    await aggregator.apply(messages_of(run, [verdict(index) for index in range(SIZE)]))
    await aggregator.conclude()
    await aggregator.apply(scored(run))
    await aggregator.snapshot()
    await (await house.aggregator()).conclude()
    assert [event.state for event in house.announced] == ["finished", "complete"]


async def test_news_that_only_the_segments_know_is_told() -> None:
    house, run, aggregator = await set_up(House(bounds=Bounds(idle=0)))
    await aggregator.apply(messages_of(run, [verdict(index) for index in range(SIZE)]))
    await aggregator.conclude()
    await aggregator.snapshot()
    await aggregator.apply(scored(run))
    house.store.refused = "aggregator/"
    with pytest.raises(StoreFull):
        await aggregator.snapshot()
    house.store.refused = None
    aggregator = await house.aggregator()
    await aggregator.apply(scored(run))
    await aggregator.conclude()
    assert [event.state for event in house.announced] == ["finished", "complete"]


async def test_other_words_for_the_same_scores_are_no_news() -> None:
    house, run, aggregator = await set_up()
    await aggregator.apply(scored(run))
    await aggregator.conclude()
    before = house.file(run, "verdicts.parquet")
    await aggregator.apply(messages_of(run, [verdict(0, 0, "a")]))
    await aggregator.conclude()
    assert len(house.announced) == 1
    assert house.file(run, "verdicts.parquet") != before


async def test_an_end_that_could_not_be_told_is_told_later() -> None:
    class Deaf(House):
        deaf = True

        async def announce(self, event: RunEnded) -> None:
            if self.deaf:
                raise StreamUnavailable("down")
            await super().announce(event)

    house, run, aggregator = await set_up(Deaf())
    await aggregator.apply(scored(run))
    with pytest.raises(StreamUnavailable):
        await aggregator.conclude()
    await aggregator.snapshot()
    house.deaf = False
    await (await house.aggregator()).conclude()
    assert [event.state for event in house.announced] == ["complete"]


async def test_so_many_verdicts_wait_at_most() -> None:
    house, run, aggregator = await set_up(House(bounds=Bounds(verdicts=2 * QUESTIONS)))
    first, *others = scored(run)
    await aggregator.apply([first])
    written = f"runs/{run.spec.run_id}/verdicts/00000000.jsonl.gz"
    assert written not in house.store.objects
    await aggregator.apply(others)
    assert written in house.store.objects


async def test_poison_is_counted_and_passed_over() -> None:
    house, run, aggregator = await set_up()
    stranger = replace(run, spec=replace(run.spec, name="nobody's"))
    poison = [
        Record(0, 0, 0, Message(VERDICTS, "a", b"\xff{")),
        Record(0, 1, 0, Message(VERDICTS, "a", b'{"schema": 99}')),
        Record(0, 2, 0, Message(RUNS, "a/b", b"{}")),
        Record(0, 3, 0, Message(RUNS, "a/plan", b"{}")),
        Record(0, 7, 0, Message(VERDICTS, "a", NUMBERED)),
        verdicts_of(stranger, [verdict(0, 1)], 4),
        event_of(stranger, EventKind.FAIL, 5),
        verdicts_of(run, [verdict(0, 1), verdict(SIZE, 1)], 6),
    ]
    await aggregator.apply(poison)
    assert aggregator.troubles == {
        Trouble.REFUSED: 6, Trouble.UNKNOWN_RUN: 2
    }  # fmt: skip
    job = {"run": run.spec.run_id, "benchmark": "captionqa", "sample": "nat_000"}
    strange = {"run": stranger.spec.run_id}
    assert house.subjects == [{}, {}, {}, {}, {}, job | strange, strange, job]
    await aggregator.apply(scored(run))
    await aggregator.conclude()
    assert house.file(run) == (await standalone(run, scored(run)))[0]


@pytest.mark.parametrize("run", ["../../etc", "", "0" * 17, "g" * 16, "A" * 16])
async def test_what_is_no_run_id_reaches_no_store(run: str) -> None:
    house = House()
    aggregator = await house.aggregator()
    assert await aggregator.scores(run) is None


async def test_a_broken_plan_fails_its_run_and_no_other() -> None:
    house = House()
    broken, whole = [await stored_run(house.store, name) for name in ("ours", "theirs")]
    del house.store.objects[f"runs/{broken.spec.run_id}/plan/000000.jsonl.gz"]
    aggregator = await house.aggregator()
    await aggregator.apply([*scored(broken), *scored(whole)])
    for _ in range(2):
        await aggregator.conclude()
    told = {event.run: event for event in house.announced}
    assert len(house.announced) == 2
    assert (told[broken.spec.run_id].state, told[whole.spec.run_id].state) == ("failed", "complete")
    assert "lost a shard" in told[broken.spec.run_id].error


async def test_evidence_in_memory_is_bounded() -> None:
    house, run, aggregator = await set_up(House(bounds=Bounds(pending=60)))
    await aggregator.apply(scored(run))
    segments = [key for key in house.store.objects if "/verdicts/" in key]
    assert len(segments) > 1
