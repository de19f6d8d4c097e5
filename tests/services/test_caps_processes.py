"""A cap on tokens that two judges keep together, as processes on real Kafka and MinIO."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio
from tests.fakes import tiny
from tests.fakes.chat_server import ChatServer, answer
from tests.fakes.separate import IN_FLIGHT, STAGES, Ground, Installation
from tests.fakes.separate import installation as installed

from caliper.core.run import RunState
from caliper.local.config import check_config
from caliper.pipeline.reports.run_reader import VerdictQuery

SAMPLES, CALLS, TOKENS_A_CALL = 120, 40, 10


@pytest_asyncio.fixture
async def there(ground: Ground) -> AsyncIterator[Installation]:
    right = answer('{"score": 1, "reason": "so says the server"}')
    # Slow enough that both judges are at work.
    chats = {kind: ChatServer(otherwise=right, delay=0.05) for kind in STAGES}
    async with installed(ground, chats) as found:
        yield found


async def test_two_judges_keep_one_cap_on_tokens(there: Installation, tmp_path: Path) -> None:
    tiny.write_scenes(tmp_path, SAMPLES)
    await there.another("judge", "another-judge")
    part = {"data": str(tmp_path / "data"), "captions": str(tmp_path / "captions")}
    config = check_config({"name": "ours", "benchmarks": {"capability": part}})
    capped = config.model_copy(update={"max_tokens": CALLS * TOKENS_A_CALL})
    run = await there.begin(capped)
    ended = await there.over(run)
    assert ended.state is RunState.FINISHED
    asked = len(there.chats["judge"].requests)
    # What is in flight is not taken back: a few jobs more than calls, at each of the two.
    assert CALLS <= asked <= CALLS + 2 * (IN_FLIGHT + IN_FLIGHT // 2)
    rows, _ = await there.gateway.verdicts(run, VerdictQuery(size=1000))
    reasons = [row.reason for row in rows]
    assert (reasons.count(""), reasons.count("budget")) == (asked, SAMPLES - asked)
    assert await there.letters(run) == []

    assert await there.begin(config) == run
    ended = await there.over(run)
    assert ended.state is RunState.COMPLETE
    assert len(there.chats["judge"].requests) == SAMPLES
