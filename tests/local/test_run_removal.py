"""Runs that are removed, and what other runs beside them still have."""

from pathlib import Path

import pytest
from tests.fakes import chat_server as fake
from tests.fakes import tiny
from tests.fakes.chat_server import ChatServer

from caliper.adapters.stores.directory import DirectoryStore
from caliper.local.baseline_runs import place_whole
from caliper.local.config import check_config
from caliper.local.directory import RunDirectory
from caliper.local.run import evaluate
from caliper.local.run_removal import remove_run
from caliper.local.setup import prepare
from caliper.local.watchers import SilentWatcher
from caliper.wiring.clock import SystemClock
from caliper.wiring.settings import access, decoders

SAMPLES = 4
JUDGE = fake.answer('{"score": 1, "reason": "so says the server"}')


async def run(
    folder: Path, name: str | Path, judge: ChatServer, captioner: ChatServer
) -> RunDirectory:
    models = {
        role: f"tgi:{server.url}#{fake.MODEL}@{server.revision}"
        for role, server in (("judge", judge), ("captioner", captioner))
    }
    values = {"benchmarks": {"capability": {"data": folder / "data", **models}}}
    places = {"out": folder / "runs" / name, "store": folder / "runs" / ".store"}
    config = check_config({**values, "anchors": False, **places})
    async with prepare(config, access(2), SystemClock()) as setup:
        await evaluate(setup, SilentWatcher(), SystemClock(), decoders())
    return RunDirectory(folder / "runs" / name)


async def test_a_reply_goes_with_the_last_run_that_uses_it(tmp_path: Path) -> None:
    tiny.write_pictures(tmp_path, SAMPLES)
    store = tmp_path / "runs" / ".store"

    def stored() -> tuple[int, int]:
        return len(list(store.glob("captions/*/*"))), len(list(store.glob("jobs/*/*")))

    writes = fake.answer("A park."), fake.answer("A dog.")
    async with (
        ChatServer(otherwise=JUDGE) as judge,
        ChatServer(otherwise=writes[0], revision="a" * 40) as first,
        ChatServer(otherwise=writes[0], revision="b" * 40) as second,
        ChatServer(otherwise=writes[1], revision="c" * 40) as third,
    ):
        runs = [
            await run(tmp_path, server.revision[0], judge, server)
            for server in (first, second, third)
        ]
    assert stored() == (3 * SAMPLES, 2 * SAMPLES)
    await remove_run(runs[0])
    # The second run has captions of its own, and verdicts from the replies that the first got.
    assert stored() == (2 * SAMPLES, 2 * SAMPLES)
    await remove_run(runs[1])
    assert stored() == (SAMPLES, SAMPLES)
    left = [key async for key in DirectoryStore(store).list("runs/")]
    await remove_run(runs[2])
    assert (stored(), left) == ((0, 0), [])
    assert [path.name for path in (tmp_path / "runs").iterdir()] == [".store"]


async def test_the_run_that_judged_it_in_full_goes_with_it(tmp_path: Path) -> None:
    tiny.write_pictures(tmp_path, SAMPLES)
    store = tmp_path / "runs" / ".store"
    async with (
        ChatServer(otherwise=JUDGE) as judge,
        ChatServer(otherwise=JUDGE, revision="a" * 40) as other,
        ChatServer(otherwise=fake.answer("A park.")) as captioner,
    ):
        first = await run(tmp_path, "first", judge, captioner)
        whole = await run(
            tmp_path, place_whole(first).relative_to(first.path.parent), other, captioner
        )
        assert whole.path == place_whole(first)
    assert len(list(store.glob("jobs/*/*"))) == 2 * SAMPLES
    held = {path: path.read_bytes() for path in first.path.rglob("*.json")}
    with first.claim(first.read_spec()):
        # Somebody works on it: it stays for the next time.
        await remove_run(first)
    assert {path: path.read_bytes() for path in first.path.rglob("*.json")} == held
    assert len(list(store.glob("jobs/*/*"))) == 2 * SAMPLES
    await remove_run(first)
    assert [*store.glob("jobs/*/*"), *store.glob("runs/*")] == []
    assert not first.path.exists()


@pytest.mark.parametrize("readable", [True, False])
async def test_captions_stay_while_another_run_may_use_them(tmp_path: Path, readable: bool) -> None:
    tiny.write_pictures(tmp_path, SAMPLES)
    captions = tmp_path / "runs" / ".store" / "captions"
    async with (
        ChatServer(otherwise=JUDGE) as judge,
        ChatServer(otherwise=JUDGE, revision="a" * 40) as other,
        ChatServer(otherwise=fake.answer("A park.")) as captioner,
    ):
        first, second = [
            await run(tmp_path, name, server, captioner)
            for name, server in (("first", judge), ("second", other))
        ]
        asked = len(captioner.requests)
    assert asked == SAMPLES
    if not readable:
        (second.path / "run.yaml").write_text("broken")
    await remove_run(first)
    assert not first.path.exists()
    assert len(list(captions.glob("*/*"))) == SAMPLES
