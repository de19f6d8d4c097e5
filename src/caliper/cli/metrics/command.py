"""`caliper metrics`: captions compared with references, and metrics with people's scores."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from caliper.adapters.media.decoders import Decoders
from caliper.adapters.media.preparation import MediaFolder
from caliper.analysis.agreement import Coefficient
from caliper.analysis.caption_metrics.measures import CLIP_METRICS, METEOR, SPICE, TEXT_METRICS
from caliper.analysis.correlation import CorrelationEstimate
from caliper.analysis.human_scores import Measures
from caliper.cli.agreement import coefficient
from caliper.cli.console import ERR, OUT, write_json
from caliper.cli.correlation import Scores
from caliper.cli.exits import Exit
from caliper.cli.flags import Json
from caliper.cli.metrics.clip import ClipModel
from caliper.cli.metrics.java import JavaMetrics, MeteorJar, SpiceJar, java_metrics
from caliper.cli.metrics.measurement import CaptionSets, read_caption_sets
from caliper.cli.metrics.ratings import read_human_scores
from caliper.cli.options import command_taking
from caliper.cli.tables import text_table
from caliper.core.errors import InvalidInput, UnknownName
from caliper.core.preparation import Preparation
from caliper.core.report import Estimate
from caliper.wiring.clock import SystemClock
from caliper.wiring.models import ModelRoom
from caliper.wiring.settings import access, decoders

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
HumanScoresFile = Annotated[
    Path | None,
    typer.Option(
        "--people",
        metavar="PATH",
        help="CSV with a score per model (column model), per caption (image_id), or both.",
    ),
]
TextEmbedder = Annotated[
    str | None,
    typer.Option(
        "--text-embedder", metavar="SPEC", help="CLIP's text model: triton:HOST:PORT/MODEL."
    ),
]
PictureEmbedderSpec = Annotated[
    str | None,
    typer.Option(
        "--picture-embedder",
        metavar="SPEC",
        help="CLIP's picture model, which takes encoded pictures: triton:HOST:PORT/MODEL.",
    ),
]
Pictures = Annotated[
    Path | None, typer.Option("--media", metavar="DIR", help="The folder of the pictures.")
]
_COEFFICIENTS = {
    "Pearson's r": "pearson",
    "Kendall's tau-b": "kendall",
    "tau-c": "kendall_c",
    "Spearman's rho": "spearman",
}


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
    json: Json = False


def _metrics(options: MetricsOptions) -> int:
    clip = _embedders(options)
    programs = java_metrics(options.meteor, options.spice)
    names = _names(options.metric or (), programs, clip=clip is not None)
    sets = read_caption_sets(options.captions, options.references, options.name or ())
    for warning in sets.warnings:
        ERR.print(f"[yellow]Warning:[/yellow] {escape(warning)}", soft_wrap=True)
    measures: Measures = sets.measure(programs)
    embedders: list[str] = []
    if clip is not None:
        measures, embedders = asyncio.run(_with_clip(measures, sets, *clip))
    measures = {
        model: [one for one in some if one.name in names] for model, some in measures.items()
    }
    estimates: Mapping[str, CorrelationEstimate] = {}
    noun = ""
    if options.people is not None:
        human = read_human_scores(options.people, options.column, measures)
        noun, estimates = human.noun, human.correlate(measures)
    if options.json:
        values = _as_json(measures, len(sets.references), embedders)
        if estimates:
            values["people"] = {"scored": noun, "metrics": _counted(estimates, noun)}
        write_json(values)
    else:
        _show(measures, len(sets.references), embedders)
        _show_correlation(estimates, noun)
    conclusive = not estimates or any(one.pearson.value is not None for one in estimates.values())
    return Exit.DONE if conclusive else Exit.INCONCLUSIVE


def _embedders(options: MetricsOptions) -> tuple[str, str, Path] | None:
    """The text embedder, the picture embedder and the pictures; None without."""
    flags = {
        "--text-embedder": options.text_embedder,
        "--picture-embedder": options.picture_embedder,
        "--media": options.media,
    }
    if not any(flags.values()):
        return None
    text, picture, media = options.text_embedder, options.picture_embedder, options.media
    if text is None or picture is None or media is None:
        missing = next(flag for flag, value in flags.items() if value is None)
        raise InvalidInput("CLIPScore needs it, too", field=missing)
    return text, picture, media


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


async def _with_clip(
    measures: Measures, sets: CaptionSets, text: str, picture: str, media: Path
) -> tuple[Measures, list[str]]:
    """The measures with CLIP's, and the names of the embedders."""
    room, threads = ModelRoom(access(16, (text, picture)), SystemClock()), Decoders(decoders())
    try:
        folder = MediaFolder(media, threads, Preparation())
        clip = ClipModel(await room.embedder(text), await room.picture_embedder(picture), folder)
        added = await clip.measure(sets.models, sets.references, sets.files)
        names = [clip.texts.identity.label, clip.pictures.identity.label]
    finally:
        await room.close()
        await threads.close()
    return {model: [*some, *added[model]] for model, some in measures.items()}, names


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


def _show(measures: Measures, images: int, embedders: Sequence[str]) -> None:
    grid = text_table([f"{images:,} images"], map(escape, measures))
    for rows in zip(*measures.values(), strict=True):
        grid.add_row(rows[0].name, *(coefficient(one.whole, "{:.4f}".format) for one in rows))
    OUT.print(grid)
    if embedders:
        OUT.print(f"CLIP: {escape(', '.join(embedders))}", soft_wrap=True)


def _show_correlation(estimates: Mapping[str, CorrelationEstimate], noun: str) -> None:
    if not estimates:
        return
    grid = text_table([""], (noun, *_COEFFICIENTS), no_wrap=True)
    for name, one in estimates.items():
        cells: list[Coefficient] = [getattr(one, field) for field in _COEFFICIENTS.values()]
        grid.add_row(name, f"{one.models:,}", *map(coefficient, cells))
    OUT.print()
    OUT.print(grid)
    for remark in dict.fromkeys(one.remark for one in estimates.values() if one.remark):
        OUT.print(f"[yellow]{escape(remark)}[/yellow]", soft_wrap=True)


command = command_taking(_metrics, MetricsOptions, help_text=HELP)
