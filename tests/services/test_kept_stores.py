"""Stores that an earlier commit's installation wrote (tests/kept): read, and taken up again."""

import json
from pathlib import Path

import pytest
from tests.fakes.chat_server import ChatServer
from tests.fakes.installation import over
from tests.fakes.kept_runs import FIGURES, KEPT, by_words, installation, replies, served, unpacked

from caliper.adapters.remote.gateway import RemoteGateway
from caliper.core.run import RunState
from caliper.local.config import RunConfig
from caliper.local.submission import send
from caliper.pipeline.reports.verdict_query import VerdictQuery

CALLS = json.loads((KEPT / "calls.json").read_text())


@pytest.fixture
def config(tmp_path: Path) -> RunConfig:
    data = tmp_path / "data"
    for file in (KEPT / "data").rglob("*.*"):
        copy = data / file.relative_to(KEPT / "data")
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(file.read_bytes())
    return served(data)


async def assert_figures(gateway: RemoteGateway, run: str) -> None:
    """The run's files of figures are those of the same run without services, to the byte."""
    for name in FIGURES:
        assert await gateway.report(run, name) == (KEPT / "judged" / name).read_bytes(), name


async def test_an_ended_run_is_shown_and_asks_nothing(config: RunConfig, tmp_path: Path) -> None:
    store = unpacked("store", tmp_path / "store")
    assert replies(store) == CALLS
    async with ChatServer(otherwise=by_words) as chat, installation(store, chat) as gateway:
        (listed,) = (await gateway.list()).evaluations
        assert listed.state is RunState.COMPLETE
        run = listed.spec.run_id
        rows, _ = await gateway.verdicts(run, VerdictQuery(size=1000))
        report = json.loads((KEPT / "judged" / "report.json").read_text())
        planned = sum(part["coverage"]["planned"] for part in report["benchmarks"].values())
        assert len(rows) == planned
        again = await send(config, gateway)
        assert (again.spec, again.state) == (listed.spec, RunState.COMPLETE)
        await assert_figures(gateway, run)
        assert chat.requests == []


async def test_a_run_that_was_stopped_in_its_middle_ends_and_asks_nothing_again(
    config: RunConfig, tmp_path: Path
) -> None:
    store = unpacked("store_interrupted", tmp_path / "store")
    known = replies(store)
    assert 0 < known < CALLS
    async with ChatServer(otherwise=by_words) as chat, installation(store, chat) as gateway:
        run = (await send(config, gateway)).spec.run_id
        assert (await over(gateway, run)).state is RunState.COMPLETE
        await assert_figures(gateway, run)
        assert len(chat.requests) == CALLS - known
