"""All services in one process: the same report as without services, over real gRPC."""

import asyncio
from pathlib import Path

import pytest
from tests.fakes.clock import PATIENCE
from tests.fakes.installation import alone, installation, over
from tests.fakes.sources import EXAMPLES

from caliper.adapters.remote.gateway import RemoteGateway
from caliper.adapters.stores.directory import DirectoryStore
from caliper.cli.warning_watcher import WarningWatcher
from caliper.core.run import RunState
from caliper.local.config import RunConfig, read_config
from caliper.local.submission import send
from caliper.pipeline.reports.verdict_query import VerdictQuery
from caliper.wiring.grounds import memory_ground


@pytest.fixture
def careful() -> RunConfig:
    return read_config(EXAMPLES / "careful.yaml")


async def test_the_report_is_that_of_one_process_without_services(
    gateway: RemoteGateway, store: DirectoryStore, careful: RunConfig, tmp_path: Path
) -> None:
    begun = await send(careful, gateway)
    ended = await over(gateway, begun.spec.run_id)
    assert (ended.state, ended.error) == (RunState.COMPLETE, "")
    report = await gateway.report(begun.spec.run_id)
    assert report == await alone(careful, WarningWatcher(), tmp_path)
    assert {part.name for part in ended.benchmarks} == set(careful.benchmarks)
    page = await gateway.list()
    assert [found.spec for found in page.evaluations] == [begun.spec]
    assert page.evaluations[0].state is RunState.COMPLETE


async def test_the_same_spec_is_the_same_run(
    gateway: RemoteGateway, store: DirectoryStore, careful: RunConfig
) -> None:
    limited = careful.model_copy(update={"limit": 1})
    first = await send(limited, gateway)
    again = await send(limited, gateway)
    assert first.spec == again.spec
    await over(gateway, first.spec.run_id)
    once_more = await send(limited, gateway)
    assert once_more.state is RunState.COMPLETE
    assert len((await gateway.list()).evaluations) == 1


async def test_verdicts_come_in_pages(
    gateway: RemoteGateway, store: DirectoryStore, careful: RunConfig
) -> None:
    run = (await send(careful, gateway)).spec.run_id
    await over(gateway, run)
    whole, token = await gateway.verdicts(run, VerdictQuery(size=1000))
    assert token == ""
    rows, token = await gateway.verdicts(run, VerdictQuery(size=7))
    while token:
        page, token = await gateway.verdicts(run, VerdictQuery(size=7, token=token))
        rows += page
    assert rows == whole
    chosen, _ = await gateway.verdicts(run, VerdictQuery(benchmark="captionqa", outcome="correct"))
    expected = [r for r in whole if (r.benchmark, r.outcome) == ("captionqa", "correct")]
    assert chosen == expected[:100]
    assert chosen


async def test_a_process_on_the_store_of_another_does_new_runs(
    store: DirectoryStore, careful: RunConfig
) -> None:
    for limit in (2, 1):
        async with installation(memory_ground(store)) as gateway:
            begun = await send(careful.model_copy(update={"limit": limit}), gateway)
            async with asyncio.timeout(PATIENCE):
                ended = await over(gateway, begun.spec.run_id)
        assert ended.state is RunState.COMPLETE
