"""Reads the outcomes of runs of CompreCap from their ledgers, for its analyses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

from caliper.analysis.comprecap.scenes import (
    ExaminedScene,
    SceneRun,
    SceneSet,
    over_shared_pictures,
)
from caliper.benchmarks.comprecap.planning import NAME
from caliper.core.errors import InvalidInput
from caliper.core.question import Source
from caliper.core.run import RunSpec
from caliper.local.analyses.caption_matching import CaptionMatcher, MatchingPorts
from caliper.local.analyses.setups import refuse_equal, refuse_other_data, run_name, runs_by_setup
from caliper.pipeline.comparing.comparison import open_whole
from caliper.pipeline.ledger.runs import StoredRun

_OF_CAPTIONS = ("prompt", "caption_tokens", "frames", "images", f"qa_data.{NAME}")
"""Settings of the captions and of the questions about the pictures, not of the judge."""


async def read_scenes(
    runs: Sequence[StoredRun], *, partial: bool = False, ports: MatchingPorts | None = None
) -> SceneSet:
    """The outcomes of runs, in their order, over the pictures for which all have scores. Captions
    are matched again if there are `ports`.

    Raises InvalidInput for no run, a run without CompreCap, runs over other data or without a
    common picture, two runs of one setup with the same label, and when something of a run is lost;
    NotReady for a run that is not complete, unless `partial`; StoreUnavailable; what the embedder
    raises.
    """
    by_setup = runs_by_setup(runs, NAME, _OF_CAPTIONS)
    refuse_other_data([run.spec for run in runs], NAME)
    for members in by_setup.values():
        refuse_equal([run.spec for run in members], lambda spec: spec.name, _label)
    first = by_setup.pop(())
    read = [await _read(run, ports, partial=partial) for run in first]
    for members in by_setup.values():
        read += [await _read(run, None, partial=partial) for run in members]
    read, remark = over_shared_pictures(read)
    rest = iter(read[len(first) :])
    others = {
        differing: {run.name: run.figures for run in islice(rest, len(members))}
        for differing, members in by_setup.items()
    }
    return SceneSet(tuple(read[: len(first)]), others, remark)


def _label(spec: RunSpec) -> str:
    return f"label, {spec.name}"


async def _read(stored: StoredRun, ports: MatchingPorts | None, *, partial: bool) -> SceneRun:
    run = await open_whole(stored, partial=partial)
    part = run.spec.benchmark(NAME)
    captions = (await stored.captions(run)).get(NAME, {})
    matcher = None if ports is None else CaptionMatcher(run.spec, stored.store, ports)
    scenes, answers = [], []
    async for items in run.plan():
        for item in items:
            if item.benchmark != NAME:
                continue
            outcomes = run.ledger.outcomes(item)
            if not outcomes:
                # Not drawn: the run is judged in part.
                continue
            if item.source is Source.MEDIA:
                answers.append((item, outcomes))
                continue
            text = captions.get(item.sample)
            scene = ExaminedScene(item, outcomes, None if text is None else str(text))
            if matcher is not None and text is not None:
                scene = replace(scene, scenes=await matcher.scenes(item, text))
            scenes.append(scene)
    if not scenes:
        raise InvalidInput(f"{run_name(run.spec)} has no judged picture", field="RUN")
    judge = part.models.get("judge")
    ruled = ports is not None and judge is not None and judge.matches(ports.rules)
    tagger = part.models["tagger"].label if "tagger" in part.models else ""
    return SceneRun(run.spec.name, part.settings, tuple(scenes), tuple(answers), tagger, ruled)
