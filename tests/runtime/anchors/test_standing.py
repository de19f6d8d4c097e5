"""Anchors in a service: a sitting for each benchmark of each run, and nothing that it may end."""

import asyncio
from collections.abc import Iterable
from dataclasses import replace

import pytest
from tests.fakes.models import ScriptedModel
from tests.fakes.telemetry import ToldScores

from caliper.adapters.packs.files import shipped_pack
from caliper.benchmarks.settings import resolved_settings
from caliper.core.errors import BackendTimeout, ModelChanged
from caliper.core.run import BenchmarkSpec, RunSpec
from caliper.pipeline.answerer import PromptingAnswerer
from caliper.pipeline.examine import Models
from caliper.runtime.anchors.frozen import anchors_of
from caliper.runtime.anchors.standing import StandingAnchors

PACK = shipped_pack()
PART = BenchmarkSpec("captionqa", "", None, resolved_settings("captionqa", {}), {})
SPEC = RunSpec("checkpoint", "1", PACK.digest, (PART,))
ANCHORS = len(anchors_of("captionqa", PART.settings))


class Sitting(ToldScores):
    """Telemetry that says when so many sittings were told."""

    def __init__(self, wanted: int) -> None:
        super().__init__()
        self.told: list[tuple[str, str, float]] = []
        self.wanted = wanted
        self.enough = asyncio.Event()

    def anchored(self, judge: str, benchmark: str, agreement: float) -> None:
        self.told.append((judge, benchmark, agreement))
        if len(self.told) == self.wanted:
            self.enough.set()


async def sit(model: ScriptedModel, telemetry: Sitting, met: Iterable[RunSpec]) -> None:
    def models(_: int) -> Models:
        return Models({"captionqa/reader": PromptingAnswerer(model, PACK)})

    standing = StandingAnchors(models, telemetry)
    running = asyncio.ensure_future(standing.run())
    for spec in met:
        standing.meet(spec, "captionqa")
    await asyncio.wait_for(telemetry.enough.wait(), timeout=60)
    running.cancel()


async def test_each_run_has_one_sitting_however_many_jobs_it_has() -> None:
    model, telemetry = ScriptedModel(lambda text, before: "A"), Sitting(2)
    other = replace(SPEC, replicate=1)
    await sit(model, telemetry, [SPEC, SPEC, other, SPEC, other])
    assert len(model.calls) == 2 * ANCHORS
    assert [told[:2] for told in telemetry.told] == [("scripted", "captionqa")] * 2
    assert 0 < telemetry.told[0][2] < 1


@pytest.mark.parametrize("error", [ModelChanged("another"), BackendTimeout("silent")])
async def test_trouble_tells_nothing_and_the_next_run_is_judged(error: Exception) -> None:
    def troubled(text: str, before: int) -> str | Exception:
        return error if before == 0 else "A"

    model, telemetry = ScriptedModel(troubled), Sitting(1)
    await sit(model, telemetry, [SPEC, replace(SPEC, replicate=1)])
    assert len(telemetry.told) == 1


async def test_few_verdicts_tell_nothing_of_a_judge() -> None:
    asked = 0

    def mostly_silent(text: str, before: int) -> str | Exception:
        nonlocal asked
        asked += 1
        return BackendTimeout("silent") if 3 < asked <= ANCHORS else "A"

    model, telemetry = ScriptedModel(mostly_silent), Sitting(1)
    await sit(model, telemetry, [SPEC, replace(SPEC, replicate=1)])
    # The first sitting had three verdicts, the second all.
    assert len(model.calls) == 2 * ANCHORS
    assert len(telemetry.told) == 1
