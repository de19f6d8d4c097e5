import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.fakes import tiny
from tests.fakes.chat_server import MODEL, ChatServer, answer
from tests.fakes.clock import PATIENCE
from tests.fakes.installation import alone, listening, over
from tests.fakes.sources import EXAMPLES

from caliper.adapters.remote.channel import Target
from caliper.adapters.remote.gateway import RemoteGateway
from caliper.adapters.stores.directory import DirectoryStore
from caliper.adapters.streams.memory import MemoryStream
from caliper.adapters.wire.protobuf_codec import ProtobufCodec
from caliper.cli.warning_watcher import WarningWatcher
from caliper.core.dead_letters import DEAD_LETTERS
from caliper.core.run import RunState
from caliper.local.config import RunConfig, check_config
from caliper.local.submission import send
from caliper.pipeline.gateway.dead_letters import find_letters
from caliper.pipeline.planning.publisher import RUNS, VERDICTS
from caliper.pipeline.reports.verdict_query import VerdictQuery
from caliper.pipeline.store.run_record import Evaluation
from caliper.serving.lifecycle import merge_parts
from caliper.wiring.clock import SystemClock
from caliper.wiring.grounds import Ground
from caliper.wiring.service_settings import CaptionerSettings, JudgeSettings, QaReaderSettings
from caliper.wiring.services import open_answerer_parts
from caliper.wiring.startup import all_services

RIGHT = answer('{"score": 1, "reason": "so says the server"}')
SAMPLES = 20
TOKENS_A_CALL = 10


@dataclass
class CappedInstallation:
    """An installation, its judge's model, and the folder of the data."""

    gateway: RemoteGateway
    ground: Ground
    chat: ChatServer
    folder: Path

    async def run(self, config: RunConfig) -> Evaluation:
        begun = await send(config, self.gateway)
        # The limit only ends a test that would hang.
        async with asyncio.timeout(PATIENCE):
            return await over(self.gateway, begun.spec.run_id)

    async def reasons(self, ended: Evaluation) -> list[str]:
        """The reason of every verdict in the plan's order, empty for a score."""
        rows, _ = await self.gateway.verdicts(ended.spec.run_id, VerdictQuery(size=1000))
        return [row.reason for row in rows]


def scenes(folder: Path, judge: str | None = None, **caps: int) -> RunConfig:
    part: dict[str, Any] = {"data": str(folder / "data"), "captions": str(folder / "captions")}
    if judge is not None:
        part["judge"] = judge
    return check_config({"name": "ours", "benchmarks": {"capability": part}, **caps})


@asynccontextmanager
async def installed(folder: Path, judges: int = 1) -> AsyncIterator[CappedInstallation]:
    """So many judges that ask one call at a time each; the first of them captions as well."""
    stream = MemoryStream(logs=(VERDICTS, RUNS, DEAD_LETTERS))
    store = DirectoryStore(folder / "store")
    ground = Ground(store, stream, stream, ProtobufCodec(), SystemClock())
    async with ChatServer(otherwise=RIGHT) as chat:
        judging = JudgeSettings(model=f"tgi:{chat.url}", in_flight=1, anchors=False)
        captioning = CaptionerSettings(model=f"tgi:{chat.url}", in_flight=1)
        parts = [await all_services(ground, judging, QaReaderSettings(), captioning)]
        for _ in range(1, judges):
            another, _ = await open_answerer_parts("judge", judging, ground, ("rules", "ngram"))
            parts.append(another)
        async with (
            listening(merge_parts(parts)) as address,
            RemoteGateway(Target(address)) as gateway,
        ):
            yield CappedInstallation(gateway, ground, chat, folder)


async def test_calls_are_cut_by_index_when_planned(tmp_path: Path) -> None:
    tiny.write_scenes(tmp_path, SAMPLES)
    async with installed(tmp_path) as there:
        ended = await there.run(scenes(tmp_path, max_calls=7))
        assert ended.state is RunState.FINISHED
        assert await there.reasons(ended) == [""] * 7 + ["budget"] * 13
        assert len(there.chat.requests) == 7
        report = await there.gateway.report(ended.spec.run_id, partial=True)
        capped = scenes(tmp_path, f"tgi:{there.chat.url}", max_calls=7)
        assert report == await alone(capped, WarningWatcher(), tmp_path)

        asked = len(there.chat.requests)
        # A higher cap goes on where the lower one cut, and none to the end.
        ended = await there.run(scenes(tmp_path, max_calls=9))
        assert await there.reasons(ended) == [""] * 9 + ["budget"] * 11
        assert len(there.chat.requests) == asked + 2
        ended = await there.run(scenes(tmp_path))
        assert ended.state is RunState.COMPLETE
        assert len(there.chat.requests) == asked + SAMPLES - 7


async def test_a_lower_cap_takes_back_nothing(tmp_path: Path) -> None:
    tiny.write_scenes(tmp_path, SAMPLES)
    async with installed(tmp_path) as there:
        await there.run(scenes(tmp_path, max_calls=9))
        ended = await there.run(scenes(tmp_path, max_calls=5))
        assert await there.reasons(ended) == [""] * 9 + ["budget"] * 11
        assert len(there.chat.requests) == 9


async def test_a_run_that_a_cap_cut_is_never_complete(tmp_path: Path) -> None:
    tiny.write_scenes(tmp_path, SAMPLES)
    async with installed(tmp_path) as there:
        config = scenes(tmp_path, max_calls=SAMPLES - 1)
        ended = await there.run(config.model_copy(update={"coverage_floor": 0.5}))
        assert ended.state is RunState.FINISHED


@pytest.mark.parametrize("judges", [1, 2])
async def test_tokens_stop_the_run_and_the_next_start_goes_on(tmp_path: Path, judges: int) -> None:
    tiny.write_scenes(tmp_path, SAMPLES)
    async with installed(tmp_path, judges) as there:
        config = scenes(tmp_path, max_tokens=5 * TOKENS_A_CALL)
        ended = await there.run(config)
        assert ended.state is RunState.FINISHED
        asked = len(there.chat.requests)
        # Each judge has one call in flight, which is not taken back.
        assert 5 <= asked < 5 + 2 * judges
        assert sorted(await there.reasons(ended)) == [""] * asked + ["budget"] * (SAMPLES - asked)
        assert ended.benchmarks[0].coverage.unscored == {"budget": SAMPLES - asked}
        assert await find_letters(there.ground.logs) == []
        # The same cap once more: as many tokens as the first time, and none for what is known.
        await there.run(config)
        assert asked + 5 <= len(there.chat.requests) < asked + 5 + 2 * judges
        ended = await there.run(scenes(tmp_path))
        assert ended.state is RunState.COMPLETE
        assert len(there.chat.requests) == SAMPLES


async def test_replies_that_are_kept_cost_nothing(tmp_path: Path) -> None:
    tiny.write_scenes(tmp_path, SAMPLES)
    async with installed(tmp_path) as there:
        await there.run(scenes(tmp_path))
        renamed = scenes(tmp_path, max_tokens=1).model_copy(update={"name": "once more"})
        ended = await there.run(renamed)
        assert ended.state is RunState.COMPLETE
        assert len(there.chat.requests) == SAMPLES


async def test_captions_are_paid_for_by_the_same_cap(tmp_path: Path) -> None:
    part = {
        "data": str(EXAMPLES / "comprecap" / "anno.json"),
        "media": str(EXAMPLES / "media" / "images"),
        "captioner": MODEL,
    }
    config = check_config({"name": "ours", "benchmarks": {"comprecap": part}, "max_tokens": 1})
    async with installed(tmp_path) as there:
        ended = await there.run(config)
        assert ended.state is RunState.FINISHED
        (found,) = ended.benchmarks
        assert found.coverage.scored < found.coverage.planned
        assert set(found.coverage.unscored) == {"budget"}
        # That nothing is left to use is no failed job.
        assert await find_letters(there.ground.logs) == []
