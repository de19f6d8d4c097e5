"""Where the objects of a run lie; that it is a store is the stores' contract."""

import json
from fractions import Fraction
from pathlib import Path

import pytest
from tests.fakes import runs

from caliper.adapters.stores.directory import DirectoryStore
from caliper.adapters.stores.run_store import RunStore
from caliper.core.errors import InvalidInput, NewerSchema
from caliper.core.keys import canonical_json
from caliper.core.outcome import Scored, Verdict
from caliper.core.run import RunSpec
from caliper.pipeline.ledger.verdict_log import SegmentCache, StoreLog
from caliper.pipeline.store.decompression import MOST_UNPACKED

SPEC, ANOTHER = runs.spec(name="ours"), runs.spec(name="theirs")
OWN = f"runs/{SPEC.run_id}"
KNOWN, LATER = Verdict(0, Scored(Fraction(1))), Verdict(1, Scored(Fraction(0)))


def opened(folder: Path, spec: RunSpec = SPEC) -> RunStore:
    return RunStore(folder / "run", spec, DirectoryStore(folder / "store"))


async def keys(store: RunStore, prefix: str) -> list[str]:
    return [key async for key in store.list(prefix)]


async def test_the_run_lies_in_its_directory_and_all_else_in_the_shared_store(
    tmp_path: Path,
) -> None:
    store = opened(tmp_path)
    places = {
        f"{OWN}/plan/summary.json": "run/state/plan/summary.json",
        f"{OWN}/end.json": "run/state/end.json",
        f"{OWN}/captions/captionqa/a.json": f"run/state/captions/{SPEC.run_id}/captionqa/a.json",
        f"{OWN}/verdicts/0.jsonl.gz": f"run/state/verdicts/{SPEC.run_id}/0.jsonl.gz",
        f"{OWN}/reused/verdicts/ab/1": f"store/{OWN}/reused/verdicts/ab/1",
        f"runs/{16 * '0'}/end.json": f"store/runs/{16 * '0'}/end.json",
        "run-index/1-ab.json": "run/state/run-index/1-ab.json",
        "jobs/ab/abcdef.json": "store/jobs/ab/abcdef.json",
    }
    for key, place in places.items():
        await store.put(key, key.encode())
        assert (tmp_path / place).read_bytes() == await store.get(key) == key.encode()
    for key in places:
        if not key.endswith("end.json"):
            assert await keys(store, key.rpartition("/")[0] + "/") == [key]


async def test_its_spec_is_that_of_the_directory(tmp_path: Path) -> None:
    written = await opened(tmp_path).get(f"{OWN}/spec.json")
    assert RunSpec.from_json(json.loads(written or b"")) == SPEC


async def kept(folder: Path, spec: RunSpec = SPEC) -> list[Verdict]:
    """The verdicts of a run once there is one more."""
    store = opened(folder, spec)
    log = await StoreLog.open(store, f"runs/{spec.run_id}/verdicts", SegmentCache(store))
    log.append([LATER])
    await log.flush()
    return [found async for batch in log.batches() for _, found in batch]


async def test_verdicts_of_another_run_are_not_read(tmp_path: Path) -> None:
    assert await kept(tmp_path, ANOTHER) == [LATER]
    assert await kept(tmp_path) == [LATER]


def journal(folder: Path, header: bytes) -> None:
    """What earlier releases kept of verdicts."""
    line = canonical_json(KNOWN.to_json()) + b"\n"
    file = folder / "run" / "state" / "journal.jsonl"
    file.parent.mkdir(parents=True)
    file.write_bytes(header + b"\n" + line + line[:9])


async def test_a_journal_is_read_as_the_first_segment(tmp_path: Path) -> None:
    journal(tmp_path, canonical_json({"run": SPEC.run_id, "schema": 1}))
    assert await kept(tmp_path) == [KNOWN, LATER]
    assert await keys(opened(tmp_path), f"{OWN}/verdicts/") == [
        f"{OWN}/verdicts/{number:08}.jsonl.gz" for number in range(2)
    ]


@pytest.mark.parametrize(
    ("header", "error", "told"),
    [
        (
            {"run": ANOTHER.run_id, "schema": 1},
            InvalidInput,
            f"the journal of run {ANOTHER.run_id}",
        ),
        ({"run": SPEC.run_id, "schema": 2}, NewerSchema, "schema 2"),
        ([], InvalidInput, r"journal\.jsonl:1: not a journal"),
    ],
)
async def test_a_journal_that_is_not_of_the_run_is_refused(
    tmp_path: Path, header: object, error: type[Exception], told: str
) -> None:
    journal(tmp_path, canonical_json(header))
    with pytest.raises(error, match=told):
        await kept(tmp_path)


async def test_rubbish_is_no_journal(tmp_path: Path) -> None:
    journal(tmp_path, b"\xff")
    with pytest.raises(InvalidInput, match="not a journal"):
        await kept(tmp_path)


async def test_a_journal_may_be_larger_than_what_a_segment_unpacks_to(tmp_path: Path) -> None:
    journal = tmp_path / "run" / "state" / "journal.jsonl"
    journal.parent.mkdir(parents=True)
    lines = bytes(MOST_UNPACKED) + b"\n"
    journal.write_bytes(canonical_json({"schema": 1, "run": SPEC.run_id}) + b"\n" + lines)
    found = await SegmentCache(opened(tmp_path)).get(f"{OWN}/verdicts/00000000.jsonl.gz")
    assert found == lines
