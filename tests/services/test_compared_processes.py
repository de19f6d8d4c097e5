"""Runs compared by a gateway in a process of its own, from what real Kafka and MinIO kept."""

import json
import zlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest_asyncio
from aiohttp import web
from tests.fakes.chat_server import ChatServer, answer
from tests.fakes.installation import alone
from tests.fakes.separate import STAGES, Ground, Installation
from tests.fakes.separate import installation as installed
from tests.fakes.small_runs import example, local
from tests.fakes.sources import EXAMPLES

from caliper.adapters.exports.comparison import comparison_json
from caliper.cli.progress import WarningWatcher
from caliper.local.config import RunConfig, read_config
from caliper.local.directory import RunDirectory
from caliper.pipeline.comparing.comparison import ComparisonRequest, compare_runs


async def by_what_is_asked(
    server: ChatServer, request: web.Request, body: dict[str, Any]
) -> web.StreamResponse:
    """One score or another, always the same for the same question about the same caption."""
    score = (1, 0, -1)[zlib.crc32(json.dumps(body["messages"]).encode()) % 3]
    return await answer(str(score))(server, request, body)


@pytest_asyncio.fixture
async def there(ground: Ground) -> AsyncIterator[Installation]:
    chats = {kind: ChatServer(otherwise=by_what_is_asked) for kind in STAGES}
    async with installed(ground, chats) as found:
        yield found


def judged(name: str) -> RunConfig:
    """CAPability over the careful or the careless captions."""
    part = example(name).benchmarks["capability"]
    captions = read_config(EXAMPLES / f"{name}.yaml").benchmarks["capability"].captions
    chosen = {"capability": part.model_copy(update={"captions": captions})}
    return example(name).model_copy(update={"benchmarks": chosen})


async def test_it_is_told_to_the_last_bit_what_directories_tell(
    there: Installation, tmp_path: Path
) -> None:
    ids, directories = [], []
    for name in ("careless", "careful"):
        ids.append(await there.begin(judged(name)))
        await there.over(ids[-1])
        await alone(local(judged(name), there.chats), WarningWatcher(), tmp_path / name)
        directories.append(RunDirectory(tmp_path / name / "alone"))
    found, _ = await there.gateway.compare(ids, ComparisonRequest(partial=True))
    here = await compare_runs(
        [each.stored_run for each in directories], ComparisonRequest(partial=True)
    )
    assert comparison_json(found) == comparison_json(here)
    assert found == here
    flips = found.candidates[0].flips
    assert min(len(flips.of(better=True)), len(flips.of(better=False))) > 5
