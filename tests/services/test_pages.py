"""report.html of services: the bytes of a run in one process, pictures and all."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.fakes.datasets import push_dataset
from tests.fakes.installation import installation, over
from tests.fakes.sources import EXAMPLES

from caliper.adapters.stores.directory import DirectoryStore
from caliper.local.config import RunConfig, read_config
from caliper.local.submission import parcel_at, send
from caliper.wiring.grounds import Ground, memory_ground

PICTURE = b"data:image/jpeg;base64,"


@pytest.fixture
def ground(tmp_path: Path) -> Ground:
    return memory_ground(DirectoryStore(tmp_path / "store"))


@pytest.fixture
def careful() -> RunConfig:
    return read_config(EXAMPLES / "careful.yaml").model_copy(update={"limit": 2})


async def push_media(ground: Ground, config: RunConfig) -> None:
    for name, part in config.benchmarks.items():
        await push_dataset(ground.store, parcel_at(name, part.data, part.media_root))


async def test_media_that_were_not_pushed_have_no_picture(
    ground: Ground, careful: RunConfig
) -> None:
    async with installation(ground) as gateway:
        begun = await send(careful, gateway)
        await over(gateway, begun.spec.run_id)
        page = await gateway.report(begun.spec.run_id, "report.html")
    assert page.count(PICTURE) == 0


async def test_many_reports_are_computed_without_holding_each_other_up(
    ground: Ground, careful: RunConfig, tmp_path: Path
) -> None:
    await push_media(ground, careful)
    async with installation(ground) as gateway:
        begun = await send(careful, gateway)
        run = begun.spec.run_id
        await over(gateway, run)
        whole = await gateway.report(run, "report.html")
        # Without the kept file it is computed for every caller, in threads that wait for others,
        # of which there are fewer than callers.
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(2))
        (tmp_path / "store" / "runs" / run / "report" / "report.html").unlink()
        async with asyncio.timeout(120):
            pages = await asyncio.gather(
                *(gateway.report(run, "report.html", partial=True) for _ in range(6))
            )
    assert set(pages) == {whole}
