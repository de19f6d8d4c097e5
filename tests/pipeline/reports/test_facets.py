from collections import Counter

import pytest
from tests.fakes import runs
from tests.fakes.clock import FakeClock
from tests.fakes.evaluations import House, messages_of, stored_run, verdict

from caliper.core.errors import InvalidInput, NotFound
from caliper.core.keys import canonical_json
from caliper.pipeline.reports.facets import facet_of
from caliper.pipeline.reports.run_reader import RunReader
from caliper.pipeline.reports.verdict_query import VerdictQuery
from caliper.pipeline.store.plan import SHARD_ITEMS
from caliper.pipeline.store.run_book import RunBook
from caliper.pipeline.store.runs import run_store


@pytest.fixture
def house() -> House:
    return House()


@pytest.fixture
def reader(house: House) -> RunReader:
    clock = FakeClock()
    return RunReader(house.store, RunBook(house.store, clock), clock, lambda *_: ())


async def told(house: House, *scores: int | None) -> str:
    run = await stored_run(house.store)
    board = await house.aggregator()
    await board.apply(messages_of(run, [verdict(*each) for each in enumerate(scores)]))
    await board.snapshot()
    return run.spec.run_id


@pytest.mark.parametrize("scores", [(), (1, 0, None, 1), (1, 0, None, 1, 0, 0)])
async def test_what_is_counted_can_be_asked_for(
    house: House, reader: RunReader, scores: tuple[int | None, ...]
) -> None:
    run = await told(house, *scores)
    rows, _ = await reader.verdicts(run, VerdictQuery())
    counts = (await reader.facets(run)).counts
    assert counts == Counter(map(facet_of, rows))
    assert sum(counts.values()) == len(scores)
    for facet, count in counts.items():
        found, _ = await reader.verdicts(run, VerdictQuery(*facet))
        assert len(found) == count
        assert set(map(facet_of, found)) == {facet}


async def test_nothing_is_read_of_verdicts_that_are_not_wanted(
    house: House, reader: RunReader
) -> None:
    run = await told(house, 1, 0, None, 1, 0, 0)
    await reader.verdicts(run, VerdictQuery())
    for key in [key for key in house.store.objects if "/verdicts/" in key]:
        house.store.objects[key] = b"what nobody can read"
    # The segment that was read last is at hand: it is dropped, and still nobody asks for it.
    reader._open_runs[run].run.log._cache._segments.clear()
    assert await reader.verdicts(run, VerdictQuery(outcome="cannot answer")) == ([], "")
    assert sum((await reader.facets(run)).counts.values()) == 6
    with pytest.raises(InvalidInput, match="broken segment"):
        await reader.verdicts(run, VerdictQuery())


async def test_nobody(reader: RunReader) -> None:
    with pytest.raises(NotFound):
        await reader.facets("0" * 16)


async def test_shards_without_what_is_wanted_are_passed_over(
    house: House, reader: RunReader
) -> None:
    spec = runs.spec()
    kept = run_store(house.store, spec.run_id)
    await kept.put("spec.json", canonical_json(spec.to_json()))
    count = 2 * SHARD_ITEMS + 10
    rows = {"captionqa": runs.sources(runs.choice_rows(count, 1), {})}
    run = await runs.planned(spec, rows, kept)
    assert run.summary.shards == 3
    board = await house.aggregator()
    last = count - 1
    verdicts = [verdict(index, int(index == last)) for index in range(count)]
    await board.apply(messages_of(run, verdicts))
    await board.snapshot()
    wanted = VerdictQuery(outcome="correct")
    found = await reader.verdicts(spec.run_id, wanted)
    assert [row.index for row in found[0]] == [last]
    await reader.facets(spec.run_id)
    for number in range(2):
        house.store.objects.pop(f"runs/{spec.run_id}/plan/{number:06}.jsonl.gz")
    assert await reader.verdicts(spec.run_id, wanted) == found
    with pytest.raises(InvalidInput, match="lost a shard"):
        await reader.verdicts(spec.run_id, VerdictQuery(outcome="wrong"))


@pytest.mark.parametrize("counted", [False, True])
async def test_a_dimension_that_no_question_has_is_refused(
    house: House, reader: RunReader, *, counted: bool
) -> None:
    run = await told(house, 1)
    if counted:
        await reader.facets(run)
    message = "unknown dimension of the run 'nope'; known: natural"
    for name in ("", "captionqa"):
        with pytest.raises(InvalidInput, match=message) as caught:
            await reader.verdicts(run, VerdictQuery(name, "nope"))
        assert caught.value.field == "dimension"
    # It has questions, and no such verdict yet.
    assert await reader.verdicts(run, VerdictQuery("", "natural", "unscored")) == ([], "")
