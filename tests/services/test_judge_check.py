import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from tests.fakes.chat_server import ChatServer, answer
from tests.fakes.datasets import push_dataset
from tests.fakes.installation import alone, installation, over
from tests.fakes.sources import EXAMPLES

from caliper.adapters.stores.directory import DirectoryStore
from caliper.benchmarks.settings import resolve_settings
from caliper.cli.warning_watcher import WarningWatcher
from caliper.core.run import RunState
from caliper.local.config import RunConfig, read_config
from caliper.local.submission import parcel_at, send
from caliper.pipeline.reports.run_reader import FILES
from caliper.wiring.anchors import anchors_of
from caliper.wiring.grounds import memory_ground
from caliper.wiring.service_settings import QaReaderSettings

ANCHORS = anchors_of("captionqa", resolve_settings("captionqa", {}))
# Never measured: it only ends a test that would hang.
PATIENCE = 120
LETTERS = "ABC"


@dataclass
class SeededReader:
    """Its letters follow the seed of a request. Of the anchors it answers one caption's last: when
    `questions` of the run itself were answered.
    """

    questions: int = 0
    answered: int = 0
    free: asyncio.Event = field(default_factory=asyncio.Event)

    async def __call__(
        self, server: ChatServer, request: web.Request, body: dict[str, Any]
    ) -> web.StreamResponse:
        asked = json.dumps(body["messages"], ensure_ascii=False)
        if ANCHORS[0].caption in asked:
            await self.free.wait()
        reply = await answer(LETTERS[body["seed"] % len(LETTERS)])(server, request, body)
        if not any(anchor.caption in asked for anchor in ANCHORS):
            self.answered += 1
            if self.answered == self.questions:
                self.free.set()
        return reply


@pytest.fixture
def config() -> RunConfig:
    """A replicate, whose models draw from a seed of its own."""
    found = read_config(EXAMPLES / "careful.yaml")
    part = found.benchmarks["captionqa"].model_copy(update={"repeats": 2})
    changes = {"benchmarks": {"captionqa": part}, "limit": 3, "replicate": 1}
    return found.model_copy(update=changes)


@pytest.fixture
async def chat() -> AsyncIterator[ChatServer]:
    async with ChatServer() as found:
        yield found


async def test_every_file_is_that_of_one_process(
    config: RunConfig, chat: ChatServer, tmp_path: Path
) -> None:
    reader = SeededReader()
    reader.free.set()
    chat.from_now_on(reader)
    part = config.benchmarks["captionqa"].model_copy(update={"reader": f"tgi:{chat.url}"})
    here = config.model_copy(update={"benchmarks": {"captionqa": part}})
    await alone(here, WarningWatcher(), tmp_path)
    chat.from_now_on(SeededReader(questions=reader.answered))
    store = DirectoryStore(tmp_path / "store")
    await push_dataset(store, parcel_at("captionqa", part.data, part.media_root))
    reading = QaReaderSettings(model=f"tgi:{chat.url}")
    installed = installation(memory_ground(store), reader=reading)
    async with asyncio.timeout(PATIENCE), installed as gateway:
        run = (await send(config, gateway)).spec.run_id
        ended = await over(gateway, run)
        assert (ended.state, ended.error) == (RunState.COMPLETE, "")
        for file in FILES:
            told = await gateway.report(run, file)
            assert told == (tmp_path / "alone" / file).read_bytes(), file
        # Computed anew where the kept file is lost.
        (tmp_path / "store" / "runs" / run / "report" / "report.md").unlink()
        page = (await gateway.report(run, "report.md")).decode()
    assert page == (tmp_path / "alone" / "report.md").read_text("utf-8")
    assert f"of {len(ANCHORS)} known answers judged correctly" in page
    assert b"known answers" not in (tmp_path / "alone" / "report.json").read_bytes()
    kept = json.loads((tmp_path / "store/runs" / run / "anchors/captionqa.json").read_text())
    local = json.loads((tmp_path / "alone" / "execution.json").read_text())["anchors"]
    assert kept == {"schema": 1, **local["captionqa"]}
