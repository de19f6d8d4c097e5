"""Three teams at once on Kafka and MinIO, with two judges: a quota of calls holds, and counts what
was spent once, though a judge is killed and its jobs come again.
"""

import asyncio
from pathlib import Path

import pytest
from tests.fakes.chat_server import ChatServer
from tests.fakes.quota_teams import RIGHT, calling, write_quotas, write_tokens
from tests.fakes.separate import JOBS, STAGES, Ground, installation

from caliper.core.errors import BackendOverloaded
from caliper.core.run import RunState

SAMPLES, LIMIT, JUDGES = 80, 30, 2
QUOTAS = f"""
default: {{calls_a_day: 100000}}
teams:
  red: {{calls_a_day: {LIMIT}}}
  blue: {{runs_at_once: 1, tokens_a_day: 100000, bytes_stored: 100000}}
"""


async def test_a_quota_holds_while_three_teams_work_and_a_judge_is_killed(
    ground: Ground, tmp_path: Path
) -> None:
    chats = {kind: ChatServer(delay=0.1, otherwise=RIGHT) for kind in STAGES}
    async with installation(ground, chats) as there:
        await there.another("judge", "second judge")
        quotas = write_quotas(tmp_path, QUOTAS)
        services = ("judge", "qa_reader", "captioner", "aggregator")
        places = {kind: f"127.0.0.1:{there.ports[kind]}" for kind in services}
        tokens = str(write_tokens(tmp_path))
        await there.another("gateway", "front", tokens=tokens, quotas=str(quotas), **places)
        address = f"127.0.0.1:{there.ports['front']}"
        async with calling(tmp_path, address, SAMPLES) as teams:
            callers = ("ana", "cleo", "dora")
            runs = dict(zip(callers, await asyncio.gather(*map(teams.start, callers)), strict=True))
            with pytest.raises(BackendOverloaded, match="team blue: 1 of 1 runs at once"):
                await teams.start("cleo", "another")
            await there.asked("judge", 20)
            await there.kill("second judge")
            ended = {caller: await teams.end(caller, run) for caller, run in runs.items()}
            assert ended["cleo"].state is ended["dora"].state is RunState.COMPLETE
            assert ended["ana"].state is RunState.FINISHED
            rows = await teams.verdicts("ana", runs["ana"])
            assert {row.reason for row in rows} == {"", "budget"}
            used = await teams.used("root")
            asked = used["red", "calls_a_day"]
            # What was under way when the limit was reached is not taken back; what the killed judge
            # had under way is not known.
            assert LIMIT <= asked <= LIMIT + JUDGES * JOBS
            scored = sum(not row.reason for row in rows)
            assert scored - JUDGES * JOBS <= asked <= scored + JUDGES * JOBS
            assert used["green", "calls_a_day"] <= SAMPLES + JOBS
            assert used["blue", "runs_at_once"] == 0
            assert 0 < used["blue", "bytes_stored"] < 100_000
            with pytest.raises(
                BackendOverloaded, match=r"team red: .* calls a day; available again at"
            ):
                await teams.start("ana", "another")
