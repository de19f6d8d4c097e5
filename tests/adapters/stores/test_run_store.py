"""Where the objects of a run lie; that it is a store is the stores' contract."""

import json
from pathlib import Path

from tests.fakes import runs

from caliper.adapters.stores.directory import DirectoryStore
from caliper.adapters.stores.run_store import RunStore
from caliper.core.run import RunSpec

SPEC = runs.spec()
OWN = f"runs/{SPEC.run_id}"


def opened(folder: Path) -> RunStore:
    return RunStore(folder / "run", SPEC.run_id, lambda: SPEC, DirectoryStore(folder / "store"))


async def keys(store: RunStore, prefix: str) -> list[str]:
    return [key async for key in store.list(prefix)]


async def test_the_run_lies_in_its_directory_and_all_else_in_the_shared_store(
    tmp_path: Path,
) -> None:
    store = opened(tmp_path)
    places = {
        f"{OWN}/plan/summary.json": "run/state/plan/summary.json",
        f"{OWN}/end.json": "run/state/end.json",
        f"{OWN}/captions/captionqa/ab.json": "run/state/captions/captionqa/ab.json",
        f"{OWN}/verdicts/00000000.jsonl.gz": f"run/state/verdicts/{SPEC.run_id}/00000000.jsonl.gz",
        f"{OWN}/reused/verdicts/ab/1": f"store/{OWN}/reused/verdicts/ab/1",
        f"runs/{16 * '0'}/end.json": f"store/runs/{16 * '0'}/end.json",
        "jobs/ab/abcdef.json": "store/jobs/ab/abcdef.json",
    }
    for key, place in places.items():
        await store.put(key, key.encode())
        assert (tmp_path / place).read_bytes() == await store.get(key) == key.encode()
        assert await keys(store, key.rpartition("/")[0] + "/") == [key]


async def test_its_spec_is_that_of_the_directory(tmp_path: Path) -> None:
    written = await opened(tmp_path).get(f"{OWN}/spec.json")
    assert RunSpec.from_json(json.loads(written or b"")) == SPEC
