"""Services whose models are swapped under their served name: what the old ones said is not taken
for the new ones' replies.
"""

import asyncio
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.fakes import chat_server as fake
from tests.fakes.chat_server import MODEL, ChatServer
from tests.fakes.clock import PATIENCE
from tests.fakes.installation import installation, over
from tests.fakes.opinions import steadfast
from tests.fakes.sources import EXAMPLES

from caliper.adapters.remote.gateway import RemoteGateway
from caliper.adapters.stores.directory import DirectoryStore
from caliper.core.report import Reuse
from caliper.core.run import RunState
from caliper.local.config import check_config
from caliper.local.submission import send
from caliper.pipeline.store.run_record import Evaluation
from caliper.wiring.grounds import memory_ground
from caliper.wiring.service_settings import CaptionerSettings, QaReaderSettings


def installed(
    store: DirectoryStore, captioner: ChatServer, reader: ChatServer
) -> AbstractAsyncContextManager[RemoteGateway]:
    reading = QaReaderSettings(model=f"tgi:{reader.url}", anchors=False)
    captioning = CaptionerSettings(model=f"tgi:{captioner.url}")
    return installation(memory_ground(store), reader=reading, captioner=captioning)


async def evaluated(
    gateway: RemoteGateway, store: DirectoryStore, name: str, **more: Any
) -> Evaluation:
    part = {
        "data": str(EXAMPLES / "captionqa" / "questions.json"),
        "media": str(EXAMPLES / "media"),
        "captioner": MODEL,
    }
    config = {"name": name, "benchmarks": {"captionqa": part}, "coverage_floor": 0.5, "limit": 1}
    begun = await send(check_config({**config, **more}), gateway)
    async with asyncio.timeout(PATIENCE):
        ended = await over(gateway, begun.spec.run_id)
    assert (ended.state, ended.error) == (RunState.COMPLETE, "")
    return ended


def server(kind: str, caption: str = "") -> ChatServer:
    return ChatServer(otherwise=fake.answer(caption) if caption else steadfast, kind=kind)


async def test_the_same_words_are_read_anew_by_another_reader(tmp_path: Path) -> None:
    store = DirectoryStore(tmp_path / "store")
    asked = []
    for name in ("ours", "theirs"):
        async with server("tgi", "A red car.") as captioner, server("openai") as reader:
            async with installed(store, captioner, reader) as gateway:
                found = await evaluated(gateway, store, name)
            asked.append((len(captioner.requests), len(reader.requests)))
    captions = asked[0][0]
    assert captions > 0
    # The captioner's server reports a hash, so its captions are shared; the reader's does not.
    assert asked[1] == (0, asked[0][1])
    assert found.reuse is not None
    assert replace(found.reuse, of_verdicts=0) == Reuse(captions, captions, 0, 0)


async def test_a_captioner_without_a_revision_takes_none_from_the_reader(tmp_path: Path) -> None:
    store = DirectoryStore(tmp_path / "store")
    async with (
        server("openai", "A red car.") as captioner,
        server("tgi") as reader,
        installed(store, captioner, reader) as gateway,
    ):
        await evaluated(gateway, store, "step1")
        asked = len(captioner.requests), len(reader.requests)
        second = await evaluated(gateway, store, "step2")
        assert len(captioner.requests) == 2 * asked[0]
        assert len(reader.requests) == asked[1]
        assert second.reuse is not None
        assert (second.reuse.captions, second.reuse.verdicts > 0) == (0, True)
        page = (await gateway.report(second.spec.run_id, "report.md")).decode()
        assert "verdicts reuse replies of earlier runs" in page
        again = await evaluated(gateway, store, "step2")
        assert again == second
        assert again.ended is not None
        shared = await evaluated(gateway, store, "step3", share_replies=True)
        assert shared.spec.share_replies
        await evaluated(gateway, store, "step4", share_replies=True)
    # Those of step3 were the first that may be shared.
    assert len(captioner.requests) == 3 * asked[0]
