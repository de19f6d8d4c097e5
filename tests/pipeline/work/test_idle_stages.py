"""Runs can begin while a stage is asleep, with what it said when it was last awake."""

import asyncio

import pytest
from tests.fakes.stores import MemoryStore

from caliper.core.errors import (
    BackendError,
    BackendRejected,
    BackendTimeout,
    BackendUnavailable,
    InvalidInput,
)
from caliper.core.run import Identity
from caliper.pipeline.work.idle_stages import IdleStages
from caliper.ports.stages import StageDescription

AWAKE = StageDescription(
    {"judge": Identity("tgi", "judge-model", "r1"), "tagger": Identity("lexical", "rules", "9")},
    "p" * 64,
)
OTHER = StageDescription({"judge": Identity("tgi", "judge-model", "r2")}, "p" * 64)


class Stage:
    """A directory of one stage, which says what it is told to, or fails."""

    def __init__(self) -> None:
        self.says: StageDescription | Exception = AWAKE

    async def describe(self, role: str) -> StageDescription:
        if isinstance(self.says, Exception):
            raise self.says
        return self.says


@pytest.mark.parametrize("asleep", [BackendUnavailable("refused"), BackendTimeout("silent")])
async def test_a_stage_asleep_is_what_it_last_was(asleep: BackendError) -> None:
    stage, store = Stage(), MemoryStore()
    for said in (AWAKE, OTHER):
        stage.says = said
        assert await IdleStages(stage, store).describe("judge") == said
    stage.says = asleep
    # Whoever asks is another process than the one that was told.
    assert await IdleStages(stage, store).describe("judge") == OTHER


async def test_what_it_says_is_written_when_it_changes() -> None:
    stage, store = Stage(), MemoryStore()
    stages = IdleStages(stage, store)
    await stages.describe("judge")
    store.full = True
    assert await stages.describe("judge") == AWAKE
    store.full, stage.says = False, OTHER
    await stages.describe("judge")
    stage.says = BackendUnavailable("refused")
    assert await stages.describe("judge") == OTHER


async def test_one_that_was_never_awake_is_not_there() -> None:
    stage, store = Stage(), MemoryStore()
    await IdleStages(stage, store).describe("judge")
    stage.says = BackendUnavailable("refused")
    with pytest.raises(BackendUnavailable, match="refused"):
        await IdleStages(stage, store).describe("reader")


@pytest.mark.parametrize("refusal", [BackendRejected("no token"), InvalidInput("no judge")])
async def test_one_that_refuses_is_not_asleep(refusal: Exception) -> None:
    stage, store = Stage(), MemoryStore()
    await IdleStages(stage, store).describe("judge")
    stage.says = refusal
    with pytest.raises(type(refusal)):
        await IdleStages(stage, store).describe("judge")


async def test_it_asks_by_itself_and_passes_over_trouble() -> None:
    stage, store, told = Stage(), MemoryStore(), asyncio.Event()

    async def tell(call: str, key: str) -> None:
        if (call, key) == ("put", "stages/reader.json"):
            told.set()

    store.after = tell
    stage.says = BackendRejected("no token")
    stages = IdleStages(stage, store)
    following = asyncio.ensure_future(stages.follow(("judge", "reader"), interval=0))
    for _ in range(3):
        await asyncio.sleep(0)
    stage.says = AWAKE
    async with asyncio.timeout(10):
        await told.wait()
    following.cancel()
    stage.says = BackendUnavailable("refused")
    assert await IdleStages(stage, store).describe("judge") == AWAKE
    assert await IdleStages(stage, store).describe("reader") == AWAKE
