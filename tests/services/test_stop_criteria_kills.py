"""A run that is decided by services that are killed between looks, on real Kafka and MinIO."""

from pathlib import Path

from tests.fakes.chat_server import ChatServer
from tests.fakes.decided_runs import (
    CHECKS,
    SAMPLES,
    checkpoint,
    in_one_process,
    judge,
    shown,
    shown_by_task,
)
from tests.fakes.separate import IN_FLIGHT, STAGES, Ground, installation

from caliper.analysis.gate import Policy
from caliper.core.run import RunState
from caliper.local.submission import send
from caliper.pipeline.aggregation.sequential import SequentialPlan

BLOCK = SAMPLES // 40
"""Questions of a task in each block but the first."""


async def test_killed_services_change_no_byte_and_ask_nothing_else(
    ground: Ground, tmp_path: Path
) -> None:
    base = checkpoint(tmp_path, "base", 10, colors=10)
    worse = checkpoint(tmp_path, "worse", 10, colors=40)
    alone = tmp_path / "alone"
    chats = {kind: ChatServer(otherwise=judge) for kind in STAGES}
    async with installation(ground, chats) as there:
        chat = chats["judge"]
        first = await in_one_process(base, chat.url, alone / "base")
        plan = SequentialPlan(first.stored_run, Policy(CHECKS), None, 0.05)
        chat.requests.clear()
        second = await in_one_process(worse, chat.url, alone / "worse", plan)
        drawn, (scenes, colors) = shown(chat), shown_by_task(chat)
        await there.over(await there.begin(base))
        chat.requests.clear()
        run = (await send(worse, there.gateway, plan.criterion)).spec.run_id
        # In the middle of the first block that asks about colors only, and near the end.
        for asked, killed in (
            (2 * scenes + BLOCK // 2, ("aggregator", "judge")),
            (len(drawn) - BLOCK, ("aggregator",)),
        ):
            await there.asked("judge", asked)
            for kind in killed:
                await there.kill(kind)
            for kind in killed:
                await there.again(kind)
        ended = await there.over(run)
        assert (ended.state, ended.spec) == (RunState.DECIDED, second.read_spec())
        assert await there.report(run) == (second.path / "report.json").read_bytes()
        assert shown(chat) == drawn
        assert scenes + 2 * BLOCK < colors
        # What was in flight when they were killed may have been asked once more.
        assert len(chat.requests) <= len(drawn) + 2 * (BLOCK + IN_FLIGHT)
