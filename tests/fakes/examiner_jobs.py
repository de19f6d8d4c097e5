"""Jobs of a reader and a judge, with scripted models."""

import re
from collections.abc import Container
from dataclasses import replace
from fractions import Fraction
from typing import Any

from tests.fakes import runs
from tests.fakes.models import OpenPack, Script, ScriptedModel
from tests.fakes.stores import MemoryStore

from caliper.core.caption import Caption
from caliper.core.messages import ExamineJob, Verdicts
from caliper.core.outcome import Outcome, Reason, Scored
from caliper.core.question import Source
from caliper.core.run import RunSpec
from caliper.pipeline.asking.answerer import PromptingAnswerer
from caliper.pipeline.asking.examiner import Examiner, Models

FIVE = {"captionqa": runs.sources(runs.choice_rows(1, 5), {})}


PACK = OpenPack("caption", "question", "options")


RIGHT = Scored(Fraction(1))


def right(text: str, before: int = 0) -> str:
    """The letter of `green`, which is always right."""
    match = re.search(r"([A-Z])\. green", text)
    assert match
    return match[1]


def about(text: str) -> int:
    """The number of the thing in the question."""
    return int(text.split("thing ")[1][0])


def failing(error: Exception, *numbers: int) -> Script:
    """Answers correctly, except for these questions."""
    return lambda text, before: error if about(text) in numbers else right(text)


async def a_job(
    spec: RunSpec, text: str = "it is green", place: int = 0, drawn: Container[int] = range(5)
) -> ExamineJob:
    planned = await runs.planned(spec, FIVE, MemoryStore())
    item = planned.items[place]
    questions = (
        each if each.ordinal in drawn else replace(each, unscored=Reason.NOT_DRAWN)
        for each in item.questions
    )
    item = replace(item, questions=tuple(questions))
    caption = Caption(item.sample, text) if item.source is Source.CAPTION else None
    return ExamineJob(spec.run_id, item.benchmark, item.sample, caption, (item,))


async def examined(
    model: ScriptedModel,
    store: MemoryStore | None,
    spec: RunSpec | None = None,
    pack: OpenPack = PACK,
    **options: Any,
) -> Verdicts:
    final = options.pop("final", False)
    spec = spec or runs.spec()
    answerer = PromptingAnswerer(model, pack, spec.seed)
    job = await a_job(spec, **options)
    examiner = Examiner(spec, Models({"captionqa/reader": answerer}), store)
    if not final:
        return await examiner.examine(job)
    verdicts, _ = await examiner.conclude(job)
    return verdicts


def outcomes(verdicts: Verdicts) -> list[Outcome]:
    return [verdict.outcome for verdict in verdicts.verdicts]


def with_settings(**settings: str) -> RunSpec:
    part = runs.part()
    return runs.spec(replace(part, settings={**part.settings, **settings}))


SCENE_PACK = OpenPack("sentence", "phrase")


async def a_scene() -> tuple[RunSpec, ExamineJob]:
    """A picture of a dog, asked about three times."""
    spec = runs.spec(runs.part("comprecap"))
    benchmark_sources = {"comprecap": runs.sources(runs.scene_graph_rows(), {})}
    planned = await runs.planned(spec, benchmark_sources, MemoryStore())
    caption = Caption("park.jpg", "A dog runs.")
    job = ExamineJob(spec.run_id, "comprecap", "park.jpg", caption, tuple(planned.items))
    return spec, job
