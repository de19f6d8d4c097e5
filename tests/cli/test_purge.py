"""`caliper runs purge` on a store in a directory."""

import json
from datetime import UTC, datetime
from pathlib import Path
from socket import gethostname

import pytest
from tests.fakes.command import Command
from tests.fakes.evaluations import stored_run
from tests.fakes.stores import MemoryStore

from caliper.cli.exits import Exit
from caliper.core.terms import Terms
from caliper.pipeline.store.runs import note_start, run_store, write_json

LONG_AGO = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
async def runs(tmp_path: Path) -> list[str]:
    """Two runs in `store`, of which the first is over."""
    store, names = MemoryStore(), []
    for name in ("over", "not over"):
        run = (await stored_run(store, name)).spec.run_id
        own = run_store(store, run)
        await note_start(own, Terms(), LONG_AGO)
        await write_json(own, "cancelled.json", cancelled=False)
        names.append(run)
    ended = LONG_AGO.isoformat()
    await write_json(
        run_store(store, names[0]), "end.json", state="failed", ended_at=ended, start=1
    )
    for key, data in store.objects.items():
        file = tmp_path / "store" / key
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    return names


def files(folder: Path) -> list[Path]:
    return [file for file in folder.rglob("*") if file.is_file()]


def test_old_runs_are_listed_first_and_removed_with_yes(tmp_path: Path, runs: list[str]) -> None:
    caliper, store = Command(tmp_path), tmp_path / "store"
    own, before = files(store / "runs" / runs[0]), files(store)
    size = sum(file.stat().st_size for file in own)
    purge = ("runs", "purge", "--store", "store", "--older-than", "30")
    listed = caliper(*purge, code=Exit.DONE)
    shown = listed.out
    assert listed.err == ""
    amount = f"{len(own)} objects, {size:,} bytes"
    assert f"{runs[0]}  2026-01-01 00:00  over failed  {amount}" in shown
    assert f"1 runs, {amount} to remove; nothing was changed" in shown
    assert runs[1] not in shown
    assert files(store) == before
    removed = caliper(*purge, "--yes", "--json", code=Exit.DONE)
    told, (line,) = removed.told, map(json.loads, removed.err.splitlines())
    assert (line["logger"], line["method"]) == ("caliper.audit", "caliper runs purge")
    assert (line["object"], line["outcome"], line["peer"]) == (runs[0], "OK", gethostname())
    assert (told["removed"], told["objects"], told["bytes"]) == (True, len(own), size)
    assert [each["run"] for each in told["runs"]] == runs[:1]
    assert sorted(set(before) - set(files(store))) == sorted(own)
    assert "0 runs, 0 objects, 0 bytes removed." in caliper(*purge, "--yes", code=Exit.DONE).out


def test_the_runs_to_remove_must_be_named(tmp_path: Path) -> None:
    refused = Command(tmp_path)("runs", "purge", "--store", "store", "--yes", code=Exit.BAD_INPUT)
    assert "say which runs: --older-than DAYS, --keep N, or both" in refused.err
    refused = Command(tmp_path)("runs", code=Exit.BAD_INPUT)
    assert "--server HOST:PORT is needed" in refused.err
