"""`caliper analyze comprecap`: the analyses of the CompreCap paper, over stored runs."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from caliper.adapters.comprecap_tables import scene_sections
from caliper.analysis.caption_metrics.measures import CaptionMeasure
from caliper.analysis.comprecap.ablations import THRESHOLDS
from caliper.analysis.comprecap.analyses import NAMES, HumanStudy, analyse
from caliper.analysis.comprecap.people import measures_of
from caliper.analysis.comprecap.scenes import TITLES, SceneSet
from caliper.analysis.human_scores import Measures
from caliper.cli.analyses import chosen_analyses, only_option, write_analyses
from caliper.cli.comparison import Partial
from caliper.cli.console import ERR
from caliper.cli.correlation import Scores
from caliper.cli.flags import Json, Page
from caliper.cli.metrics.clip_options import (
    ClipSpecs,
    PictureEmbedderSpec,
    Pictures,
    TextEmbedder,
    clip_specs,
)
from caliper.cli.metrics.java import JavaMetrics, MeteorJar, SpiceJar, java_metrics
from caliper.cli.metrics.measurement import referenced_captions
from caliper.cli.metrics.ratings import HumanScoresFile, read_human_scores, read_metric_scores
from caliper.cli.options import command_taking
from caliper.cli.run_arguments import Runs
from caliper.core.errors import InvalidInput
from caliper.local.analyses.caption_matching import MatchingPorts
from caliper.local.analyses.scene_outcomes import read_scenes
from caliper.local.directory import find_run
from caliper.pipeline.ledger.runs import StoredRun
from caliper.wiring.clock import SystemClock
from caliper.wiring.models import ModelRoom
from caliper.wiring.settings import access

HELP = """Analyse the outcomes of several runs of CompreCap.

people: how metrics agree with people's scores (--people); compreqa: questions about tiny objects;
ablations: other similarity thresholds and noun taggers, without a model; coverage: objects by the
area of their masks. A model is a run's label. Runs whose setup differs from the first are used only
for the ablations. Exit code 3: none is possible.
"""
Only = Annotated[list[str] | None, only_option(NAMES)]
References = Annotated[
    Path | None,
    typer.Option(
        "--references",
        metavar="PATH",
        help="Reference captions, whose `metrics` are correlated, too.",
    ),
]
OwnMetrics = Annotated[
    Path | None,
    typer.Option(
        "--scores",
        metavar="PATH",
        help="CSV with a column per metric of your own; rows as in --people.",
    ),
]
Thresholds = Annotated[
    list[float] | None,
    typer.Option(
        "--threshold",
        metavar="X",
        min=0,
        max=1,
        help="Least similarity of a match. Default: 0.3 to 0.8; repeatable.",
    ),
]
OtherTaggers = Annotated[
    list[str] | None,
    typer.Option(
        "--tagger", metavar="NAME", help="Another tagger: rules or spacy:MODEL; repeatable."
    ),
]
RunEmbedder = Annotated[
    str | None,
    typer.Option(
        "--embedder",
        metavar="SPEC",
        help="The runs' embedder, for words whose vectors are not stored.",
    ),
]


_NEEDED = {
    "people": ("references", "scores"),
    "references": ("meteor", "spice", "text_embedder", "picture_embedder", "media"),
}
"""Options, and those that do nothing without them."""


@dataclass(frozen=True, slots=True)
class SceneOptions:
    """The arguments and options of `analyze comprecap`."""

    runs: Runs
    only: Only = None
    people: HumanScoresFile = None
    column: Scores = "score"
    references: References = None
    meteor: MeteorJar = None
    spice: SpiceJar = None
    text_embedder: TextEmbedder = None
    picture_embedder: PictureEmbedderSpec = None
    media: Pictures = None
    scores: OwnMetrics = None
    threshold: Thresholds = None
    tagger: OtherTaggers = None
    embedder: RunEmbedder = None
    html: Page = None
    partial: Partial = False
    json: Json = False


def _comprecap(options: SceneOptions) -> int:
    names = chosen_analyses(options.only, NAMES)
    for needed, others in _NEEDED.items():
        for flag in others if getattr(options, needed) is None else ():
            if getattr(options, flag) is not None:
                field = f"--{flag.replace('_', '-')}"
                raise InvalidInput(f"it is only used with --{needed}", field=field)
    programs = java_metrics(options.meteor, options.spice)
    clip = clip_specs(options.text_embedder, options.picture_embedder, options.media)
    stored = [find_run(name).stored_run for name in options.runs]
    scenes = asyncio.run(_read(stored, options, again="ablations" in names))
    study = HumanStudy()
    if options.people is not None:
        measures = measures_of(scenes.runs, _other_metrics(scenes, options, programs, clip))
        study = HumanStudy(read_human_scores(options.people, options.column, measures), measures)
    analyses = analyse(scenes, names, study, sorted(set(options.threshold or THRESHOLDS)))
    sections = scene_sections(analyses)
    return write_analyses(
        analyses, sections, "CompreCap", "the ablations", html=options.html, json=options.json
    )


async def _read(stored: Sequence[StoredRun], options: SceneOptions, *, again: bool) -> SceneSet:
    """The outcomes of the runs, and their captions matched `again` for the ablations."""
    room = ModelRoom(access(16, (options.embedder,)), SystemClock())
    try:
        ports = None
        if again:
            embedder = None if options.embedder is None else await room.embedder(options.embedder)
            taggers = [room.tagger(name) for name in options.tagger or ()]
            ports = MatchingPorts(room.rules().identity, taggers, embedder)
        return await read_scenes(stored, partial=options.partial, ports=ports)
    finally:
        await room.close()


def _other_metrics(
    scenes: SceneSet, options: SceneOptions, programs: JavaMetrics, clip: ClipSpecs | None
) -> Measures:
    """The metrics against references, then those of one's own. Raises InvalidInput for a name that
    two have.
    """
    models = [run.name for run in scenes.runs]
    measures: dict[str, list[CaptionMeasure]] = {model: [] for model in models}
    if options.references is not None:
        sets = referenced_captions(_captions(scenes), options.references)
        for warning in sets.warnings:
            ERR.print(f"[yellow]Warning:[/yellow] {escape(warning)}", soft_wrap=True)
        measures = sets.measure(programs)
        if clip is not None:
            for model, added in asyncio.run(clip.measure(sets))[0].items():
                measures[model] += added
    if options.scores is not None:
        taken = {*TITLES.values(), *(one.name for some in measures.values() for one in some)}
        for model, own in read_metric_scores(options.scores, models).items():
            for one in own:
                if one.name in taken:
                    problem = "a metric of Caliper has this name"
                    raise InvalidInput(problem, file=str(options.scores), line=1, field=one.name)
            measures[model] += own
    return measures


def _captions(scenes: SceneSet) -> dict[str, dict[str, str]]:
    """The captions of each run by image."""
    return {
        run.name: {
            scene.item.sample: scene.caption for scene in run.scenes if scene.caption is not None
        }
        for run in scenes.runs
    }


comprecap = command_taking(_comprecap, SceneOptions, help_text=HELP)
