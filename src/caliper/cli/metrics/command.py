"""`caliper metrics`: captions compared with references, and metrics with people's scores."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from caliper.adapters.files import write_text
from caliper.adapters.metric_tables import correlation_section, metric_section
from caliper.adapters.pages.analyses import render_analyses
from caliper.analysis.caption_metrics.measures import CLIP_METRICS, METEOR, SPICE, TEXT_METRICS
from caliper.analysis.correlation import CorrelationEstimate
from caliper.analysis.human_scores import Measures
from caliper.cli.console import ERR, write_json
from caliper.cli.correlation import Scores
from caliper.cli.exits import Exit
from caliper.cli.flags import Json, Page
from caliper.cli.metrics.clip_options import (
    PictureEmbedderSpec,
    Pictures,
    TextEmbedder,
    clip_specs,
)
from caliper.cli.metrics.java import JavaMetrics, MeteorJar, SpiceJar, java_metrics
from caliper.cli.metrics.measurement import read_caption_sets
from caliper.cli.metrics.ratings import HumanScoresFile, read_human_scores
from caliper.cli.options import command_taking
from caliper.cli.tables import print_sections
from caliper.core.errors import InvalidInput, UnknownName
from caliper.core.report import Estimate

HELP = """Compare captions with reference captions: BLEU, ROUGE-L, CIDEr, METEOR, SPICE, CLIPScore.

The figures are those of COCO's evaluation code; what it prints as CIDEr is CIDEr-D. METEOR and
SPICE need Java and their jars (--meteor, --spice), the others do not.
Each file or folder of CAPTIONS is a model; several are compared on the images that all have.
CLIPScore and RefCLIPScore need a CLIP model: both embedders and --media. With --people, Kendall's
tau-b and tau-c, Spearman's rho and Pearson's r of each metric with people's scores. Exit code 3:
fewer than three scores, or all are equal.
"""
METRICS = (*TEXT_METRICS, METEOR, SPICE, *CLIP_METRICS)
Models = Annotated[
    list[Path],
    typer.Argument(
        metavar="CAPTIONS...",
        help="Captions as `evaluate` takes them, COCO's results, JSON Lines or CSV; one per model.",
    ),
]
References = Annotated[
    Path,
    typer.Option(
        "--references",
        metavar="PATH",
        help="One or several references per image: JSON, JSON Lines, CSV or COCO's annotations.",
    ),
]
Names = Annotated[
    list[str] | None,
    typer.Option(
        "--name",
        metavar="NAME",
        help="The label of a model. Default: the file's stem; repeatable, in order.",
    ),
]
MetricNames = Annotated[
    list[str] | None,
    typer.Option(
        "--metric",
        metavar="NAME",
        help=f"Only this one: {', '.join(METRICS)}; repeatable.",
    ),
]


@dataclass(frozen=True, slots=True)
class MetricsOptions:
    """The arguments and options of `metrics`."""

    captions: Models
    references: References
    name: Names = None
    metric: MetricNames = None
    people: HumanScoresFile = None
    column: Scores = "score"
    meteor: MeteorJar = None
    spice: SpiceJar = None
    text_embedder: TextEmbedder = None
    picture_embedder: PictureEmbedderSpec = None
    media: Pictures = None
    html: Page = None
    json: Json = False


def _metrics(options: MetricsOptions) -> int:
    clip = clip_specs(options.text_embedder, options.picture_embedder, options.media)
    programs = java_metrics(options.meteor, options.spice)
    names = _names(options.metric or (), programs, clip=clip is not None)
    sets = read_caption_sets(options.captions, options.references, options.name or ())
    for warning in sets.warnings:
        ERR.print(f"[yellow]Warning:[/yellow] {escape(warning)}", soft_wrap=True)
    measures: Measures = sets.measure(programs)
    embedders: list[str] = []
    if clip is not None:
        added, embedders = asyncio.run(clip.measure(sets))
        measures = {model: [*some, *added[model]] for model, some in measures.items()}
    measures = {
        model: [one for one in some if one.name in names] for model, some in measures.items()
    }
    estimates: Mapping[str, CorrelationEstimate] = {}
    noun = ""
    if options.people is not None:
        human = read_human_scores(options.people, options.column, measures)
        noun, estimates = human.noun, human.correlate(measures)
    sections = [metric_section(measures, len(sets.references), embedders)]
    if estimates:
        sections.append(correlation_section(estimates, noun))
    if options.html is not None:
        write_text(options.html, render_analyses("Caption metrics", sections))
    if options.json:
        values = _as_json(measures, len(sets.references), embedders)
        if estimates:
            values["people"] = {"scored": noun, "metrics": _counted(estimates, noun)}
        write_json(values)
    else:
        print_sections(sections)
    conclusive = not estimates or any(one.pearson.value is not None for one in estimates.values())
    return Exit.DONE if conclusive else Exit.INCONCLUSIVE


def _names(metrics: Sequence[str], programs: JavaMetrics, *, clip: bool) -> tuple[str, ...]:
    """The metrics to show. Raises InvalidInput for those that cannot be measured."""
    missing = programs.missing | ({} if clip else dict.fromkeys(CLIP_METRICS, "--text-embedder"))
    by_name = {name.casefold(): name for name in METRICS}
    for name in metrics:
        if name.casefold() not in by_name:
            raise UnknownName("metric", name, METRICS)
        if flag := missing.get(by_name[name.casefold()]):
            raise InvalidInput(f"{by_name[name.casefold()]} needs {flag}", field="--metric")
    every = tuple(name for name in METRICS if name not in missing)
    return tuple(by_name[name.casefold()] for name in metrics) or every


def _as_json(measures: Measures, images: int, embedders: Sequence[str]) -> dict[str, object]:
    models = {
        model: {one.name: _values(one.whole) for one in some} for model, some in measures.items()
    }
    named = {"embedders": embedders} if embedders else {}
    return {"images": images, **named, "models": models}


def _values(estimate: Estimate) -> dict[str, float | None]:
    numbers = {"value": estimate.value, "low": estimate.low, "high": estimate.high}
    return {name: None if one is None else round(one, 6) for name, one in numbers.items()}


def _counted(estimates: Mapping[str, CorrelationEstimate], noun: str) -> dict[str, object]:
    """The estimates, with their number of models under the name of what was scored."""
    return {
        name: {noun if key == "models" else key: value for key, value in asdict(one).items()}
        for name, one in estimates.items()
    }


command = command_taking(_metrics, MetricsOptions, help_text=HELP)
