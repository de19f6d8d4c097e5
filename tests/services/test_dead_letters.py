"""Jobs that were put aside heal their run once they are put back."""

import asyncio
from pathlib import Path

from tests.fakes.chat_server import ChatServer, answer, status
from tests.fakes.installation import alone, installation, over
from tests.fakes.separate import ENDS_WITHIN
from tests.fakes.sources import EXAMPLES

from caliper.adapters.stores.directory import DirectoryStore
from caliper.adapters.streams.memory import MemoryStream
from caliper.adapters.wire.protobuf_codec import ProtobufCodec
from caliper.cli.warning_watcher import WarningWatcher
from caliper.core.dead_letters import DEAD_LETTERS
from caliper.core.run import RunState
from caliper.local.config import read_config
from caliper.local.submission import send
from caliper.pipeline.gateway.dead_letters import LetterFilter, find_letters, replay
from caliper.pipeline.planning.publisher import QA_JOBS, RUNS, VERDICTS
from caliper.wiring.clock import SystemClock
from caliper.wiring.grounds import Ground, memory_ground
from caliper.wiring.service_settings import QaReaderSettings


async def test_a_run_is_healed_by_its_dead_letters(tmp_path: Path) -> None:
    stream = MemoryStream(logs=(VERDICTS, RUNS, DEAD_LETTERS))
    store = DirectoryStore(tmp_path / "store")
    ground = Ground(store, stream, stream, ProtobufCodec(), SystemClock())
    config = read_config(EXAMPLES / "careful.yaml")
    part = config.benchmarks["captionqa"]
    config = config.model_copy(update={"benchmarks": {"captionqa": part}, "limit": 2})
    async with ChatServer(otherwise=status(500)) as chat:
        model = f"tgi:{chat.url}"
        reading = QaReaderSettings(model=model, retry_budget=0, in_flight=2)
        async with installation(ground, reader=reading) as gateway:
            run = (await send(config, gateway)).spec.run_id
            ended = await over(gateway, run)
            assert ended.state is RunState.FINISHED
            lost = ended.benchmarks[0].coverage
            assert (lost.scored, lost.unscored) == (0, {"backend": lost.planned})
            letters = await find_letters(stream, LetterFilter(run=run))
            assert {kept.letter.job.topic for kept in letters} == {QA_JOBS}
            chat.from_now_on(answer("A"))
            assert len(await replay(stream, letters)) == len(letters) > 0
            examined = part.model_copy(update={"reader": model})
            undisturbed = config.model_copy(update={"benchmarks": {"captionqa": examined}})
            expected = await alone(undisturbed, WarningWatcher(), tmp_path)
            # The limit only ends a test that would hang.
            async with asyncio.timeout(ENDS_WITHIN):
                while await gateway.report(run, partial=True) != expected:  # noqa: ASYNC110 - see
                    # the gateway: no event says that a report was written anew.
                    await asyncio.sleep(0.3)
            assert await replay(stream, await find_letters(stream)) == []


async def test_a_complete_run_is_started_again_for_failures_that_may_be_transient(
    tmp_path: Path,
) -> None:
    ground = memory_ground(DirectoryStore(tmp_path / "store"))
    config = read_config(EXAMPLES / "careful.yaml")
    part = {"captionqa": config.benchmarks["captionqa"]}
    config = config.model_copy(update={"benchmarks": part, "limit": 2, "coverage_floor": 0.0})
    async with ChatServer(otherwise=status(400)) as chat:
        reading = QaReaderSettings(model=f"tgi:{chat.url}", in_flight=2)
        async with installation(ground, reader=reading) as gateway:
            run = (await send(config, gateway)).spec.run_id
            lost = (await over(gateway, run)).benchmarks[0].coverage
            assert (lost.scored, lost.unscored) == (0, {"backend": lost.planned})
            chat.from_now_on(answer("A"))
            assert (await send(config, gateway)).state is RunState.PLANNING
            ended = await over(gateway, run)
            assert ended.state is RunState.COMPLETE
            assert ended.benchmarks[0].coverage.scored == lost.planned
            assert (await send(config, gateway)).state is RunState.COMPLETE
