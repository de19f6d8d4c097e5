"""The pictures of the documentation, of one real run.

`PYTHONPATH=tools python -m tests.fakes.pictured` starts everything, draws
docs/images/dashboard-*.svg from what a real Prometheus then answers, and takes
docs/images/page-*.png of the gateway's pages. It takes some minutes, most of them for models that
are slow.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from querying import Prometheus
from tests.fakes import browsing
from tests.fakes.observed import (
    CHECKPOINTS,
    NEWEST,
    OLDEST,
    ObservedGround,
    checkpoint,
    evaluated,
    foul,
    observed,
)
from tests.fakes.separate import ROOT, Installation
from tests.fakes.small_runs import EXAMPLES
from tests.servers import broker, metrics_server, object_server

from caliper.adapters.streams.kafka_access import KafkaAccess
from caliper.adapters.streams.kafka_topics import apply_topics
from caliper.pipeline.supplies import push_dataset
from caliper.standalone.config import read_config
from caliper.standalone.remote import parcel_at

IMAGES = ROOT / "docs" / "images"
WIDE = 1100
OTHER = "step-1500"
MOST = f"""
sum(caliper_questions{{model="{NEWEST}", state=~"scored|unscored"}})
> 0.7 * sum(caliper_questions{{model="{NEWEST}", state="planned"}})
"""


async def push_media(there: Installation) -> None:
    """As `caliper data push` does: pictures are shown of samples that nobody captions as well."""
    for name, part in checkpoint(OLDEST).benchmarks.items():
        await push_dataset(there.store, parcel_at(name, part.data, part.media_root))


@asynccontextmanager
async def watched(scratch: Path) -> AsyncIterator[tuple[ObservedGround, Installation, str]]:
    """The installation on a broker, a store and a Prometheus of its own, whose URL is the last."""
    folders = [scratch / name for name in ("kafka", "minio", "prometheus", "services")]
    for folder in folders:
        folder.mkdir()
    kafka, kafka_at = broker.start(folders[0])
    minio, minio_at = object_server.start(folders[1])
    prometheus, url = metrics_server.start(folders[2])
    try:
        apply_topics(KafkaAccess(kafka_at), partitions=4)
        ground = ObservedGround(kafka_at, minio_at, "caliper", folders[3])
        async with observed(ground, prometheus, 0.4) as there:
            yield ground, there, url
    finally:
        for server in (prometheus, minio, kafka):
            server.stop()


def take(home: str, shots: dict[str, tuple[str, int]]) -> None:
    """Pictures of pages of the gateway by their names: the path of each, and how many pixels from
    its top.
    """
    path = browsing.program()
    assert path is not None, "this machine has no Chromium"
    with browsing.chromium(path) as browser, browsing.looking(browser, f"{home}/") as look:
        for name, (place, high) in shots.items():
            page = look(home + place, WIDE)
            page.set_viewport_size({"width": WIDE, "height": high})
            page.wait_for_load_state("networkidle")
            page.screenshot(path=IMAGES / f"page-{name}.png")


async def draw() -> None:
    """Draw while the second run goes on; what compares both waits for its end."""
    begun = time.time()
    with tempfile.TemporaryDirectory() as scratch:
        async with watched(Path(scratch)) as (ground, there, url):
            home = f"http://127.0.0.1:{ground.page}"
            await foul(there)
            await push_media(there)
            oldest = await there.begin(checkpoint(OLDEST))
            await evaluated(there, oldest)
            newest = await there.begin(checkpoint(NEWEST))
            while not await asyncio.to_thread(Prometheus(url).instant, MOST):  # noqa: ASYNC110
                await asyncio.sleep(0.5)
            # While it goes on.
            await asyncio.to_thread(take, home, {"run": (f"/runs/{newest}", 760)})
            script = [sys.executable, str(ROOT / "tools" / "pictures.py"), "--prometheus", url]
            asked = [*script, "--minutes", str((time.time() - begun) / 60)]
            await asyncio.to_thread(subprocess.run, asked, check=True)
            await evaluated(there, newest)
            # All its captions are supplied, as those of the oldest: only so are they compared.
            config = read_config(EXAMPLES / f"{CHECKPOINTS[NEWEST]}.yaml")
            other = await there.begin(config.model_copy(update={"name": OTHER}))
            await evaluated(there, other)
            shots = {
                "samples": (f"/runs/{oldest}/samples?benchmark=captionqa&outcome=wrong", 860),
                "compare": (f"/compare?base={oldest}&run={other}", 1000),
                "flips": (f"/compare?base={oldest}&run={other}#better-1", 760),
            }
            await asyncio.to_thread(take, home, shots)


if __name__ == "__main__":
    asyncio.run(draw())
