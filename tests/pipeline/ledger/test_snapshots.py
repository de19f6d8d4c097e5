from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fakes.evaluations import House, scored, standalone, stored_run, verdict
from tests.fakes.stores import MemoryLog, MemoryStore

from caliper.core.errors import InvalidInput
from caliper.core.outcome import Scored, Verdict
from caliper.pipeline.aggregation.outlets import Trouble
from caliper.pipeline.ledger.ledger import Ledger
from caliper.pipeline.ledger.offsets import LogOffsets
from caliper.pipeline.ledger.snapshots import RunSnapshot, Snapshot, decode, encode, newest, save


def snapshot(number: int = 0) -> Snapshot:
    ledger = Ledger(4, MemoryLog())
    ledger.merge([verdict(0, 1), verdict(2), Verdict(3, Scored(Fraction(10**40, 7)))])
    kept = RunSnapshot({"error": "\ud800"}, ledger.columns, current=True)
    empty = RunSnapshot({}, Ledger(0, MemoryLog()).columns, current=False)
    places = LogOffsets({"verdicts": {0: 7, 3: 2**40}, "runs": {}}, {"verdicts": "f" * 32})
    return Snapshot(number, places, {"a": ("complete", "f" * 64)}, {"b": kept, "a": empty})


def test_what_was_encoded_is_decoded() -> None:
    found = decode(encode(snapshot(5)))
    assert found == snapshot(5)
    ledger = Ledger(4, MemoryLog(), found.runs["b"].columns)
    assert ledger.known == 3
    assert ledger.outcome(3) == Scored(Fraction(10**40, 7))


@given(st.integers(0, len(encode(snapshot())) - 1), st.booleans())
def test_what_is_not_whole_is_refused(place: int, cut: bool) -> None:
    data = bytearray(encode(snapshot()))
    data[place] ^= 1
    with pytest.raises(InvalidInput, match="snapshot"):
        decode(bytes(data[:place]) if cut else bytes(data))


async def test_the_newest_whole_one_counts() -> None:
    store = MemoryStore()
    assert await newest(store) == (None, [])
    for number in range(8):
        await save(store, number, encode(snapshot(number)))
    found, errors = await newest(store)
    assert (found and found.number, errors, len(store.objects)) == (7, [], 3)
    await save(store, 7, encode(snapshot(7))[:-1])
    found, errors = await newest(store)
    assert (found and found.number, len(errors)) == (6, 1)


@pytest.mark.parametrize(
    "facts",
    [
        {},
        {"events": 1},
        {"events": {"paused": 1}},
        {"ended": "asleep"},
        {"announced": []},
        {"tried": ["first"]},
        None,
    ],
)
async def test_a_run_as_another_release_knew_it_is_opened_anew(
    facts: dict[str, object] | None,
) -> None:
    house = House()
    run, other = [await stored_run(house.store, name) for name in ("ours", "theirs")]
    aggregator = await house.aggregator()
    await aggregator.apply([*scored(run)[:-1], *scored(other)])
    await aggregator.snapshot()
    kept, _ = await newest(house.store)
    assert kept is not None
    mine = kept.runs[run.spec.run_id]
    strange = {**mine.facts, **facts} if facts else facts
    kept.runs[run.spec.run_id] = replace(mine, facts=strange)  # type: ignore[arg-type]
    await save(house.store, kept.number, encode(kept))
    aggregator = await house.aggregator()
    assert house.warned == [Trouble.LOST]
    assert house.subjects == [{"run": run.spec.run_id}]
    await aggregator.apply([scored(run)[-1]])
    await aggregator.conclude()
    assert {event.state for event in house.announced} == {"complete"}
    for each in (run, other):
        assert house.file(each) == (await standalone(each, scored(each)))[0]
