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
from caliper.analysis.comprecap.ablations import THRESHOLDS
from caliper.analysis.comprecap.analyses import NAMES, HumanStudy, analyse
from caliper.analysis.comprecap.people import measures_of
from caliper.analysis.comprecap.scenes import SceneSet
from caliper.cli.analyses import Page, chosen_analyses, only_option, write_analyses
from caliper.cli.comparison import Partial
from caliper.cli.console import ERR
from caliper.cli.correlation import Scores
from caliper.cli.flags import Json
from caliper.cli.metrics.java import JavaMetrics, MeteorJar, SpiceJar, java_metrics
from caliper.cli.metrics.measurement import referenced_captions
from caliper.cli.metrics.ratings import read_human_scores
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
for the ablations. Exit code 3: the runs allow none of the chosen analyses.
"""
Only = Annotated[list[str] | None, only_option(NAMES)]
People = Annotated[
    Path | None,
    typer.Option(
        "--people",
        metavar="PATH",
        help="CSV with people's scores per model (column model), per caption (image_id), or both.",
    ),
]
References = Annotated[
    Path | None,
    typer.Option(
        "--references",
        metavar="PATH",
        help="Reference captions as `metrics` takes them: its metrics are correlated, too.",
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


@dataclass(frozen=True, slots=True)
class SceneOptions:
    """The arguments and options of `analyze comprecap`."""

    runs: Runs
    only: Only = None
    people: People = None
    column: Scores = "score"
    references: References = None
    meteor: MeteorJar = None
    spice: SpiceJar = None
    threshold: Thresholds = None
    tagger: OtherTaggers = None
    embedder: RunEmbedder = None
    html: Page = None
    partial: Partial = False
    json: Json = False


def _comprecap(options: SceneOptions) -> int:
    names = chosen_analyses(options.only, NAMES)
    if options.references is not None and options.people is None:
        raise InvalidInput("it is only used with --people", field="--references")
    for flag, jar in (("--meteor", options.meteor), ("--spice", options.spice)):
        if jar is not None and options.references is None:
            raise InvalidInput("it is only used with --references", field=flag)
    programs = java_metrics(options.meteor, options.spice)
    stored = [find_run(name).stored_run for name in options.runs]
    scenes = asyncio.run(_read(stored, options, again="ablations" in names))
    study = _study(scenes, options, programs)
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


def _study(scenes: SceneSet, options: SceneOptions, programs: JavaMetrics) -> HumanStudy:
    """People's scores, and the metrics of all runs."""
    if options.people is None:
        return HumanStudy()
    others = None
    if options.references is not None:
        captions = {
            run.name: {
                scene.item.sample: scene.caption
                for scene in run.scenes
                if scene.caption is not None
            }
            for run in scenes.runs
        }
        sets = referenced_captions(captions, options.references)
        for warning in sets.warnings:
            ERR.print(f"[yellow]Warning:[/yellow] {escape(warning)}", soft_wrap=True)
        others = sets.measure(programs)
    measures = measures_of(scenes.runs, others)
    return HumanStudy(read_human_scores(options.people, options.column, measures), measures)


comprecap = command_taking(_comprecap, SceneOptions, help_text=HELP)
